/* Whole runs on a real server: the same again, whatever came before; and each fault does what it
 * says. */
/* fencepost-test: timeout=900 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/run_fixture.h"

/* ---- the same again ---- */

static void test_run_same_seed_alone_or_after_others_same_hash(void **state)
{
    (void)state;
    uint64_t hashes[30];
    struct scenario *scenario = load("create-then-destroy", NULL);
    for (uint64_t seed = 0; seed < 30; seed++) {
        run_seed(scenario, seed);
        hashes[seed] = result.hash;
    }
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t seed = i * 7 % 30;
        run_seed(scenario, seed);
        assert_true(result.hash == hashes[seed]);
    }
    assert_true(hashes[0] != hashes[1]);
    scenario_free(scenario);
}

static void test_run_on_fresh_server_same_hash(void **state)
{
    uint64_t hashes[10];
    struct scenario *scenario = load("worker-killed-anywhere", NULL);
    for (uint64_t seed = 0; seed < 10; seed++) {
        run_seed(scenario, seed);
        hashes[seed] = result.hash;
    }
    scenario_free(scenario);
    close_runs(state);
    assert_int_equal(open_runs(state), 0);
    scenario = load("worker-killed-anywhere", NULL);
    for (uint64_t seed = 10; seed-- > 0;) {
        run_seed(scenario, seed);
        assert_true(result.hash == hashes[seed]);
    }
    scenario_free(scenario);
}

/* ---- replay ---- */

struct recording {
    struct replay_stream streams[CHOICE_STREAM_COUNT_MAX];
    struct run_replay replay;
    char *lines;
};

static void record(struct recording *recording)
{
    const struct choices *choices = run_lane_choices(runs);
    memset(recording, 0, sizeof *recording);
    size_t stream_count = choices_stream_count(choices);
    for (size_t i = 0; i < stream_count; i++) {
        struct replay_stream *stream = &recording->streams[i];
        const uint32_t *values = choices_values(choices, i, &stream->value_count);
        uint32_t *copy = malloc(stream->value_count * sizeof copy[0] + 1);
        if (stream->value_count > 0)
            memcpy(copy, values, stream->value_count * sizeof copy[0]);
        stream->name = choices_stream_name(choices, i);
        stream->values = copy;
    }
    recording->lines = strdup(lines());
    recording->replay = (struct run_replay){
        .streams = recording->streams, .stream_count = stream_count, .lines = recording->lines};
}

static void recording_release(struct recording *recording)
{
    for (size_t i = 0; i < recording->replay.stream_count; i++)
        free((void *)(uintptr_t)recording->streams[i].values);
    free(recording->lines);
}

static void test_run_replayed_from_choices_under_other_seed_same_hash(void **state)
{
    (void)state;
    struct recording recording;
    struct scenario *scenario = load("worker-killed-anywhere", NULL);
    run_seed(scenario, 3);
    uint64_t hash = result.hash;
    record(&recording);
    run_one(runs, scenario, 99, &recording.replay, &result);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_true(result.hash == hash);
    recording_release(&recording);
    scenario_free(scenario);
}

static void test_run_replay_with_changed_line_stops_there(void **state)
{
    (void)state;
    struct recording recording;
    struct scenario *scenario = load("three-destroys-at-once", NULL);
    run_seed(scenario, 3);
    record(&recording);
    char *changed = strstr(recording.lines, "\"INSERT 0 1\"");
    assert_non_null(changed);
    changed[strlen("\"INSERT 0 ")] = '2';
    run_one(runs, scenario, 3, &recording.replay, &result);
    assert_int_equal(result.outcome, RUN_DIVERGED);
    assert_non_null(strstr(strbuf_str(&result.sentence), "INSERT 0 2"));
    assert_non_null(strstr(strbuf_str(&result.sentence), "INSERT 0 1"));
    recording_release(&recording);
    scenario_free(scenario);
}

/* ---- what the scenarios promise ---- */

