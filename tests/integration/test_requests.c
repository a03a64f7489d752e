/* Requests from one process to another, in whole runs: accepted, answered, lost, given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/lib/run_fixture.h"

#define ANSWERED "\"ev\":\"request.answered\""

/* Apps, requests for one instance, and perhaps a fault. */
static void run_requests(const char *variant, int app_count, const char *requests,
                         const char *fault)
{
    struct diags diags;
    char text[1024];
    snprintf(text, sizeof text,
             "scenario: requests\nabout: requests\nstrategy: instance_lock\nvariant: %s\n"
             "topology: {apps: %d}\n"
             "workload:\n  instances: [{name: a}]\n  requests: [%s]\n"
             "faults: [%s]\nscheduling: {slowness: 0}\n"
             "limits: {chaos: 4h, settle: 4h}\nexpect: pass\n",
             variant, app_count, requests, fault);
    diags_init(&diags, "requests");
    struct scenario *scenario =
        install(scenario_parse("requests", text, strlen(text), &diags), &diags);
    run_seed(scenario, 1);
    uint64_t hash = result.hash;
    run_seed(scenario, 1);
    assert_true(result.hash == hash);
    scenario_free(scenario);
}

static void test_request_second_of_two_is_refused(void **state)
{
    (void)state;
    run_requests("hardened", 2, "{instance: a}, {instance: a, at: 1s}", "");
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(count(ANSWERED), 2);
    assert_non_null(find(ANSWERED, "\"body\":\"r1 1\",\"status\":\"200\""));
    assert_non_null(find(ANSWERED, "\"body\":\"r2 1\",\"status\":\"409\""));
}

static void test_request_is_lost_with_its_process_and_sent_again(void **state)
{
    (void)state;
    run_requests("hardened", 1, "{instance: a}",
                 "crash: {target: app-1, points: service.done, nth: 1, restart_after: 2m}");
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(count("\"ev\":\"request.lost\""), 1);
    assert_null(find(ANSWERED, "r1 1"));
    assert_int_equal(count("\"status\":\"200\""), 1);
    assert_true(time_of(ANSWERED, "\"200\"") > 5 * NS_PER_MIN); /* the dead one's lock */
}

static void test_request_waits_until_somebody_accepts(void **state)
{
    (void)state;
    run_requests("hardened", 1, "{instance: a, at: 1m}",
                 "crash: {target: app-1, at: 30s, restart_after: 5m}");
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(count("\"ev\":\"request.sent\""), 1);
    assert_true(time_of("request.accepted", "r1") == 5 * NS_PER_MIN + 30 * NS_PER_S);
}

static void test_request_given_up_is_answered_to_nobody(void **state)
{
    (void)state;
    run_requests("hardened", 1, "{instance: a, on_failure: give_up}",
                 "pause: {target: app-1, points: service.call, nth: 1, for: 2h..2h}");
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(count("\"ev\":\"request.given_up\""), 1);
    assert_true(time_of(ANSWERED, "\"heard\":\"no\"") >= 2 * NS_PER_HOUR);
}

/* "2 additional database round-trips per process transition"; the hardened form has none. */
static void test_request_takes_two_round_trips_or_as_written_four(void **state)
{
    (void)state;
    run_requests("hardened", 1, "{instance: a}", "");
    assert_non_null(find("request.handled", "\"round_trips\":\"2\""));
    run_requests("as_written", 1, "{instance: a}", "");
    assert_non_null(find("request.handled", "\"round_trips\":\"4\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_second_of_two_is_refused),
        cmocka_unit_test(test_request_is_lost_with_its_process_and_sent_again),
        cmocka_unit_test(test_request_waits_until_somebody_accepts),
        cmocka_unit_test(test_request_given_up_is_answered_to_nobody),
        cmocka_unit_test(test_request_takes_two_round_trips_or_as_written_four),
    };
    return cmocka_run_group_tests_name("requests", tests, open_runs, close_runs);
}
