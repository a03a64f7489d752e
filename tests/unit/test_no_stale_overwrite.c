#define CHECK_FIXTURE_INVARIANT "no_stale_overwrite"
#include "tests/lib/cache_fixture.h"

#define DAY "2026-01-01"

static void replace(const char *who, const char *data, const char *was)
{
    later(NS_PER_S);
    entry_by(who, "update", DAY, data, was, "api-2#1", NS_PER_HOUR);
}

static void test_no_stale_overwrite_older_over_newer_fails(void **state)
{
    (void)state;
    entry("insert", DAY, "10 open", NULL, "api-1#1", NS_PER_HOUR);
    replace("api-2/pool-1", "9 open", "10 open");
    assert_broken("api-2#1 replaced the entry of 2026-01-01, built from version 10");
}

/* Versions are numbers: as texts 9 would be the greater one. */
static void test_no_stale_overwrite_newer_over_older_passes(void **state)
{
    (void)state;
    entry("insert", DAY, "9 open", NULL, "api-1#1", NS_PER_HOUR);
    replace("api-2/pool-1", "10 open", "9 open");
    assert_holds();
}

static void test_no_stale_overwrite_same_version_passes(void **state)
{
    (void)state;
    entry("insert", DAY, "9 open", NULL, "api-1#1", NS_PER_HOUR);
    replace("api-2/pool-1", "9 open", NULL);
    assert_holds();
}

static void test_no_stale_overwrite_first_entry_passes(void **state)
{
    (void)state;
    entry("insert", DAY, "9 open", NULL, "api-1#1", NS_PER_HOUR);
    entry("insert", "2026-01-02", "1 open", NULL, "api-1#2", NS_PER_HOUR);
    assert_holds();
}

static void test_no_stale_overwrite_by_failover_passes(void **state)
{
    (void)state;
    entry("insert", DAY, "9 open", NULL, "api-1#1", NS_PER_HOUR);
    replace("failover", "8 open", "9 open");
    assert_holds();
}

static void test_no_stale_overwrite_without_version_is_unknown(void **state)
{
    (void)state;
    replace("api-2/pool-1", "nothing", "9 open");
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_no_stale_overwrite_older_over_newer_fails),
        CHECK_TEST(test_no_stale_overwrite_newer_over_older_passes),
        CHECK_TEST(test_no_stale_overwrite_same_version_passes),
        CHECK_TEST(test_no_stale_overwrite_first_entry_passes),
        CHECK_TEST(test_no_stale_overwrite_by_failover_passes),
        CHECK_TEST(test_no_stale_overwrite_without_version_is_unknown),
    };
    return cmocka_run_group_tests_name("no_stale_overwrite", tests, NULL, NULL);
}
