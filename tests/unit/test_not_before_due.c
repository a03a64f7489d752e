#define CHECK_FIXTURE_INVARIANT "not_before_due"
#include "tests/lib/check_fixture.h"

/* A lock is taken, or given back, on a piece that is due so long after the start of the run. */
static void change(const char *who, const char *was, const char *lock, int64_t due_ns)
{
    char due[WALLTEXT_SIZE];
    walltext_format(VIRTUAL_EPOCH_NS + due_ns, due);
    next_commit();
    trace_event(fixture.trace, "row", who, "table", "pieces", "op", "update", "id", "a", "status",
                "due", "lock_id", lock, "version", "1", "due_at", due, "was.lock_id", was, NULL);
}

static void test_not_before_due_in_time_passes(void **state)
{
    (void)state;
    later(NS_PER_HOUR);
    change("worker-1", NULL, "w1", NS_PER_HOUR); /* to the moment */
    change("worker-1", NULL, "w2", NS_PER_MIN);
    assert_holds();
}

static void test_not_before_due_too_early_fails(void **state)
{
    (void)state;
    later(NS_PER_MIN);
    change("worker-1", NULL, "w1", NS_PER_HOUR);
    assert_broken("worker-1 took the lock on a at 1m, and it is due at 1h");
}

static void test_not_before_due_taken_from_another_fails(void **state)
{
    (void)state;
    change("worker-1", "w1", "w2", NS_PER_HOUR);
    assert_broken("took the lock on a");
}

static void test_not_before_due_what_is_no_taking_passes(void **state)
{
    (void)state;
    change("worker-1", "w1", NULL, NS_PER_HOUR);
    change("worker-1", "w1", "w1", NS_PER_HOUR);
    change("failover", NULL, "w1", NS_PER_HOUR);
    trace_event(fixture.trace, "row", "setup", "table", "pieces", "op", "insert", "id", "b",
                "lock_id", "w1", "due_at", "2030-01-01 00:00:00+00", NULL);
    assert_holds();
}

static void test_not_before_due_strange_date_is_unknown(void **state)
{
    (void)state;
    trace_event(fixture.trace, "row", "worker-1", "table", "pieces", "op", "update", "id", "a",
                "lock_id", "w1", "due_at", "soon", "was.lock_id", NULL, NULL);
    trace_event(fixture.trace, "row", "worker-1", "table", "pieces", "op", "update", "id", "a",
                "lock_id", "w2", "due_at", "soon", "was.lock_id", "w1", NULL);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_not_before_due_in_time_passes),
        CHECK_TEST(test_not_before_due_too_early_fails),
        CHECK_TEST(test_not_before_due_taken_from_another_fails),
        CHECK_TEST(test_not_before_due_what_is_no_taking_passes),
        CHECK_TEST(test_not_before_due_strange_date_is_unknown),
    };
    return cmocka_run_group_tests_name("not_before_due", tests, NULL, NULL);
}
