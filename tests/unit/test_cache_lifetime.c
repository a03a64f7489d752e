#define CHECK_FIXTURE_INVARIANT "cache_lifetime"
#include "tests/lib/cache_fixture.h"

#define DAY "2026-01-01"
#define SOURCE "usage/" DAY

static void put(const char *key, int64_t version)
{
    later(NS_PER_S);
    source_event("store.put", key, version, "meter", "meter", 1, "ERR_OK");
}

static void write_for(const char *data, int64_t expires_ns)
{
    later(NS_PER_S);
    entry("insert", DAY, data, NULL, "api-1#1", expires_ns);
}

static void test_cache_lifetime_permanent_from_old_version_fails(void **state)
{
    (void)state;
    put(SOURCE, 18);
    write_for("17 open", FOR_EVER);
    assert_broken("the entry of 2026-01-01 never expires and was built by api-1#1 from version 17 "
                  "of its source, which has version 18 at 2s");
}

static void test_cache_lifetime_source_grows_under_permanent_entry_fails(void **state)
{
    (void)state;
    put(SOURCE, 17);
    write_for("17 open", FOR_EVER);
    assert_holds();
    put(SOURCE, 18);
    assert_broken("version 17");
}

static void test_cache_lifetime_empty_day_kept_for_ever_fails(void **state)
{
    (void)state;
    write_for("0 open", FOR_EVER);
    put(SOURCE, 1);
    assert_broken("version 0");
}

static void test_cache_lifetime_version_known_from_a_read_counts(void **state)
{
    (void)state;
    source_event("store.get", SOURCE, 9, "api-2", "rebuild", 1, "ERR_OK");
    write_for("8 open", FOR_EVER);
    assert_broken("version 9");
}

static void test_cache_lifetime_permanent_from_last_version_passes(void **state)
{
    (void)state;
    put(SOURCE, 17);
    write_for("17 closed", FOR_EVER);
    put("usage/2026-01-02", 30);
    put("other/" DAY, 30);
    assert_holds();
}

static void test_cache_lifetime_old_version_that_expires_passes(void **state)
{
    (void)state;
    put(SOURCE, 18);
    write_for("17 open", NS_PER_HOUR);
    put(SOURCE, 19);
    assert_holds();
}

static void test_cache_lifetime_replaced_in_time_passes(void **state)
{
    (void)state;
    put(SOURCE, 17);
    write_for("17 open", FOR_EVER);
    later(NS_PER_S);
    entry("update", DAY, "17 open", NULL, "api-1#2", NS_PER_HOUR);
    put(SOURCE, 18);
    assert_holds();
}

static void test_cache_lifetime_taken_back_by_failover_passes(void **state)
{
    (void)state;
    put(SOURCE, 17);
    write_for("17 open", FOR_EVER);
    later(NS_PER_S);
    entry_by("failover", "delete", DAY, "17 open", NULL, "api-1#1", FOR_EVER);
    put(SOURCE, 18);
    assert_holds();
}

static void test_cache_lifetime_entry_without_version_is_unknown(void **state)
{
    (void)state;
    put(SOURCE, 1);
    write_for("nothing", FOR_EVER);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_cache_lifetime_permanent_from_old_version_fails),
        CHECK_TEST(test_cache_lifetime_source_grows_under_permanent_entry_fails),
        CHECK_TEST(test_cache_lifetime_empty_day_kept_for_ever_fails),
        CHECK_TEST(test_cache_lifetime_version_known_from_a_read_counts),
        CHECK_TEST(test_cache_lifetime_permanent_from_last_version_passes),
        CHECK_TEST(test_cache_lifetime_old_version_that_expires_passes),
        CHECK_TEST(test_cache_lifetime_replaced_in_time_passes),
        CHECK_TEST(test_cache_lifetime_taken_back_by_failover_passes),
        CHECK_TEST(test_cache_lifetime_entry_without_version_is_unknown),
    };
    return cmocka_run_group_tests_name("cache_lifetime", tests, NULL, NULL);
}
