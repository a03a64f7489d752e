#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/clock.h"

static void test_clock_zeroed_is_right(void **state)
{
    (void)state;
    struct machine_clock clock = {0};
    assert_int_equal(clock_wall_ns(&clock, NS_PER_HOUR), NS_PER_HOUR);
    assert_int_equal(clock_mono_ns(&clock, NS_PER_HOUR), NS_PER_HOUR);
    assert_int_equal(clock_when_ns(&clock, NS_PER_HOUR), NS_PER_HOUR);
    assert_int_equal(clock_timer_ns(&clock, NS_PER_HOUR), NS_PER_HOUR);
}

static void test_clock_step_moves_the_wall_clock_alone(void **state)
{
    (void)state;
    struct machine_clock clock = {0};
    clock_step(&clock, -2 * NS_PER_HOUR);
    assert_int_equal(clock_wall_ns(&clock, NS_PER_HOUR), -NS_PER_HOUR);
    assert_int_equal(clock_mono_ns(&clock, NS_PER_HOUR), NS_PER_HOUR);
    assert_int_equal(clock_when_ns(&clock, NS_PER_HOUR), 3 * NS_PER_HOUR);
    clock_step(&clock, 2 * NS_PER_HOUR);
    assert_int_equal(clock_wall_ns(&clock, NS_PER_HOUR), NS_PER_HOUR);
}

static void test_clock_rate_takes_both_clocks_and_timers(void **state)
{
    (void)state;
    struct machine_clock clock = {0};
    clock_set_rate(&clock, NS_PER_HOUR, 500000);
    assert_int_equal(clock_wall_ns(&clock, 3 * NS_PER_HOUR), 4 * NS_PER_HOUR);
    assert_int_equal(clock_mono_ns(&clock, 3 * NS_PER_HOUR), 4 * NS_PER_HOUR);
    assert_int_equal(clock_timer_ns(&clock, 3 * NS_PER_HOUR), 2 * NS_PER_HOUR);
    assert_int_equal(clock_when_ns(&clock, 4 * NS_PER_HOUR), 3 * NS_PER_HOUR);
    clock_set_rate(&clock, 3 * NS_PER_HOUR, -500000);
    assert_int_equal(clock_wall_ns(&clock, 5 * NS_PER_HOUR), 5 * NS_PER_HOUR);
    assert_int_equal(clock_timer_ns(&clock, NS_PER_HOUR), 2 * NS_PER_HOUR);
}

/* A timer never fires before its time by the clock that it goes by. */
static void test_clock_timer_is_rounded_up(void **state)
{
    (void)state;
    struct machine_clock clock = {0};
    clock_set_rate(&clock, 0, 300001);
    for (int64_t duration_ns = 0; duration_ns < 100; duration_ns++)
        assert_true(clock_mono_ns(&clock, clock_timer_ns(&clock, duration_ns)) >= duration_ns);
}

static void test_clock_of_years_does_not_overflow(void **state)
{
    (void)state;
    struct machine_clock clock = {0};
    int64_t years_ns = 80 * 365 * NS_PER_DAY;
    clock_set_rate(&clock, 0, -500000);
    assert_int_equal(clock_wall_ns(&clock, years_ns), years_ns / 2);
    assert_int_equal(clock_timer_ns(&clock, years_ns / 2), years_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_zeroed_is_right),
        cmocka_unit_test(test_clock_step_moves_the_wall_clock_alone),
        cmocka_unit_test(test_clock_rate_takes_both_clocks_and_timers),
        cmocka_unit_test(test_clock_timer_is_rounded_up),
        cmocka_unit_test(test_clock_of_years_does_not_overflow),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
