/* Whole runs in which a server lags, dies or is replaced. */
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

static int64_t step_of(const char *line)
{
    assert_non_null(line);
    return strtoll(strstr(line, "\"step\":") + strlen("\"step\":"), NULL, 10);
}

/* ---- a server that crashes ---- */

static void test_server_crash_after_commit_keeps_it_and_client_does_not_know(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("server_crash: {target: worker-1, points: db.sent, operation: commit, nth: 1}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 1);
    int64_t step = step_of(find("fault.server_crash", "\"point\":\"db.sent\""));
    char same_step[48];
    snprintf(same_step, sizeof same_step, "\"step\":%d,", (int)step);
    assert_non_null(find(same_step, "\"result\":\"COMMIT\""));
    assert_non_null(find(same_step, "\"table\":\"job_locks\",\"op\":\"insert\""));
    assert_non_null(find(same_step, "\"ev\":\"db.lost\""));
    /* The lock is found again, and its job is done. */
    assert_null(find("\"who\":\"failover\"", ""));
    assert_int_equal(count("\"table\":\"job_locks\",\"op\":\"insert\""), 1);
    scenario_free(scenario);
}

static void test_server_crash_nobody_connects_until_it_is_over(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault("server_crash: {at: 5m, heal_after: 10m}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_true(time_of("fault.server_crash", "clock") == 5 * NS_PER_MIN);
    assert_true(time_of("fault.healed", "server_crash") == 15 * NS_PER_MIN);
    int64_t refused_ns = time_of("\"ev\":\"db.unreachable\"", "worker");
    assert_true(refused_ns >= 5 * NS_PER_MIN && refused_ns < 15 * NS_PER_MIN);
    scenario_free(scenario);
}

/* ---- a standby that lags ---- */

static void test_lag_standby_shows_the_past_until_its_time_has_come(void **state)
{
    (void)state;
    struct scenario *scenario = load("status-read-from-standby", NULL);
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_VIOLATION);
    assert_non_null(find("\"sql\":\"select_status\"", "\"rows\":\"READY\""));
    assert_null(find("\"sql\":\"select_status\"", "\"rows\":\"DESTROY"));
    scenario_free(scenario);
    scenario = load("status-read-from-standby", "faults.0.replication_lag.by=1s");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_non_null(find("\"sql\":\"select_status\"", "\"rows\":\"DESTROY"));
    scenario_free(scenario);
}

/* ---- a failover ---- */

/* The lock of whoever comes first is committed while the standby lags; then the primary dies. */
static void run_failover(const char *replication)
{
    char override[128];
    snprintf(override, sizeof override, "topology.postgres={standbys: 1, replication: %s}",
             replication);
    struct scenario *scenario = load("token-by-counter-alone", override);
    run_seed(scenario, 1);
    assert_int_equal(count("\"ev\":\"fault.failover\""), 1);
    scenario_free(scenario);
}

static void test_failover_asynchronous_takes_commits_back(void **state)
{
    (void)state;
    run_failover("asynchronous");
    int64_t step = step_of(find("fault.failover", "cloud.call"));
    const char *taken = find("\"who\":\"failover\"", "\"table\":\"job_locks\",\"op\":\"delete\"");
    assert_int_equal(step_of(taken), step);
    assert_non_null(find("\"who\":\"failover\"", "\"table\":\"clusters\",\"op\":\"update\""));
}

static void test_failover_synchronous_takes_nothing_back(void **state)
{
    (void)state;
    run_failover("synchronous");
    assert_null(find("\"who\":\"failover\"", ""));
}

static void test_failover_of_used_lane_same_hash(void **state)
{
    (void)state;
    uint64_t hashes[2];
    struct scenario *scenario = load("failover-asynchronous", NULL);
    for (uint64_t seed = 0; seed < 2; seed++) {
        run_seed(scenario, seed);
        assert_int_equal(result.outcome, RUN_PASS);
        hashes[seed] = result.hash;
    }
    run_seed(scenario, 0);
    assert_true(result.hash == hashes[0]);
    assert_true(hashes[0] != hashes[1]);
    scenario_free(scenario);
    close_runs(state);
    assert_int_equal(open_runs(state), 0);
    scenario = load("failover-asynchronous", NULL);
    run_seed(scenario, 1);
    assert_true(result.hash == hashes[1]);
    scenario_free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_crash_after_commit_keeps_it_and_client_does_not_know),
        cmocka_unit_test(test_server_crash_nobody_connects_until_it_is_over),
        cmocka_unit_test(test_lag_standby_shows_the_past_until_its_time_has_come),
        cmocka_unit_test(test_failover_asynchronous_takes_commits_back),
        cmocka_unit_test(test_failover_synchronous_takes_nothing_back),
        cmocka_unit_test(test_failover_of_used_lane_same_hash),
    };
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
