/* A run without a run: events by hand, one invariant that watches them. Include it in one file of a
 * test, after CHECK_FIXTURE_INVARIANT says which. */
#ifndef FENCEPOST_CHECK_FIXTURE_H
#define FENCEPOST_CHECK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/core/walltext.h"

/* ---- a strategy with clusters, jobs and locks ---- */

static const char *const fixture_id[] = {"id", NULL};
static const char *const fixture_lock_key[] = {"cluster_id", "job_id", NULL};
static const char *const fixture_lock_columns[] = {"token", "expires_at", NULL};
static const char *const fixture_job_columns[] = {"cluster_id", "type", "status",     "error_code",
                                                  "group",      "root", "started_at", NULL};
static const char *const fixture_cluster_columns[] = {"status", "token", NULL};
static const char *const fixture_order_columns[] = {"key", "content", NULL};
static const char *const fixture_total_columns[] = {"jobs", "failed", NULL};
static const char *const fixture_piece_columns[] = {"status", "lock_id", "version", "due_at", NULL};
static const char *const fixture_step_key[] = {"request", NULL};
static const char *const fixture_no_columns[] = {NULL};
static const struct watched_table fixture_watched[] = {
    {.table = "clusters", .key = fixture_id, .columns = fixture_cluster_columns},
    {.table = "jobs", .key = fixture_id, .columns = fixture_job_columns},
    {.table = "locks", .key = fixture_lock_key, .columns = fixture_lock_columns},
    {.table = "pieces", .key = fixture_id, .columns = fixture_piece_columns},
    {.table = "orders", .key = fixture_id, .columns = fixture_order_columns},
    {.table = "totals", .key = fixture_id, .columns = fixture_total_columns},
    {.table = "steps", .key = fixture_step_key, .columns = fixture_no_columns},
};
static const char *const fixture_unlocked[] = {"done", "failed", NULL};

static const char *const fixture_cluster_edges[][2] = {
    {"PENDING", "CREATING"}, {"READY", "DESTROYING"}, {NULL, NULL}};
static const char *const fixture_job_edges[][2] = {{"PENDING", "RUNNING"}, {NULL, NULL}};
static const char *const fixture_terminal[] = {"SUCCEEDED", "FAILED", NULL};
static const struct state_machine fixture_states[] = {
    {.table = "clusters", .column = "status", .allowed = fixture_cluster_edges},
    {.table = "jobs",
     .column = "status",
     .allowed = fixture_job_edges,
     .terminal = fixture_terminal},
};
static const struct resource_status fixture_statuses[] = {
    {.name = "PENDING"},
    {.name = "CREATING", .in_progress = true, .has_parts = true},
    {.name = "READY", .has_parts = true},
    {.name = "DESTROYED"},
    {.name = NULL},
};
static const char *const fixture_from_pending[] = {"PENDING", NULL};
static const char *const fixture_from_ready[] = {"READY", NULL};
static const struct job_type fixture_types[] = {
    {"CREATE", "CREATING", fixture_from_pending},
    {"DESTROY", "DESTROYING", fixture_from_ready},
    {NULL, NULL, NULL},
};

static const char *const fixture_undone[] = {"PENDING", "FAILED", NULL};
static const struct effect_view fixture_effects[] = {
    {.service = "post",
     .op = "send",
     .table = "jobs",
     .status_column = "status",
     .done = "SUCCEEDED",
     .undone = fixture_undone},
};

static const struct work_view fixture_works[] = {
    {.effect = &fixture_effects[0], .failed = "FAILED"},
};
static const struct aggregate_count fixture_counts[] = {
    {"jobs", NULL},
    {"failed", "FAILED"},
    {NULL, NULL},
};

#define FIXTURE_ROUND_NS (5 * NS_PER_MIN)
#define FIXTURE_ANSWER_NS (40 * NS_PER_MIN)
#define FIXTURE_STALE_NS (6 * NS_PER_MIN)

