#define CHECK_FIXTURE_INVARIANT "lock_matches_job"
#include "tests/lib/check_fixture.h"

static void submit(void)
{
    cluster("insert", "demo", "PENDING", NULL);
    job("insert", "j1", "demo", "CREATE", "PENDING", NULL, NULL);
}

/* As a good acquire commits it. */
static void acquire(void)
{
    next_commit();
    lock("insert", "demo", "j1", "1", NS_PER_HOUR);
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    cluster("update", "demo", "CREATING", "PENDING");
}

static void test_lock_matches_job_taken_and_released_passes(void **state)
{
    (void)state;
    submit();
    acquire();
    next_commit();
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    job("update", "j1", "demo", "CREATE", "SUCCEEDED", NULL, "RUNNING");
    cluster("update", "demo", "READY", "CREATING");
    end_run(true);
    assert_holds();
}

static void test_lock_matches_job_order_within_a_commit_does_not_matter(void **state)
{
    (void)state;
    submit();
    acquire();
    next_commit();
    job("update", "j1", "demo", "CREATE", "SUCCEEDED", NULL, "RUNNING");
    cluster("update", "demo", "READY", "CREATING");
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    end_run(true);
    assert_holds();
}

static void test_lock_matches_job_lock_committed_alone_fails(void **state)
{
    (void)state;
    submit();
    next_commit();
    lock("insert", "demo", "j1", "1", NS_PER_HOUR);
    next_commit();
    assert_broken("held for job j1 at 0s, which is PENDING");
}

static void test_lock_matches_job_ended_job_keeps_its_lock_fails(void **state)
{
    (void)state;
    submit();
    acquire();
    next_commit();
    job("update", "j1", "demo", "CREATE", "FAILED", "X", "RUNNING");
    end_run(true);
    assert_broken("which is FAILED");
}

static void test_lock_matches_job_status_overwritten_fails(void **state)
{
    (void)state;
    submit();
    acquire();
    next_commit();
    cluster("update", "demo", "READY", "CREATING");
    next_commit();
    assert_broken("CREATE job j1 holds the lock on demo at 0s while its status is READY");
}

static void test_lock_matches_job_of_another_resource_fails(void **state)
{
    (void)state;
    submit();
    cluster("insert", "other", "CREATING", NULL);
    next_commit();
    lock("insert", "other", "j1", "1", NS_PER_HOUR);
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    next_commit();
    assert_broken("which is for demo");
}

static void test_lock_matches_job_without_job_fails(void **state)
{
    (void)state;
    submit();
    next_commit();
    lock("insert", "demo", "j9", "1", NS_PER_HOUR);
    next_commit();
    assert_broken("there is no such job");
}

static void lose_lock(void)
{
    submit();
    acquire();
    next_commit();
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
}

static void test_lock_matches_job_lost_lock_passes_until_the_end(void **state)
{
    (void)state;
    lose_lock();
    next_commit();
    assert_holds();
}

static void test_lock_matches_job_running_without_lock_at_rest_fails(void **state)
{
    (void)state;
    lose_lock();
    end_run(true);
    assert_broken("job j1 is RUNNING at the end and has had no lock since 0s");
}

static void test_lock_matches_job_running_without_lock_and_no_rest_fails(void **state)
{
    (void)state;
    lose_lock();
    later(NS_PER_HOUR);
    end_run(false);
    assert_broken("job j1 is RUNNING at the end");
}

static void test_lock_matches_job_in_the_middle_of_a_release_passes(void **state)
{
    (void)state;
    lose_lock();
    later(NS_PER_MIN);
    end_run(false);
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_lock_matches_job_taken_and_released_passes),
        CHECK_TEST(test_lock_matches_job_order_within_a_commit_does_not_matter),
        CHECK_TEST(test_lock_matches_job_lock_committed_alone_fails),
        CHECK_TEST(test_lock_matches_job_ended_job_keeps_its_lock_fails),
        CHECK_TEST(test_lock_matches_job_status_overwritten_fails),
        CHECK_TEST(test_lock_matches_job_of_another_resource_fails),
        CHECK_TEST(test_lock_matches_job_without_job_fails),
        CHECK_TEST(test_lock_matches_job_lost_lock_passes_until_the_end),
        CHECK_TEST(test_lock_matches_job_running_without_lock_at_rest_fails),
        CHECK_TEST(test_lock_matches_job_running_without_lock_and_no_rest_fails),
        CHECK_TEST(test_lock_matches_job_in_the_middle_of_a_release_passes),
    };
    return cmocka_run_group_tests_name("lock_matches_job", tests, NULL, NULL);
}
