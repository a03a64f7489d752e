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
    };
    return cmocka_run_group_tests_name("no_stuck_cluster", tests, NULL, NULL);
}