static const struct strategy fixture_strategy = {
    .name = "test",
    .watched = fixture_watched,
    .watched_count = FP_COUNT(fixture_watched),
    .lock = {.table = "locks",
             .resource_column = "cluster_id",
             .job_column = "job_id",
             .token_column = "token",
             .expires_column = "expires_at"},
    .states = fixture_states,
    .state_count = FP_COUNT(fixture_states),
    .resources = {.table = "clusters",
                  .status_column = "status",
                  .token_column = "token",
                  .statuses = fixture_statuses},
    .jobs = {.table = "jobs",
             .resource_column = "cluster_id",
             .type_column = "type",
             .status_column = "status",
             .code_column = "error_code",
             .group_column = "group",
             .root_column = "root",
             .started_column = "started_at",
             .pending = "PENDING",
             .running = "RUNNING",
             .succeeded = "SUCCEEDED",
             .failed = "FAILED",
             .types = fixture_types},
    .alerts = {.monitor_role = "janitor",
               .round_ns = FIXTURE_ROUND_NS,
               .stale_lock = "Stale",
               .stale_lock_code = "TIMEOUT",
               .stale_after_ns = 5 * NS_PER_MIN,
               .long_job = "Long",
               .long_after_ns = 90 * NS_PER_MIN,
               .contention = "Contention",
               .contention_event = "lock.refused",
               .contention_count = 3,
               .contention_window_ns = NS_PER_MIN,
               .dead_letter = "Letter",
               .dead_letter_after_ns = NS_PER_HOUR,
               .dead_letter_hidden_ns = 10 * NS_PER_MIN,
               .lockless = "Lockless",
               .lockless_code = "LOCK_LOST",
               .double_lock = "Double",
               .double_lock_code = "HELD_TWICE"},
    .row_lock = {.table = "pieces",
                 .lock_column = "lock_id",
                 .version_column = "version",
                 .status_column = "status",
                 .unlocked = fixture_unlocked,
                 .due_column = "due_at"},
    .unresolved = {.table = "pieces",
                   .status_column = "status",
                   .status = "unclear",
                   .version_column = "version",
                   .alert = "Unclear"},
    .requests = {.role = "app",
                 .ok_status = 200,
                 .conflict_status = 409,
                 .answer_within_ns = FIXTURE_ANSWER_NS,
                 .stale_ns = FIXTURE_STALE_NS,
                 .step_table = "steps",
                 .request_column = "request"},
    .effects = fixture_effects,
    .effect_count = FP_COUNT(fixture_effects),
    .works = fixture_works,
    .work_count = FP_COUNT(fixture_works),
    .creates = {.table = "orders",
                .key_column = "key",
                .content_column = "content",
                .answer_event = "order.answered"},
    .aggregate = {.table = "totals",
                  .source_table = "jobs",
                  .parent_column = "cluster_id",
                  .status_column = "status",
                  .counts = fixture_counts},
};

/* ---- the run ---- */

/* A test may bring a strategy of its own. */
#ifndef CHECK_FIXTURE_STRATEGY
#define CHECK_FIXTURE_STRATEGY fixture_strategy
#endif

struct check_fixture {
    struct trace *trace;
    struct checks *checks;
    int64_t step, t_ns;
};

static struct check_fixture fixture;

static int fixture_setup(void **state)
{
    const struct invariant *list[] = {invariant_find(CHECK_FIXTURE_INVARIANT)};
    const struct check_setup setup = {.strategy = &CHECK_FIXTURE_STRATEGY,
                                      .db_epoch_ns = VIRTUAL_EPOCH_NS};
    (void)state;
    assert_non_null(list[0]);
    assert_true(list[0]->applies == NULL || list[0]->applies(&CHECK_FIXTURE_STRATEGY));
    fixture = (struct check_fixture){.trace = trace_new()};
    fixture.checks = checks_new(list, 1, &setup);
    trace_observe(fixture.trace, checks_event, fixture.checks);
    return 0;
}

