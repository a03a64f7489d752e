#define CHECK_FIXTURE_INVARIANT "no_stuck_cluster"
#include "tests/lib/check_fixture.h"

static void work(int64_t expires_ns)
{
    cluster("insert", "demo", "CREATING", NULL);
    job("insert", "j1", "demo", "CREATE", "RUNNING", NULL, NULL);
    lock("insert", "demo", "j1", "1", expires_ns);
    next_commit();
    later(30 * NS_PER_MIN);
}

static void test_no_stuck_cluster_worked_on_passes(void **state)
{
    (void)state;
    work(NS_PER_HOUR);
    end_run(false);
    assert_holds();
}

static void test_no_stuck_cluster_ready_passes(void **state)
{
    (void)state;
    cluster("insert", "demo", "READY", NULL);
    end_run(true);
    assert_holds();
}

static void test_no_stuck_cluster_nobody_holds_it_fails(void **state)
{
    (void)state;
    work(NS_PER_HOUR);
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    assert_holds();
    end_run(false);
    assert_broken("demo is stuck: it is CREATING at the end (30m), and nobody works on it");
}

static void test_no_stuck_cluster_expired_lock_fails(void **state)
{
    (void)state;
    work(20 * NS_PER_MIN);
    end_run(false);
    assert_broken("demo is stuck");
}

static void test_no_stuck_cluster_job_has_ended_fails(void **state)
{
    (void)state;
    work(NS_PER_HOUR);
    job("update", "j1", "demo", "CREATE", "FAILED", "X", "RUNNING");
    end_run(true);
    assert_broken("demo is stuck");
}

static void test_no_stuck_cluster_lock_is_on_another_fails(void **state)
{
    (void)state;
    work(NS_PER_HOUR);
    cluster("insert", "other", "CREATING", NULL);
    end_run(true);
    assert_broken("other is stuck");
}

static void test_no_stuck_cluster_strange_status_is_unknown(void **state)
{
    (void)state;
    cluster("insert", "demo", "ODD", NULL);
    end_run(true);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

/* Without jobs nobody can be at work at the end. */
static void test_no_stuck_cluster_without_jobs_in_progress_fails(void **state)
{
    struct strategy strategy = fixture_strategy;
    const struct invariant *list[] = {invariant_find(CHECK_FIXTURE_INVARIANT)};
    const struct check_setup setup = {.strategy = &strategy, .db_epoch_ns = VIRTUAL_EPOCH_NS};
    (void)state;
    memset(&strategy.jobs, 0, sizeof strategy.jobs);
    assert_false(list[0]->applies(&strategy)); /* locks that are for jobs which it does not have */
    memset(&strategy.lock, 0, sizeof strategy.lock);
    assert_true(list[0]->applies(&strategy));
    trace_reset(fixture.trace); /* its observer goes */
    checks_free(fixture.checks);
    fixture.checks = checks_new(list, 1, &setup);
    trace_observe(fixture.trace, checks_event, fixture.checks);
    cluster("insert", "demo", "READY", NULL);
    cluster("insert", "other", "CREATING", NULL);
    end_run(true);
    assert_broken("other is stuck: it is CREATING at the end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_no_stuck_cluster_worked_on_passes),
        CHECK_TEST(test_no_stuck_cluster_ready_passes),
        CHECK_TEST(test_no_stuck_cluster_nobody_holds_it_fails),
        CHECK_TEST(test_no_stuck_cluster_expired_lock_fails),
        CHECK_TEST(test_no_stuck_cluster_job_has_ended_fails),
        CHECK_TEST(test_no_stuck_cluster_lock_is_on_another_fails),
        CHECK_TEST(test_no_stuck_cluster_strange_status_is_unknown),
        CHECK_TEST(test_no_stuck_cluster_without_jobs_in_progress_fails),
    };
    return cmocka_run_group_tests_name("no_stuck_cluster", tests, NULL, NULL);
}
