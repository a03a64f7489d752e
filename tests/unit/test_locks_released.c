#define CHECK_FIXTURE_INVARIANT "locks_released"
#include "tests/lib/cache_fixture.h"

static void test_locks_released_lock_at_the_end_fails(void **state)
{
    (void)state;
    later(NS_PER_MIN);
    trace_event(fixture.trace, "world.advisory_lock", "database", "key", "20260101", NULL);
    end_run(true);
    assert_broken("a session still holds the advisory lock 20260101 when all is over");
}

static void test_locks_released_none_at_the_end_passes(void **state)
{
    (void)state;
    trace_event(fixture.trace, "lock.acquired", "api-1", "date", "2026-01-01", NULL);
    end_run(true);
    assert_holds();
}

static void test_locks_released_applies_to_those_with_advisory_locks(void **state)
{
    (void)state;
    const struct invariant *invariant = invariant_find(CHECK_FIXTURE_INVARIANT);
    assert_true(invariant->applies(&cache_strategy));
    assert_false(invariant->applies(&fixture_strategy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_locks_released_lock_at_the_end_fails),
        CHECK_TEST(test_locks_released_none_at_the_end_passes),
        CHECK_TEST(test_locks_released_applies_to_those_with_advisory_locks),
    };
    return cmocka_run_group_tests_name("locks_released", tests, NULL, NULL);
}
