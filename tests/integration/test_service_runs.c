/* What a whole run says of calls to outside services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/lib/run_fixture.h"

/* One item with one fault of its call, and nothing else. */
static void run_with(const char *kind)
{
    char text[1024];
    struct diags diags;

    int size = snprintf(text, sizeof text,
                        "scenario: service\nabout: for a test\nstrategy: patterns\n"
                        "topology: {workers: 1, executors: 1, clients: 1}\n"
                        "workload: {items: [{name: i1}]}\n"
                        "faults: [{service_error: {kind: %s, operation: process, nth: 1}}]\n"
                        "invariants: [all]\nlimits: {chaos: 1h, settle: 1h}\nexpect: pass\n",
                        kind);
    diags_init(&diags, "service.yaml");
    struct scenario *scenario =
        install(scenario_parse("service.yaml", text, (size_t)size, &diags), &diags);
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 1);
    scenario_free(scenario);
}

/* The service never hears of it: nothing is accepted and nothing in progress until the next try. */
static void test_service_request_that_is_lost_was_not_accepted(void **state)
{
    (void)state;
    run_with("request_lost");
    const char *first = find("effect.start", "processor:i1");
    assert_non_null(first);
    assert_non_null(strstr(first, "\"accepted\":\"no\""));
    assert_non_null(strstr(first, "\"result\":\"ERR_SERVICE_TIMEOUT\""));
    assert_int_equal(count("\"accepted\":\"yes\""), 1);
}

static void test_service_reply_that_is_lost_was_accepted_and_done_once(void **state)
{
    (void)state;
    run_with("reply_lost");
    assert_int_equal(count("\"accepted\":\"yes\""), 2);
    assert_int_equal(count("\"repeated\":\"no\""), 1);
    assert_int_equal(count("\"repeated\":\"yes\""), 1);
}

static void test_service_refusal_for_good_ends_the_item_as_failed(void **state)
{
    (void)state;
    run_with("rejected");
    assert_int_equal(count("\"accepted\":\"yes\""), 0);
    assert_non_null(find("service.look", "processor:i1"));
    assert_non_null(find("queue_items", "\"status\":\"FAILED\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_service_request_that_is_lost_was_not_accepted),
        cmocka_unit_test(test_service_reply_that_is_lost_was_accepted_and_done_once),
        cmocka_unit_test(test_service_refusal_for_good_ends_the_item_as_failed),
    };
    return cmocka_run_group_tests_name("service_runs", tests, open_runs, close_runs);
}