static int fixture_teardown(void **state)
{
    (void)state;
    trace_free(fixture.trace);
    checks_free(fixture.checks);
    return 0;
}

/* The next step, so much later. */
static inline void later(int64_t duration_ns)
{
    fixture.t_ns += duration_ns;
    trace_set_now(fixture.trace, ++fixture.step, fixture.t_ns);
}

/* What happens now is another commit. */
static inline void next_commit(void)
{
    later(0);
    trace_event(fixture.trace, "db.exec", "worker-1/job", NULL);
}

static inline void cluster(const char *op, const char *id, const char *status, const char *was)
{
    trace_event(fixture.trace, "row", "worker-1", "table", "clusters", "op", op, "id", id, "status",
                status, "token", "1", was ? "was.status" : NULL, was, NULL);
}

/* A job for the cluster of that name, of that type, with its key as group's and root's default,
 * that started so long after the start of the run. */
static inline void job_since(const char *op, const char *id, const char *of, const char *type,
                             const char *status, const char *code, const char *was,
                             int64_t started_ns)
{
    char started[WALLTEXT_SIZE];
    walltext_format(VIRTUAL_EPOCH_NS + started_ns, started);
    trace_event(fixture.trace, "row", "worker-1", "table", "jobs", "op", op, "id", id, "cluster_id",
                of, "type", type, "status", status, "error_code", code, "group", of, "root", id,
                "started_at", started, was ? "was.status" : NULL, was, NULL);
}

static inline void job(const char *op, const char *id, const char *of, const char *type,
                       const char *status, const char *code, const char *was)
{
    job_since(op, id, of, type, status, code, was, fixture.t_ns);
}

/* It expires so long after the start of the run. */
static inline void lock(const char *op, const char *of, const char *for_job, const char *token,
                        int64_t expires_ns)
{
    char expires[WALLTEXT_SIZE];
    walltext_format(VIRTUAL_EPOCH_NS + expires_ns, expires);
    trace_event(fixture.trace, "row", "worker-1", "table", "locks", "op", op, "cluster_id", of,
                "job_id", for_job, "token", token, "expires_at", expires, NULL);
}

/* A piece with its lock; `was_lock` and `was_version` are told when they differ. */
static inline void piece(const char *id, const char *status, const char *was_lock, const char *lock,
                         const char *was_version, const char *version)
{
    bool is_same_lock = was_lock == lock || (was_lock && lock && strcmp(was_lock, lock) == 0);

    next_commit();
    trace_begin(fixture.trace, "row", "worker-1");
    trace_text(fixture.trace, "table", "pieces");
    trace_text(fixture.trace, "op", "update");
    trace_text(fixture.trace, "id", id);
    trace_text(fixture.trace, "status", status);
    trace_text(fixture.trace, "lock_id", lock);
    trace_text(fixture.trace, "version", version);
    if (!is_same_lock)
        trace_text(fixture.trace, "was.lock_id", was_lock);
    if (strcmp(was_version, version) != 0)
        trace_text(fixture.trace, "was.version", was_version);
    trace_end(fixture.trace);
}

static inline void end_run(bool at_rest)
{
    struct check_end end = {.last = {.step = fixture.step, .t_ns = fixture.t_ns},
                            .at_rest = at_rest};
    checks_end(fixture.checks, &end);
}

static inline void assert_holds(void)
{
    const struct finding *finding = checks_first(fixture.checks, VERDICT_FAIL, NULL);
    if (finding)
        fail_msg("%s", finding->sentence);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_PASS);
}

static inline void assert_broken(const char *part_of_sentence)
{
    const struct finding *finding = checks_first(fixture.checks, VERDICT_FAIL, NULL);
    assert_non_null(finding);
    if (!strstr(finding->sentence, part_of_sentence))
        fail_msg("%s", finding->sentence);
}

#define CHECK_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
