#define CHECK_FIXTURE_INVARIANT "aggregate_matches_source"
#include "tests/lib/check_totals.h"

static void test_aggregate_matches_source_right_at_the_end_passes(void **state)
{
    (void)state;
    total("insert", "0", "0");
    job_of("j1", "FAILED");
    job_of("j2", "RUNNING");
    total("update", "2", "1");
    end_run(true);
    assert_holds();
}

static void test_aggregate_matches_source_wrong_meanwhile_passes(void **state)
{
    (void)state;
    total("insert", "7", "0");
    job_of("j1", "FAILED");
    total("update", "1", "1");
    end_run(true);
    assert_holds();
}

static void test_aggregate_matches_source_wrong_number_fails(void **state)
{
    (void)state;
    total("insert", "0", "0");
    job_of("j1", "FAILED");
    job_of("j2", "FAILED");
    total("update", "2", "1");
    later(NS_PER_MIN);
    end_run(true);
    assert_broken("failed of demo says 1 at 1m, but 2 of its jobs are FAILED");
}

static void test_aggregate_matches_source_wrong_total_fails(void **state)
{
    (void)state;
    total("insert", "3", "0");
    end_run(false);
    assert_broken("jobs of demo says 3 at 0s, but 0 of its jobs are there");
}

static void test_aggregate_matches_source_rows_of_others_are_not_counted(void **state)
{
    (void)state;
    total("insert", "0", "0");
    job("insert", "j1", "other", "CREATE", "FAILED", NULL, NULL);
    end_run(true);
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_aggregate_matches_source_right_at_the_end_passes),
        CHECK_TEST(test_aggregate_matches_source_wrong_meanwhile_passes),
        CHECK_TEST(test_aggregate_matches_source_wrong_number_fails),
        CHECK_TEST(test_aggregate_matches_source_wrong_total_fails),
        CHECK_TEST(test_aggregate_matches_source_rows_of_others_are_not_counted),
    };
    return cmocka_run_group_tests_name("aggregate_matches_source", tests, NULL, NULL);
}
