#define CHECK_FIXTURE_INVARIANT "one_rebuild"
#include "tests/lib/cache_fixture.h"

#define DAY "2026-01-01"
#define SOURCE "usage/" DAY

static void write_as(const char *built_by, int64_t expires_ns)
{
    later(NS_PER_S);
    entry("insert", DAY, "1 open", NULL, built_by, expires_ns);
}

static void test_one_rebuild_reads_in_turns_fails(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    reads("api-2", 1, SOURCE);
    assert_holds();
    reads("api-1", 1, SOURCE);
    assert_broken("api-1#1 read 2026-01-01 at 3s, while api-2#1 was rebuilding it");
}

static void test_one_rebuild_write_after_another_began_fails(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    reads("api-2", 4, SOURCE);
    write_as("api-1#1", NS_PER_HOUR);
    assert_broken("api-1#1 wrote 2026-01-01 at 3s, while api-2#4 was rebuilding it");
}

static void test_one_rebuild_two_runs_of_one_process_fail(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    reads("api-1", 2, SOURCE);
    reads("api-1", 1, SOURCE);
    assert_broken("two rebuilds at once");
}

static void test_one_rebuild_one_after_the_other_passes(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    reads("api-1", 1, SOURCE);
    reads("api-2", 1, SOURCE);
    write_as("api-2#1", NS_PER_HOUR);
    assert_holds();
}

static void test_one_rebuild_of_two_days_passes(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    reads("api-2", 1, "usage/2026-01-02");
    reads("api-1", 1, SOURCE);
    assert_holds();
}

static void test_one_rebuild_refused_reads_pass(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    reads("api-2", 1, SOURCE);
    source_event("store.get", SOURCE, 0, "api-1", "rebuild", 1, "ERR_FENCED");
    source_event("store.get", SOURCE, 0, "api-1", "rebuild", 1, "ERR_STORE_UNAVAILABLE");
    assert_holds();
}

static void test_one_rebuild_read_of_an_absent_day_counts(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    reads("api-2", 1, SOURCE);
    source_event("store.get", SOURCE, 0, "api-1", "rebuild", 1, "ERR_STORE_ABSENT");
    assert_broken("two rebuilds at once");
}

static void test_one_rebuild_other_objects_and_unclaimed_reads_pass(void **state)
{
    (void)state;
    reads("api-1", 1, "users");
    reads("api-2", 1, "users");
    reads("api-1", 1, "users");
    source_event("store.get", SOURCE, 1, "api-3", NULL, 0, "ERR_OK");
    assert_holds();
}

static void test_one_rebuild_begun_while_entry_lives_fails(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    write_as("api-1#1", 2 * NS_PER_MIN);
    later(NS_PER_MIN);
    reads("api-2", 1, SOURCE);
    assert_broken("api-2#1 began to rebuild 2026-01-01 at 1m3s though there was a live entry of "
                  "api-1#1");
}

static void test_one_rebuild_begun_while_permanent_entry_stands_fails(void **state)
{
    (void)state;
    write_as("api-1#1", FOR_EVER);
    later(NS_PER_DAY);
    reads("api-2", 1, SOURCE);
    assert_broken("though there was a live entry");
}

static void test_one_rebuild_begun_when_entry_expired_passes(void **state)
{
    (void)state;
    write_as("api-1#1", 2 * NS_PER_S);
    reads("api-2", 1, SOURCE); /* at two seconds */
    assert_holds();
}

static void test_one_rebuild_that_was_asked_for_passes(void **state)
{
    (void)state;
    write_as("api-1#1", FOR_EVER);
    later(NS_PER_S);
    source_event("store.get", SOURCE, 1, "api-2", "refresh", 1, "ERR_OK");
    assert_holds();
}

static void test_one_rebuild_later_reads_beside_own_entry_pass(void **state)
{
    (void)state;
    reads("api-1", 1, SOURCE);
    write_as("api-1#1", FOR_EVER);
    reads("api-1", 1, SOURCE);
    assert_holds();
}

static void test_one_rebuild_changed_clock_is_not_judged(void **state)
{
    (void)state;
    write_as("api-1#1", NS_PER_MIN);
    trace_event(fixture.trace, "db.clock", "database", NULL);
    reads("api-2", 1, SOURCE);
    assert_holds();
    write_as("api-2#1", NS_PER_HOUR);
    reads("api-3", 1, SOURCE);
    assert_broken("api-3#1 began");
}

static void test_one_rebuild_entry_lost_in_failover_passes(void **state)
{
    (void)state;
    write_as("api-1#1", FOR_EVER);
    later(NS_PER_S);
    entry_by("failover", "delete", DAY, "1 open", NULL, "api-1#1", FOR_EVER);
    reads("api-2", 1, SOURCE);
    assert_holds();
}

static void test_one_rebuild_unreadable_end_is_unknown(void **state)
{
    (void)state;
    trace_event(fixture.trace, "row", "api-1", "table", "cache", "op", "insert", "date", DAY,
                "data", "1 open", "expires_at", "soon", "built_by", "api-1#1", NULL);
    reads("api-2", 1, SOURCE);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_one_rebuild_reads_in_turns_fails),
        CHECK_TEST(test_one_rebuild_write_after_another_began_fails),
        CHECK_TEST(test_one_rebuild_two_runs_of_one_process_fail),
        CHECK_TEST(test_one_rebuild_one_after_the_other_passes),
        CHECK_TEST(test_one_rebuild_of_two_days_passes),
        CHECK_TEST(test_one_rebuild_refused_reads_pass),
        CHECK_TEST(test_one_rebuild_read_of_an_absent_day_counts),
        CHECK_TEST(test_one_rebuild_other_objects_and_unclaimed_reads_pass),
        CHECK_TEST(test_one_rebuild_begun_while_entry_lives_fails),
        CHECK_TEST(test_one_rebuild_begun_while_permanent_entry_stands_fails),
        CHECK_TEST(test_one_rebuild_begun_when_entry_expired_passes),
        CHECK_TEST(test_one_rebuild_that_was_asked_for_passes),
        CHECK_TEST(test_one_rebuild_later_reads_beside_own_entry_pass),
        CHECK_TEST(test_one_rebuild_changed_clock_is_not_judged),
        CHECK_TEST(test_one_rebuild_entry_lost_in_failover_passes),
        CHECK_TEST(test_one_rebuild_unreadable_end_is_unknown),
    };
    return cmocka_run_group_tests_name("one_rebuild", tests, NULL, NULL);
}
