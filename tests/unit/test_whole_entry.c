#define CHECK_FIXTURE_INVARIANT "whole_entry"
#include "tests/lib/cache_fixture.h"

#define DAY "2026-01-01"

static void part(const char *op, const char *data, const char *sum)
{
    trace_event(fixture.trace, "row", "api-1/rebuild-1", "table", "cache", "op", op, "date", DAY,
                "data", data, "sum", sum, "built_by", "api-1#1", NULL);
}

static void test_whole_entry_of_two_versions_fails(void **state)
{
    (void)state;
    part("insert", "3 open", "3 in sum");
    next_commit();
    assert_holds();
    part("update", "4 open", "3 in sum");
    next_commit();
    assert_broken("the entry of 2026-01-01 is of version 4 and its sum is '3 in sum' at 0s");
}

static void test_whole_entry_without_a_part_fails(void **state)
{
    (void)state;
    part("insert", "3 open", "");
    next_commit();
    assert_broken("its sum is ''");
}

static void test_whole_entry_of_one_version_passes(void **state)
{
    (void)state;
    part("insert", "3 open", "3 in sum");
    next_commit();
    part("update", "4 closed", "4 in sum");
    next_commit();
    assert_holds();
}

/* What is between the statements of one transaction nobody sees. */
static void test_whole_entry_in_two_statements_of_one_commit_passes(void **state)
{
    (void)state;
    part("insert", "3 open", "");
    part("update", "3 open", "3 in sum");
    next_commit();
    assert_holds();
}

static void test_whole_entry_without_version_is_unknown(void **state)
{
    (void)state;
    part("insert", "nothing", "nothing");
    next_commit();
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_whole_entry_of_two_versions_fails),
        CHECK_TEST(test_whole_entry_without_a_part_fails),
        CHECK_TEST(test_whole_entry_of_one_version_passes),
        CHECK_TEST(test_whole_entry_in_two_statements_of_one_commit_passes),
        CHECK_TEST(test_whole_entry_without_version_is_unknown),
    };
    return cmocka_run_group_tests_name("whole_entry", tests, NULL, NULL);
}
