#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/check/check.h"
#include "sim/core/walltext.h"

static const char *const key[] = {"cluster_id", "job_id", NULL};
static const char *const columns[] = {"locked_by", "expires_at", NULL};
static const struct watched_table watched[] = {
    {.table = "jobs", .key = key, .columns = columns},
    {.table = "job_locks", .key = key, .columns = columns},
};
static const struct strategy with_expiry = {
    .name = "with_expiry",
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .lock = {"job_locks", "cluster_id", "expires_at"},
};
static const struct strategy without_expiry = {
    .name = "without_expiry",
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .lock = {"job_locks", "cluster_id", NULL},
};
static const struct strategy without_locks = {.name = "without_locks"};

struct fixture {
    struct trace *trace;
    struct checks *checks;
};

static struct fixture *open_with(const struct strategy *strategy)
{
    static struct fixture fixture;
    const struct invariant *list[] = {invariant_find("lock_exclusive")};
    const struct check_setup setup = {.strategy = strategy, .db_epoch_ns = VIRTUAL_EPOCH_NS};

    assert_non_null(list[0]);
    fixture = (struct fixture){.trace = trace_new()};
    fixture.checks = checks_new(list, 1, &setup);
    trace_observe(fixture.trace, checks_event, fixture.checks);
    return &fixture;
}

static void close_fixture(struct fixture *fixture)
{
    trace_free(fixture->trace);
    checks_free(fixture->checks);
}

static void at(struct fixture *fixture, int64_t step, int64_t minutes)
{
    trace_set_now(fixture->trace, step, minutes * NS_PER_MIN);
}

static void row(struct fixture *fixture, const char *op, const char *cluster, const char *job,
                const char *until)
{
    trace_event(fixture->trace, "row", "worker-1", "table", "job_locks", "op", op, "cluster_id",
                cluster, "job_id", job, "locked_by", "worker-1.1", "expires_at", until, NULL);
}

static void finish(struct fixture *fixture)
{
    checks_end(fixture->checks, &(struct check_end){.at_rest = true});
}

static void assert_passes(struct fixture *fixture)
{
    finish(fixture);
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_PASS);
    close_fixture(fixture);
}

static void assert_fails(struct fixture *fixture, int64_t step, const char *sentence)
{
    const struct finding *finding;

    finish(fixture);
    finding = checks_first(fixture->checks, VERDICT_FAIL, NULL);
    assert_non_null(finding);
    assert_int_equal(finding->step, step);
    assert_string_equal(finding->sentence, sentence);
    close_fixture(fixture);
}

static void test_lock_exclusive_two_rows_fails(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_expiry);
    at(fixture, 1, 5);
    row(fixture, "insert", "demo", "j1", "x");
    at(fixture, 2, 6);
    row(fixture, "insert", "demo", "j2", "x");
    at(fixture, 3, 7);
    trace_event(fixture->trace, "job.started", "worker-1", NULL);
    assert_fails(fixture, 2,
                 "two live locks on demo at 6m: {job_id j1, locked_by worker-1.1, expires_at x} "
                 "and {job_id j2, locked_by worker-1.1, expires_at x}");
}

static void test_lock_exclusive_violation_is_seen_at_the_next_event(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_expiry);
    at(fixture, 1, 5);
    row(fixture, "insert", "demo", "j1", "x");
    row(fixture, "insert", "demo", "j2", "x");
    trace_event(fixture->trace, "job.started", "worker-1", NULL);
    assert_non_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
    close_fixture(fixture);
}

static void test_lock_exclusive_two_clusters_passes(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_expiry);
    at(fixture, 1, 5);
    row(fixture, "insert", "demo", "j1", "x");
    at(fixture, 2, 6);
    row(fixture, "insert", "other", "j2", "x");
    assert_passes(fixture);
}

static void test_lock_exclusive_released_lock_passes(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_expiry);
    at(fixture, 1, 5);
    row(fixture, "insert", "demo", "j1", "x");
    at(fixture, 2, 6);
    row(fixture, "delete", "demo", "j1", "x");
    at(fixture, 3, 6);
    row(fixture, "insert", "demo", "j2", "x");
    assert_passes(fixture);
}

/* The state between two changes of one commit was never committed. */
static void test_lock_exclusive_swap_in_one_commit_passes(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_expiry);
    at(fixture, 1, 5);
    row(fixture, "insert", "demo", "j1", "x");
    at(fixture, 2, 6);
    row(fixture, "insert", "demo", "j2", "x");
    row(fixture, "delete", "demo", "j1", "x");
    assert_passes(fixture);
}

