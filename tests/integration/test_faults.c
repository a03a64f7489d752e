/* Whole runs, one fault each: where it strikes, whom, and how it ends. */
/* fencepost-test: timeout=600 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
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

/* ---- clocks ---- */

/* Time as the server sees it: the lease of an hour that it wrote into this line. */
static bool has_lease_until(const char *text)
{
    return find("\"table\":\"job_locks\",\"op\":\"insert\"", text) != NULL;
}

static void test_fault_clock_of_database_is_what_now_gives(void **state)
{
    (void)state;
    run_fault("clock_skew: {target: database, by: 2h, direction: forwards}", 1);
    assert_non_null(find("fault.clock_skew", "\"target\":\"database\",\"by_ns\":7200000000000"));
    assert_true(has_lease_until("2026-01-01 03:"));
    run_fault("clock_skew: {target: database, by: 2h, direction: backwards}", 1);
    assert_true(has_lease_until("2025-12-31 23:"));
    assert_non_null(find("fault.healed", "\"fault\":\"clock_skew\",\"target\":\"database\""));
}

/* It jumps within the transaction that takes the lock: now() stays what it was. */
static void test_fault_clock_jump_leaves_a_transaction_its_now(void **state)
{
    (void)state;
    run_fault("clock_jump: {target: database, by: 5h, direction: forwards, points: db.exec, "
              "operation: insert_lock, nth: 1, heal_after: 20m}",
              1);
    assert_true(has_lease_until("2026-01-01 01:0"));
    assert_non_null(find("\"op\":\"update\",\"cluster_id\":\"demo\"", "2026-01-01 06:"));
    int64_t jumped_ns = time_of("fault.clock_jump", "database");
    assert_true(time_of("fault.healed", "clock_jump") == jumped_ns + 20 * NS_PER_MIN);
}

/* Five minutes between two heartbeats are ten on a clock that runs at half the speed. */
static void test_fault_clock_drift_makes_timers_late(void **state)
{
    (void)state;
    run_fault("clock_drift: {target: worker-1, ppm: 500000, direction: backwards}", 1);
    int64_t acquired_ns = time_of("\"ev\":\"lock.acquired\"", "demo");
    assert_true(time_of("\"ev\":\"lock.renewed\"", "demo") == acquired_ns + 10 * NS_PER_MIN);
}

/* How long after its first line with that text the second one comes. */
static int64_t gap_between(const char *text)
{
    const char *first = strstr(lines(), text);
    assert_non_null(first);
    const char *second = strstr(strchr(first, '\n'), text);
    assert_non_null(second);
    int64_t times_ns[2];
    const char *const at[] = {first, second};
    for (int i = 0; i < 2; i++) {
        const char *line = at[i];
        while (line > lines() && line[-1] != '\n')
            line--;
        times_ns[i] = number_in(line, "\"t\":");
    }
    return times_ns[1] - times_ns[0];
}

/* The janitor sleeps for five minutes by a clock that runs at half the speed, or half as fast
 * again.
 */
static void test_fault_clock_drift_makes_sleeps_longer_or_shorter(void **state)
{
    (void)state;
    run_fault("clock_drift: {target: janitor-1, ppm: 500000, direction: backwards}", 1);
    assert_true(gap_between("\"find_work\"") == 10 * NS_PER_MIN);
    run_fault("clock_drift: {target: janitor-1, ppm: 500000, direction: forwards}", 1);
    assert_true(gap_between("\"find_work\"") == 200 * NS_PER_S);
    run_fault("clock_drift: {target: worker-1, ppm: 500000, direction: backwards}", 1);
    assert_true(gap_between("\"find_work\"") == 5 * NS_PER_MIN);
}

/* ---- the queue ---- */

static void test_fault_queue_duplicate_may_be_received_again(void **state)
{
    (void)state;
    run_fault("queue_error: {kind: duplicate, delay: 0s, nth: 1}", 1);
    assert_non_null(find("\"ev\":\"queue.duplicated\"", "\"done\":\"yes\""));
}