static void test_run_three_destroys_exactly_one_wins(void **state)
{
    (void)state;
    struct scenario *scenario = load("three-destroys-at-once", NULL);
    for (uint64_t seed = 0; seed < 100; seed++) {
        run_seed(scenario, seed);
        assert_int_equal(result.outcome, RUN_PASS);
        assert_int_equal(count("\"ev\":\"lock.acquired\""), 1);
        assert_int_equal(count("\"status\":\"SUCCEEDED\",\"error_code\":null"), 1);
        assert_int_equal(count("\"status\":\"FAILED\",\"error_code\":\"STATE_NOT_ALLOWED\""), 2);
    }
    scenario_free(scenario);
}

/* Which of the statements that worker-1 sends is its first COMMIT, counted from 1? */
static int first_commit(void)
{
    int statement_count = 0;
    struct scenario *scenario = load_fault("crash: {target: janitor-1, nth: 1000000}");
    run_seed(scenario, 1);
    for (const char *at = lines(); *at; at = strchr(at, '\n') + 1) {
        char line[2048];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (!strstr(line, "\"ev\":\"db.exec\"") || !strstr(line, "\"who\":\"worker-1/"))
            continue;
        statement_count++;
        if (strstr(line, "\"result\":\"COMMIT\""))
            break;
    }
    scenario_free(scenario);
    return statement_count;
}

/* One create, and this fault when worker-1 has just sent its first COMMIT. */
static struct scenario *load_fault_at_commit(const char *fault, const char *more)
{
    char text[256];
    snprintf(text, sizeof text, "%s: {target: worker-1, points: db.sent, nth: %d%s}", fault,
             first_commit(), more);
    return load_fault(text);
}

static int count_outcomes(const struct scenario *scenario, enum run_outcome outcome, int seed_count)
{
    int found_count = 0;
    for (int seed = 0; seed < seed_count; seed++) {
        run_seed(scenario, (uint64_t)seed);
        found_count += result.outcome == outcome;
    }
    return found_count;
}

static void test_run_zombie_found_as_written_and_never_hardened(void **state)
{
    (void)state;
    struct scenario *scenario = load("zombie-worker-as-written", NULL);
    assert_true(count_outcomes(scenario, RUN_VIOLATION, 20) > 0);
    scenario_free(scenario);
    scenario = load("zombie-worker-as-written", "variant=hardened");
    assert_int_equal(count_outcomes(scenario, RUN_PASS, 20), 20);
    scenario_free(scenario);
}

/* Three destroys and nobody to do them. */
static struct scenario *load_idle(const char *override)
{
    struct diags diags;
    const char *path = "scenarios/job_locks/three-destroys-at-once.yaml";
    const char *overrides[] = {"topology.workers=0", override};
    diags_init(&diags, path);
    return install(scenario_load_with(path, overrides, FP_COUNT(overrides), &diags), &diags);
}

static void test_run_that_cannot_rest_says_what_is_pending(void **state)
{
    (void)state;
    struct scenario *scenario = load_idle("invariants=[single_owner]");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_UNKNOWN);
    assert_non_null(strstr(strbuf_str(&result.sentence), "jobs"));
    assert_non_null(strstr(strbuf_str(&result.sentence), "PENDING"));
    assert_int_equal(count("\"ev\":\"unsettled\""), 1);
    scenario_free(scenario);
}

static void test_run_that_cannot_rest_breaks_liveness(void **state)
{
    (void)state;
    struct scenario *scenario = load_idle("invariants=[single_owner,no_lost_job]");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_VIOLATION);
    assert_string_equal(result.invariant->name, "no_lost_job");
    assert_int_equal(result.step, result.counts.steps);
    assert_non_null(strstr(strbuf_str(&result.sentence), "is lost: it is still PENDING"));
    assert_non_null(strstr(strbuf_str(&result.sentence), "did not come to rest"));
    scenario_free(scenario);
}

