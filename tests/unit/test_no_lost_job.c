#define CHECK_FIXTURE_INVARIANT "no_lost_job"
#include "tests/lib/check_fixture.h"

static void submit(const char *status_of_cluster)
{
    cluster("insert", "demo", status_of_cluster, NULL);
    job("insert", "j1", "demo", "CREATE", "PENDING", NULL, NULL);
    next_commit();
}

static void test_no_lost_job_succeeded_passes(void **state)
{
    (void)state;
    submit("PENDING");
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    job("update", "j1", "demo", "CREATE", "SUCCEEDED", NULL, "RUNNING");
    end_run(true);
    assert_holds();
}

static void test_no_lost_job_ran_and_failed_with_code_passes(void **state)
{
    (void)state;
    submit("PENDING");
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    next_commit();
    job("update", "j1", "demo", "CREATE", "FAILED", "QUOTA", "RUNNING");
    end_run(true);
    assert_holds();
}

static void test_no_lost_job_failed_without_code_fails(void **state)
{
    (void)state;
    submit("PENDING");
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    next_commit();
    job("update", "j1", "demo", "CREATE", "FAILED", NULL, "RUNNING");
    end_run(true);
    assert_broken("without a code");
}

static void test_no_lost_job_refused_for_its_status_passes(void **state)
{
    (void)state;
    submit("READY");
    job("update", "j1", "demo", "CREATE", "FAILED", "STATE_NOT_ALLOWED", "PENDING");
    end_run(true);
    assert_holds();
}

static void test_no_lost_job_refused_without_reason_fails(void **state)
{
    (void)state;
    submit("PENDING");
    job("update", "j1", "demo", "CREATE", "FAILED", "DEAD_LETTER", "PENDING");
    next_commit();
    assert_broken(
        "CREATE job j1 is lost: it was ended as FAILED (DEAD_LETTER) at 0s without having "
        "run, though demo is PENDING");
}

static void test_no_lost_job_refused_before_the_status_allows_it_passes(void **state)
{
    (void)state;
    submit("READY");
    job("update", "j1", "demo", "CREATE", "FAILED", "STATE_NOT_ALLOWED", "PENDING");
    next_commit();
    cluster("update", "demo", "PENDING", "READY");
    end_run(true);
    assert_holds();
}

static void test_no_lost_job_pending_at_the_end_fails(void **state)
{
    (void)state;
    submit("READY");
    end_run(false);
    assert_broken("CREATE job j1 is lost: it is still PENDING at the end");
}

static void test_no_lost_job_deleted_fails(void **state)
{
    (void)state;
    submit("PENDING");
    job("delete", "j1", "demo", "CREATE", "PENDING", NULL, NULL);
    end_run(true);
    assert_broken("its row was deleted");
}

static void test_no_lost_job_running_with_lock_may_yet_end(void **state)
{
    (void)state;
    submit("PENDING");
    lock("insert", "demo", "j1", "1", NS_PER_HOUR);
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    end_run(false);
    assert_holds();
}

static void test_no_lost_job_running_without_lock_fails(void **state)
{
    (void)state;
    submit("PENDING");
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    end_run(false);
    assert_broken("still RUNNING");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_no_lost_job_succeeded_passes),
        CHECK_TEST(test_no_lost_job_ran_and_failed_with_code_passes),
        CHECK_TEST(test_no_lost_job_failed_without_code_fails),
        CHECK_TEST(test_no_lost_job_refused_for_its_status_passes),
        CHECK_TEST(test_no_lost_job_refused_without_reason_fails),
        CHECK_TEST(test_no_lost_job_refused_before_the_status_allows_it_passes),
        CHECK_TEST(test_no_lost_job_pending_at_the_end_fails),
        CHECK_TEST(test_no_lost_job_deleted_fails),
        CHECK_TEST(test_no_lost_job_running_with_lock_may_yet_end),
        CHECK_TEST(test_no_lost_job_running_without_lock_fails),
    };
    return cmocka_run_group_tests_name("no_lost_job", tests, NULL, NULL);
}
