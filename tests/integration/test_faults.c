/* Whole runs, one fault each: where it strikes, whom, and how it ends. */
/* fencepost-test: timeout=600 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/lib/run_fixture.h"

/* One create with this fault must end well, with so many strikes. */
static void run_fault(const char *fault, int64_t strike_count)
{
    struct scenario *scenario = load_fault(fault);
    run_seed(scenario, 1);
    if (result.outcome != RUN_PASS)
        fail_msg("%s: %s", fault, strbuf_str(&result.sentence));
    assert_int_equal(result.counts.fired[0], strike_count);
    scenario_free(scenario);
}

static int64_t number_in(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    assert_non_null(at);
    return strtoll(at + strlen(key), NULL, 10);
}

/* ---- where and when ---- */

static void test_fault_operation_strikes_at_that_statement(void **state)
{
    (void)state;
    run_fault("crash: {target: worker-1, points: db.sent, operation: insert_lock, nth: 1}", 1);
    assert_non_null(find("fault.crash", "\"point\":\"db.sent\",\"operation\":\"insert_lock\""));
    assert_non_null(find("ghost.born", "insert_lock"));
}

static void test_fault_operation_finds_the_commit_of_its_transaction(void **state)
{
    (void)state;
    run_fault("crash: {target: worker-1, points: db.committed, operation: insert_lock, nth: 1}", 1);
    assert_non_null(find("fault.crash", "\"point\":\"db.committed\",\"operation\":\"commit\""));
    /* The lock is taken, the message is not deleted: it comes again. */
    assert_non_null(find("queue.received", "\"receives\":2"));
}

static void test_fault_operation_that_never_comes_is_never_visited(void **state)
{
    (void)state;
    run_fault("crash: {target: worker-1, operation: fail_double_jobs, probability: 1}", 0);
    assert_int_equal(result.counts.visited[0], 0);
}

static void test_fault_inside_a_transaction_strikes_there(void **state)
{
    (void)state;
    run_fault("connection_drop: {target: worker-1, how: idle, transaction: inside, nth: 1}", 1);
    assert_non_null(find("fault.connection_drop", "\"operation\":\"begin_serializable\""));
}

static void test_fault_step_strikes_at_the_first_visit_from_there(void **state)
{
    (void)state;
    run_fault("crash: {target: worker-1, step: 70}", 1);
    int64_t step = number_in(find("fault.crash", "worker-1"), "\"step\":");
    assert_true(step >= 70);
    run_fault("crash: {target: worker-1, step: 71}", 1);
    assert_true(number_in(find("fault.crash", "worker-1"), "\"step\":") >= 71);
}

static void test_fault_points_next_to_others_can_be_asked_for(void **state)
{
    (void)state;
    run_fault("crash: {target: worker-1, points: db.opened, nth: 1}", 1);
    run_fault("crash: {target: worker-1, points: queue.deleted, nth: 1}", 1);
    run_fault("crash: {target: any-client, points: queue.sent, nth: 1}", 1);
}

/* ---- by the clock ---- */

static void test_fault_crash_at_a_time_strikes_then(void **state)
{
    (void)state;
    run_fault("crash: {target: worker-1, at: 10m, restart_after: 5m}", 1);
    assert_true(time_of("fault.crash", "\"point\":\"clock\"") == 10 * NS_PER_MIN);
    assert_true(time_of("actor.started", "worker-1.2") == 15 * NS_PER_MIN);
}

static void test_fault_pause_at_a_time_ends_on_time(void **state)
{
    (void)state;
    run_fault("pause: {target: worker-1, at: 10m, for: 20m}", 1);
    assert_true(time_of("fault.pause", "worker-1") == 10 * NS_PER_MIN);
    assert_true(time_of("fault.healed", "\"fault\":\"pause\",\"target\":\"worker-1\"") ==
                30 * NS_PER_MIN);
}

static void test_fault_drop_at_a_time_takes_an_open_connection(void **state)
{
    (void)state;
    run_fault("connection_drop: {target: worker-1, at: 10m}", 1);
    assert_true(time_of("\"ev\":\"db.cut\"", "worker-1") == 10 * NS_PER_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault_operation_strikes_at_that_statement),
        cmocka_unit_test(test_fault_operation_finds_the_commit_of_its_transaction),
        cmocka_unit_test(test_fault_operation_that_never_comes_is_never_visited),
        cmocka_unit_test(test_fault_inside_a_transaction_strikes_there),
        cmocka_unit_test(test_fault_step_strikes_at_the_first_visit_from_there),
        cmocka_unit_test(test_fault_points_next_to_others_can_be_asked_for),
        cmocka_unit_test(test_fault_crash_at_a_time_strikes_then),
        cmocka_unit_test(test_fault_pause_at_a_time_ends_on_time),
        cmocka_unit_test(test_fault_drop_at_a_time_takes_an_open_connection),
    };
    return cmocka_run_group_tests_name("faults", tests, open_runs, close_runs);
}