static void test_run_out_of_steps_gives_no_verdict(void **state)
{
    (void)state;
    struct scenario *scenario = load("three-destroys-at-once", "limits.steps=100");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_UNKNOWN);
    assert_non_null(strstr(strbuf_str(&result.sentence), "step limit"));
    scenario_free(scenario);
}

static void test_run_leaves_metrics_and_what_it_reached(void **state)
{
    (void)state;
    struct strbuf metrics = STRBUF_INIT;
    struct scenario *scenario = load("three-destroys-at-once", NULL);
    run_seed(scenario, 1);
    run_lane_metrics(runs, &metrics);
    assert_non_null(
        strstr(strbuf_str(&metrics), "# TYPE ocpctl_lock_held_duration_seconds histogram"));
    assert_non_null(strstr(strbuf_str(&metrics),
                           "ocpctl_lock_held_duration_seconds_count{job_type=\"DESTROY\"} 1\n"));
    const struct tally *reached = run_lane_reached(runs);
    assert_int_equal(tally_find(reached, "jobs DESTROY SUCCEEDED"), 1);
    assert_int_equal(tally_find(reached, "jobs DESTROY FAILED STATE_NOT_ALLOWED") +
                         tally_find(reached, "jobs JANITOR_DESTROY FAILED STATE_NOT_ALLOWED"),
                     2);
    assert_int_equal(tally_find(reached, "rest"), 1);
    assert_int_equal(tally_find(reached, "effect.start"), count("\"ev\":\"effect.start\""));
    strbuf_release(&metrics);
    scenario_free(scenario);
}

/* ---- faults ---- */

static void test_run_crash_restarts_actor_after_its_time(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("crash: {target: worker-1, points: cloud.done, nth: 1, restart_after: 7m}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 1);
    int64_t died_ns = strtoll(strstr(find("fault.crash", "worker-1"), "\"t\":") + 4, NULL, 10);
    int64_t back_ns = strtoll(strstr(find("actor.started", "worker-1.2"), "\"t\":") + 4, NULL, 10);
    assert_true(back_ns - died_ns == 7 * NS_PER_MIN);
    scenario_free(scenario);
}

static void test_run_crash_after_send_leaves_ghost_that_commits(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault_at_commit("crash", "");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.ghosts, 1);
    assert_non_null(find("ghost.born", "commit"));
    assert_non_null(find("ghost.done", "\"COMMIT\""));
    assert_non_null(find("\"ev\":\"row\"", "\"op\":\"insert\",\"cluster_id\":\"demo\""));
    scenario_free(scenario);
}

static void test_run_pause_lets_others_go_on_and_ends_on_time(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("pause: {target: worker-1, points: cloud.done, nth: 1, for: 33m}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    int64_t paused_ns = strtoll(strstr(find("fault.pause", "worker-1"), "\"t\":") + 4, NULL, 10);
    int64_t back_ns = strtoll(strstr(find("fault.resumed", "worker-1"), "\"t\":") + 4, NULL, 10);
    assert_true(back_ns - paused_ns == 33 * NS_PER_MIN);
    scenario_free(scenario);
}

static void test_run_pause_after_send_statement_runs_meanwhile(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault_at_commit("pause", ", for: 20m");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    int64_t paused_ns = strtoll(strstr(find("fault.pause", "commit"), "\"t\":") + 4, NULL, 10);
    int64_t done_ns =
        strtoll(strstr(find("\"ev\":\"db.exec\"", "\"COMMIT\""), "\"t\":") + 4, NULL, 10);
    int64_t back_ns = strtoll(strstr(find("fault.resumed", "worker-1"), "\"t\":") + 4, NULL, 10);
    assert_true(done_ns == paused_ns);
    assert_true(back_ns == paused_ns + 20 * NS_PER_MIN);
    scenario_free(scenario);
}

static void test_run_request_lost_statement_never_runs(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("connection_drop: {target: worker-1, how: request_lost, nth: 1}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    const char *lost = find("\"ev\":\"db.lost\"", "worker-1");
    assert_non_null(lost);
    int64_t lost_step = strtoll(strstr(lost, "\"step\":") + 7, NULL, 10);
    char same_step[48];
    snprintf(same_step, sizeof same_step, "\"step\":%d,", (int)lost_step);
    assert_null(find(same_step, "\"ev\":\"db.exec\""));
    scenario_free(scenario);
}

