#define CHECK_FIXTURE_INVARIANT "aggregate_always_matches"
#include "tests/lib/check_totals.h"

static void test_aggregate_always_matches_both_in_one_commit_passes(void **state)
{
    (void)state;
    total("insert", "0", "0");
    job_of("j1", "FAILED");
    trace_event(fixture.trace, "row", "worker-1", "table", "totals", "op", "update", "id", "demo",
                "jobs", "1", "failed", "1", NULL);
    end_run(true);
    assert_holds();
}

static void test_aggregate_always_matches_number_in_the_next_commit_fails(void **state)
{
    (void)state;
    total("insert", "0", "0");
    job_of("j1", "FAILED");
    assert_holds(); /* the commit may have more to say */
    total("update", "1", "1");
    assert_broken("jobs of demo says 0 at 0s, but 1 of its jobs are there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_aggregate_always_matches_both_in_one_commit_passes),
        CHECK_TEST(test_aggregate_always_matches_number_in_the_next_commit_fails),
    };
    return cmocka_run_group_tests_name("aggregate_always_matches", tests, NULL, NULL);
}