static void test_lock_exclusive_other_table_passes(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_expiry);
    at(fixture, 1, 5);
    row(fixture, "insert", "demo", "j1", "x");
    trace_event(fixture->trace, "row", "worker-1", "table", "jobs", "op", "insert", "cluster_id",
                "demo", "job_id", "j2", NULL);
    assert_passes(fixture);
}

static void test_lock_exclusive_expired_lock_passes(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&with_expiry);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "2026-01-01 01:00:00+00");
    at(fixture, 2, 60);
    row(fixture, "insert", "demo", "j2", "2026-01-01 02:00:00.123456+00");
    assert_passes(fixture);
}

/* A lock that is inserted when its time is already over never was one. */
static void test_lock_exclusive_late_insert_passes(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&with_expiry);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "2026-01-01 03:00:00+00");
    at(fixture, 2, 60);
    row(fixture, "insert", "demo", "j2", "2026-01-01 00:30:00+00");
    assert_passes(fixture);
}

static void test_lock_exclusive_not_yet_expired_fails(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&with_expiry);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "2026-01-01 01:00:00.000001+00");
    at(fixture, 2, 60);
    row(fixture, "insert", "demo", "j2", "2026-01-01 02:00:00+00");
    assert_fails(fixture, 2,
                 "two live locks on demo at 1h: {job_id j1, locked_by worker-1.1} and {job_id j2, "
                 "locked_by worker-1.1}");
}

static void test_lock_exclusive_renewed_lock_fails(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&with_expiry);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "2026-01-01 01:00:00+00");
    at(fixture, 2, 30);
    row(fixture, "update", "demo", "j1", "2026-01-01 01:30:00+00");
    at(fixture, 3, 70);
    row(fixture, "insert", "demo", "j2", "2026-01-01 02:00:00+00");
    finish(fixture);
    assert_non_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
    assert_int_equal(checks_first(fixture->checks, VERDICT_FAIL, NULL)->step, 3);
    close_fixture(fixture);
}

/* An update that changes the key moves the row, it does not add one. */
static void test_lock_exclusive_key_change_moves_the_row(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_expiry);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "x");
    at(fixture, 2, 1);
    trace_event(fixture->trace, "row", "worker-1", "table", "job_locks", "op", "update",
                "cluster_id", "demo", "job_id", "j2", "locked_by", "w", "expires_at", "x",
                "was.job_id", "j1", NULL);
    at(fixture, 3, 2);
    row(fixture, "delete", "demo", "j2", "x");
    at(fixture, 4, 3);
    row(fixture, "insert", "demo", "j3", "x");
    assert_passes(fixture);
}

static void test_lock_exclusive_infinite_lock_never_expires(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&with_expiry);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "infinity");
    at(fixture, 2, 1000000);
    row(fixture, "insert", "demo", "j2", "infinity");
    finish(fixture);
    assert_non_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
    close_fixture(fixture);
}

static void test_lock_exclusive_unreadable_time_is_unknown(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&with_expiry);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "tomorrow");
    finish(fixture);
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_UNKNOWN);
    close_fixture(fixture);
}

static void test_lock_exclusive_without_lock_table_does_not_apply(void **state)
{
    (void)state;
    struct fixture *fixture = open_with(&without_locks);
    at(fixture, 1, 0);
    row(fixture, "insert", "demo", "j1", "x");
    row(fixture, "insert", "demo", "j2", "x");
    assert_passes(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_exclusive_two_rows_fails),
        cmocka_unit_test(test_lock_exclusive_violation_is_seen_at_the_next_event),
        cmocka_unit_test(test_lock_exclusive_two_clusters_passes),
        cmocka_unit_test(test_lock_exclusive_released_lock_passes),
        cmocka_unit_test(test_lock_exclusive_swap_in_one_commit_passes),
        cmocka_unit_test(test_lock_exclusive_other_table_passes),
        cmocka_unit_test(test_lock_exclusive_expired_lock_passes),
        cmocka_unit_test(test_lock_exclusive_late_insert_passes),
        cmocka_unit_test(test_lock_exclusive_not_yet_expired_fails),
        cmocka_unit_test(test_lock_exclusive_renewed_lock_fails),
        cmocka_unit_test(test_lock_exclusive_key_change_moves_the_row),
        cmocka_unit_test(test_lock_exclusive_infinite_lock_never_expires),
        cmocka_unit_test(test_lock_exclusive_unreadable_time_is_unknown),
        cmocka_unit_test(test_lock_exclusive_without_lock_table_does_not_apply),
    };
    return cmocka_run_group_tests_name("lock_exclusive", tests, NULL, NULL);
}