static void test_run_reply_lost_statement_runs_and_client_does_not_know(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault_at_commit("connection_drop", ", how: reply_lost");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    const char *lost = find("\"ev\":\"db.lost\"", "commit");
    assert_non_null(lost);
    int64_t lost_step = strtoll(strstr(lost, "\"step\":") + 7, NULL, 10);
    char same_step[48];
    snprintf(same_step, sizeof same_step, "\"step\":%d,", (int)lost_step);
    assert_non_null(find(same_step, "\"result\":\"COMMIT\""));
    scenario_free(scenario);
}

static void test_run_idle_cut_releases_what_the_session_held(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("connection_drop: {target: worker-1, how: idle, points: db.done, nth: 2}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(count("\"ev\":\"db.cut\""), 1);
    scenario_free(scenario);
}

static void test_run_idle_cut_between_statements_takes_an_open_connection(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("connection_drop: {target: worker-1, how: idle, points: cloud.call, nth: 2}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 1);
    assert_non_null(find("fault.connection_drop", "\"point\":\"cloud.call\""));
    assert_non_null(find("\"ev\":\"db.cut\"", "worker-1"));
    scenario_free(scenario);
}

/* A janitor has one connection: cut before it sleeps, there is none to cut when it wakes. */
static void test_run_cut_with_nothing_to_cut_does_not_count(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("connection_drop: {target: janitor-1, how: idle, probability: 1, times: 0, "
                   "points: [sleep, wake], before: 30m}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_true(result.counts.fired[0] > 1);
    assert_int_equal(result.counts.fired[0], count("\"ev\":\"db.cut\""));
    assert_true(result.counts.fired[0] <= count("\"ev\":\"db.open\",\"who\":\"janitor-1/"));
    scenario_free(scenario);
}

/* The first call to the cloud that changes something fails in that way. */
static void run_cloud_error(const char *kind)
{
    char fault[128];
    snprintf(fault, sizeof fault,
             "cloud_error: {target: worker-1, kind: %s, points: cloud.call, nth: 2}", kind);
    struct scenario *scenario = load_fault(fault);
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 1);
    assert_non_null(find("fault.cloud_error", kind));
    scenario_free(scenario);
}

static void test_run_cloud_error_refuses_at_once(void **state)
{
    (void)state;
    run_cloud_error("throttled");
    assert_non_null(find("effect.start", "\"accepted\":\"no\",\"result\":\"ERR_CLOUD_THROTTLED\""));
    run_cloud_error("quota");
    assert_non_null(find("effect.start", "\"accepted\":\"no\",\"result\":\"ERR_CLOUD_QUOTA\""));
    run_cloud_error("credentials");
    assert_non_null(
        find("effect.start", "\"accepted\":\"no\",\"result\":\"ERR_CLOUD_CREDENTIALS\""));
}

static void test_run_cloud_request_lost_has_no_effect(void **state)
{
    (void)state;
    run_cloud_error("request_lost");
    assert_non_null(find("effect.end", "\"effect\":2,\"result\":\"ERR_CLOUD_TIMEOUT\""));
}

static void test_run_cloud_reply_lost_has_its_effect(void **state)
{
    (void)state;
    run_cloud_error("reply_lost");
    assert_non_null(find("effect.end", "\"effect\":2,\"result\":\"ERR_OK\""));
    /* The worker could not know: it asks again, and finds it there. */
    assert_non_null(find("\"part\":\"network\"", "ERR_CLOUD_EXISTS"));
}

static void test_run_store_error_nothing_is_written(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("store_error: {target: worker-1, probability: 1, times: 2}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 2);
    assert_int_equal(count("\"ev\":\"fault.store_error\""), 2);
    assert_non_null(find("\"ev\":\"store.", "ERR_STORE_UNAVAILABLE"));
    scenario_free(scenario);
}

static void test_run_crash_in_the_store_strikes_there(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault("crash: {target: worker-1, points: store.done, nth: 1}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_non_null(find("fault.crash", "\"point\":\"store.done\""));
    scenario_free(scenario);
}

static void test_run_lock_state_loss_at_its_time_is_one_commit(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault("lock_state_loss: {at: 10m}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 1);
    const char *loss = find("fault.lock_state_loss", "\"point\":\"clock\"");
    assert_non_null(loss);
    assert_true(strtoll(strstr(loss, "\"t\":") + 4, NULL, 10) == 10 * NS_PER_MIN);
    assert_non_null(find("\"who\":\"harness\"", "\"table\":\"job_locks\",\"op\":\"delete\""));
    scenario_free(scenario);
}

static void test_run_lock_state_loss_at_a_point_takes_one_row(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_fault("lock_state_loss: {target: worker-1, points: cloud.call, nth: 2, rows: one}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_non_null(find("fault.lock_state_loss", "\"point\":\"cloud.call\""));
    assert_non_null(find("\"who\":\"harness\"", "\"op\":\"delete\""));
    scenario_free(scenario);
}

static void test_run_lock_state_loss_without_locks_does_not_count(void **state)
{
    (void)state;
    struct scenario *scenario = load_fault("lock_state_loss: {at: 0s}");
    run_seed(scenario, 1);
    assert_int_equal(result.outcome, RUN_PASS);
    assert_int_equal(result.counts.fired[0], 0);
    assert_int_equal(count("fault.lock_state_loss"), 0);
    scenario_free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_same_seed_alone_or_after_others_same_hash),
        cmocka_unit_test(test_run_on_fresh_server_same_hash),
        cmocka_unit_test(test_run_replayed_from_choices_under_other_seed_same_hash),
        cmocka_unit_test(test_run_replay_with_changed_line_stops_there),
        cmocka_unit_test(test_run_three_destroys_exactly_one_wins),
        cmocka_unit_test(test_run_zombie_found_as_written_and_never_hardened),
        cmocka_unit_test(test_run_that_cannot_rest_says_what_is_pending),
        cmocka_unit_test(test_run_that_cannot_rest_breaks_liveness),
        cmocka_unit_test(test_run_out_of_steps_gives_no_verdict),
        cmocka_unit_test(test_run_leaves_metrics_and_what_it_reached),
        cmocka_unit_test(test_run_crash_restarts_actor_after_its_time),
        cmocka_unit_test(test_run_crash_after_send_leaves_ghost_that_commits),
        cmocka_unit_test(test_run_pause_lets_others_go_on_and_ends_on_time),
        cmocka_unit_test(test_run_pause_after_send_statement_runs_meanwhile),
        cmocka_unit_test(test_run_request_lost_statement_never_runs),
        cmocka_unit_test(test_run_reply_lost_statement_runs_and_client_does_not_know),
        cmocka_unit_test(test_run_idle_cut_releases_what_the_session_held),
        cmocka_unit_test(test_run_idle_cut_between_statements_takes_an_open_connection),
        cmocka_unit_test(test_run_cut_with_nothing_to_cut_does_not_count),
        cmocka_unit_test(test_run_cloud_error_refuses_at_once),
        cmocka_unit_test(test_run_cloud_request_lost_has_no_effect),
        cmocka_unit_test(test_run_cloud_reply_lost_has_its_effect),
        cmocka_unit_test(test_run_store_error_nothing_is_written),
        cmocka_unit_test(test_run_crash_in_the_store_strikes_there),
        cmocka_unit_test(test_run_lock_state_loss_at_its_time_is_one_commit),
        cmocka_unit_test(test_run_lock_state_loss_at_a_point_takes_one_row),
        cmocka_unit_test(test_run_lock_state_loss_without_locks_does_not_count),
    };
    return cmocka_run_group_tests_name("runs", tests, open_runs, close_runs);
}