static void test_fault_queue_early_makes_the_receipt_stale(void **state)
{
    (void)state;
    run_fault("queue_error: {kind: early, delay: 0s, nth: 1}", 1);
    assert_non_null(find("\"ev\":\"queue.early\"", "\"done\":\"yes\""));
    assert_non_null(find("queue.deleted", "ERR_QUEUE_STALE_RECEIPT"));
}

static void test_fault_queue_late_message_waits(void **state)
{
    (void)state;
    run_fault("queue_error: {target: any-client, kind: late, delay: 7m, nth: 1}", 1);
    assert_true(time_of("queue.received", "demo") >= 7 * NS_PER_MIN);
}

static void test_fault_queue_empty_receives_nothing(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault("queue_error: {target: worker-1, kind: empty, "
                                           "probability: 1, times: 0, before: 5m}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_true(result.counts.fired[0] > 1);
    assert_true(time_of("queue.received", "demo") >= 5 * NS_PER_MIN);
    scenario_free(scenario);
}

/* ---- the cloud ---- */

static void test_fault_cloud_half_done_is_tried_again_and_completed(void **state)
{
    (void)state;
    run_fault("cloud_error: {target: worker-1, kind: half_done, operation: create, nth: 1}", 1);
    assert_non_null(find("effect.end", "\"result\":\"ERR_CLOUD_TIMEOUT\""));
    assert_int_equal(count("\"op\":\"create\",\"part\":\"network\""), 2);
    assert_null(find("\"part\":\"network\"", "ERR_CLOUD_EXISTS"));
}

/* ---- the network ---- */

static void test_fault_latency_delays_each_statement(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault("latency: {target: worker-1, delay: 1s}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], count("fault.latency"));
    assert_true(result.counts.fired[0] > 20);
    int64_t began_ns = time_of("db.exec", "begin_serializable");
    assert_true(time_of("db.exec", "select_cluster") == began_ns + NS_PER_S);
    scenario_free(scenario);
}

static void test_fault_latency_of_a_reply_lets_the_statement_run(void **state)
{
    (void)state;
    run_fault("latency: {target: worker-1, delay: 1m, points: db.sent, operation: insert_lock, "
              "times: 1}",
              1);
    int64_t slow_ns = time_of("fault.latency", "insert_lock");
    assert_true(time_of("db.exec", "insert_lock") == slow_ns);
    assert_true(time_of("db.exec", "start_job") == slow_ns + NS_PER_MIN);
}

static void test_fault_partition_refused_fails_at_once_and_heals(void **state)
{
    (void)state;
    run_fault("partition: {target: worker-1, how: refused, points: cloud.call, nth: 2, heal_after: "
              "5m}",
              1);
    int64_t parted_ns = time_of("fault.partition", "\"how\":\"refused\"");
    assert_true(time_of("fault.healed", "\"target\":\"worker-1\"") == parted_ns + 5 * NS_PER_MIN);
    assert_non_null(find("\"ev\":\"db.lost\"", "worker-1"));
    assert_non_null(find("\"ev\":\"db.unreachable\"", "worker-1"));
}

/* The statement has arrived, its answer has not; the client gives up in its own time. */
static void test_fault_partition_hanging_lasts_until_the_client_gives_up(void **state)
{
    (void)state;
    run_fault(
        "partition: {target: worker-1, how: hanging, points: db.sent, operation: insert_lock, "
        "nth: 1, heal_after: 5m}",
        1);
    int64_t parted_ns = time_of("fault.partition", "\"how\":\"hanging\"");
    assert_true(time_of("db.exec", "insert_lock") == parted_ns);
    assert_true(time_of("db.lost", "insert_lock") == parted_ns + 30 * NS_PER_S);
}

static void test_fault_partition_that_heals_in_time_costs_only_time(void **state)
{
    (void)state;
    run_fault(
        "partition: {target: worker-1, how: hanging, points: db.sent, operation: insert_lock, "
        "nth: 1, heal_after: 20s}",
        1);
    int64_t parted_ns = time_of("fault.partition", "\"how\":\"hanging\"");
    assert_int_equal(count("\"ev\":\"db.lost\""), 0);
    assert_true(time_of("db.exec", "start_job") == parted_ns + 20 * NS_PER_S);
}

/* When the second worker takes the lock, which the first cannot renew while it is cut off. */
static int64_t taken_over_ns(const char *how)
{
    char override[256];
    snprintf(override, sizeof override,
             "faults=[{partition: {target: any-worker, how: %s, points: cloud.call, operation: "
             "destroy, nth: 1, heal_after: 3h}}]",
             how);
    struct scenario *scenario = load("three-destroys-at-once", override);
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    int64_t taken_ns = time_of("\"ev\":\"lock.acquired\"", "\"token\":\"2\"");
    scenario_free(scenario);
    return taken_ns;
}

/* Hanging, the server does not know that its client has given up: the session keeps the section,
 * and nobody comes in before it heals. */
static void test_fault_partition_hanging_leaves_the_server_holding_what_it_holds(void **state)
{
    (void)state;
    assert_true(taken_over_ns("refused") < 2 * NS_PER_HOUR);
    assert_true(taken_over_ns("hanging") > 3 * NS_PER_HOUR);
}

static void test_fault_pool_exhausted_makes_others_wait(void **state)
{
    (void)state;
    run_fault("pool_exhausted: {limit: 2, wait: 10s, heal_after: 30m}", 1);
    assert_non_null(find("\"ev\":\"db.waits\"", "worker-1"));
    assert_non_null(find("\"ev\":\"db.unreachable\"", "worker-1"));
    assert_true(time_of("fault.healed", "pool_exhausted") == 30 * NS_PER_MIN);
}

/* ---- an administrator ---- */

static void test_fault_terminated_session_is_found_lost(void **state)
{
    (void)state;
    run_fault("backend_terminate: {target: worker-1, points: db.done, operation: insert_lock, nth: "
              "1}",
              1);
    assert_non_null(find("fault.backend_terminate", "\"while\":\"idle\""));
    assert_non_null(find("\"ev\":\"db.lost\"", "worker-1"));
}

static void test_fault_cancelled_statement_ends_with_the_servers_error(void **state)
{
    (void)state;
    run_fault("statement_cancel: {target: worker-1, operation: insert_lock, nth: 1}", 1);
    assert_non_null(find("\"sql\":\"insert_lock\"", "\"sqlstate\":\"57014\""));
}

/* Two jobs on one cluster: the second waits for its row. */
static void run_blocked(const char *fault)
{
    char override[256];
    snprintf(override, sizeof override, "faults=[{%s}]", fault);
    struct scenario *scenario = load("three-destroys-at-once", override);
    bool struck = false;
    for (uint64_t seed = 1; seed <= 20 && !struck; seed++) {
        run_seed(scenario, seed);
        assert_int_equal(result.outcome, RUN_PASS);
        struck = result.counts.fired[0] == 1;
    }
    assert_true(struck);
    uint64_t hash = result.hash;
    run_seed(scenario, result.seed);
    assert_true(result.hash == hash);
    scenario_free(scenario);
}

static void test_fault_administrator_ends_what_waits_for_a_lock(void **state)
{
    (void)state;
    run_blocked("statement_cancel: {points: db.blocked, probability: 1}");
    assert_non_null(find("fault.statement_cancel", "\"while\":\"blocked\""));
    assert_non_null(find("\"ev\":\"db.exec\"", "\"sqlstate\":\"57014\""));
    run_blocked("backend_terminate: {points: db.blocked, probability: 1}");
    assert_non_null(find("fault.backend_terminate", "\"while\":\"blocked\""));
    assert_non_null(find("\"ev\":\"db.lost\"", "worker-"));
}

static void test_fault_after_another_at_the_same_point_finds_nothing_to_end(void **state)
{
    (void)state;
    run_blocked("backend_terminate: {points: db.blocked, probability: 1}}, "
                "{statement_cancel: {points: db.blocked, probability: 1, times: 0}");
    assert_int_equal(result.counts.fired[1], count("fault.statement_cancel"));
    assert_true(result.counts.visited[1] > result.counts.fired[1]);
}

/* ---- every point, and some of the faults ---- */

static void test_fault_sweep_strikes_at_each_visit_of_one_run(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("crash: {target: worker-1, points: db.sent, nth: sweep}");
    run_seed(scenario, 0);
    assert_int_equal(result.counts.fired[0], 0);
    int64_t point_count = result.counts.visited[0];
    assert_true(point_count > 20);
    run_seed(scenario, 1);
    assert_int_equal(result.counts.fired[0], 1);
    assert_int_equal(result.counts.visited[0], 1);
    run_seed(scenario, (uint64_t)point_count);
    assert_int_equal(result.counts.fired[0], 1);
    assert_int_equal(result.counts.visited[0], point_count);
    run_seed(scenario, (uint64_t)point_count + 1);
    assert_int_equal(result.counts.fired[0], 0);
    assert_int_equal(result.counts.visited[0], point_count);
    scenario_free(scenario);
}

static void test_fault_swarm_has_a_part_of_the_faults(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault("crash: {nth: 100000}\n  - pause: {nth: 100000}");
    int on_count = 0;
    scenario->swarm = true;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        run_seed(scenario, seed);
        bool crash_is_on = find("\"ev\":\"swarm\"", "0 crash") != NULL;
        bool pause_is_on = find("\"ev\":\"swarm\"", "1 pause") != NULL;
        assert_true(crash_is_on == (result.counts.visited[0] > 0));
        assert_true(pause_is_on == (result.counts.visited[1] > 0));
        on_count += crash_is_on + pause_is_on;
    }
    assert_in_range(on_count, 1, 15);
    scenario_free(scenario);
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
        cmocka_unit_test(test_fault_clock_of_database_is_what_now_gives),
        cmocka_unit_test(test_fault_clock_jump_leaves_a_transaction_its_now),
        cmocka_unit_test(test_fault_clock_drift_makes_timers_late),
        cmocka_unit_test(test_fault_clock_drift_makes_sleeps_longer_or_shorter),
        cmocka_unit_test(test_fault_queue_duplicate_may_be_received_again),
        cmocka_unit_test(test_fault_queue_early_makes_the_receipt_stale),
        cmocka_unit_test(test_fault_queue_late_message_waits),
        cmocka_unit_test(test_fault_queue_empty_receives_nothing),
        cmocka_unit_test(test_fault_cloud_half_done_is_tried_again_and_completed),
        cmocka_unit_test(test_fault_latency_delays_each_statement),
        cmocka_unit_test(test_fault_latency_of_a_reply_lets_the_statement_run),
        cmocka_unit_test(test_fault_partition_refused_fails_at_once_and_heals),
        cmocka_unit_test(test_fault_partition_hanging_lasts_until_the_client_gives_up),
        cmocka_unit_test(test_fault_partition_that_heals_in_time_costs_only_time),
        cmocka_unit_test(test_fault_partition_hanging_leaves_the_server_holding_what_it_holds),
        cmocka_unit_test(test_fault_pool_exhausted_makes_others_wait),
        cmocka_unit_test(test_fault_terminated_session_is_found_lost),
        cmocka_unit_test(test_fault_cancelled_statement_ends_with_the_servers_error),
        cmocka_unit_test(test_fault_administrator_ends_what_waits_for_a_lock),
        cmocka_unit_test(test_fault_after_another_at_the_same_point_finds_nothing_to_end),
        cmocka_unit_test(test_fault_sweep_strikes_at_each_visit_of_one_run),
        cmocka_unit_test(test_fault_swarm_has_a_part_of_the_faults),
    };
    return cmocka_run_group_tests_name("faults", tests, open_runs, close_runs);
}
