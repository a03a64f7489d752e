#define CHECK_FIXTURE_INVARIANT "version_counts_locks"
#include "tests/lib/check_fixture.h"

static void test_version_counts_locks_taken_and_given_back_passes(void **state)
{
    (void)state;
    piece("a", "due", NULL, "w1", "0", "1");
    piece("a", "doing", "w1", "w1", "1", "1");
    piece("a", "due", "w1", NULL, "1", "1");
    piece("a", "due", NULL, "w2", "1", "2");
    piece("a", "done", "w2", NULL, "2", "2");
    assert_holds();
}

static void test_version_counts_locks_taken_while_held_fails(void **state)
{
    (void)state;
    later(NS_PER_MIN);
    piece("a", "due", "w1", "w2", "1", "2");
    assert_broken("worker-1 took the lock on a at 1m as w2, while w1 had it");
}

static void test_version_counts_locks_taken_without_counting_fails(void **state)
{
    (void)state;
    piece("a", "due", NULL, "w1", "3", "3");
    assert_broken("changed the version of a from 3 to 3 at 0s, with one lock taken");
}

static void test_version_counts_locks_counted_twice_fails(void **state)
{
    (void)state;
    piece("a", "due", NULL, "w1", "3", "5");
    assert_broken("from 3 to 5");
}

static void test_version_counts_locks_counted_without_lock_fails(void **state)
{
    (void)state;
    piece("a", "due", "w1", NULL, "3", "4");
    assert_broken("from 3 to 4 at 0s, with no lock taken");
}

static void test_version_counts_locks_version_set_back_fails(void **state)
{
    (void)state;
    piece("a", "due", NULL, NULL, "3", "0");
    assert_broken("from 3 to 0");
}

static void test_version_counts_locks_locked_when_over_fails(void **state)
{
    (void)state;
    piece("a", "unclear", "w1", "w1", "1", "1"); /* not over */
    assert_holds();
    piece("a", "failed", "w1", "w1", "1", "1");
    assert_broken("worker-1 left a failed at 0s, and locked by w1");
}

static void test_version_counts_locks_inserts_deletes_and_others_pass(void **state)
{
    (void)state;
    trace_event(fixture.trace, "row", "worker-1", "table", "pieces", "op", "insert", "id", "a",
                "status", "due", "lock_id", NULL, NULL);
    trace_event(fixture.trace, "row", "worker-1", "table", "pieces", "op", "delete", "id", "a",
                "status", "done", "version", "7", NULL);
    trace_event(fixture.trace, "row", "failover", "table", "pieces", "op", "update", "id", "a",
                "status", "due", "version", "1", "was.version", "2", NULL);
    cluster("update", "demo", "READY", "CREATING");
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_version_counts_locks_taken_and_given_back_passes),
        CHECK_TEST(test_version_counts_locks_taken_while_held_fails),
        CHECK_TEST(test_version_counts_locks_taken_without_counting_fails),
        CHECK_TEST(test_version_counts_locks_counted_twice_fails),
        CHECK_TEST(test_version_counts_locks_counted_without_lock_fails),
        CHECK_TEST(test_version_counts_locks_version_set_back_fails),
        CHECK_TEST(test_version_counts_locks_locked_when_over_fails),
        CHECK_TEST(test_version_counts_locks_inserts_deletes_and_others_pass),
    };
    return cmocka_run_group_tests_name("version_counts_locks", tests, NULL, NULL);
}
