#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/pct.h"

static struct choices *choices;

static int set_up(void **state)
{
    (void)state;
    choices = choices_new(5);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    choices_free(choices);
    return 0;
}

static void test_pct_changes_are_within_the_decisions(void **state)
{
    struct pct pct;
    int change_count = 0;
    (void)state;
    pct_init(&pct, choices_stream(choices, "pct"), 4, 10);
    for (int i = 1; i <= 20; i++) {
        uint32_t priority = 99;
        if (!pct_decide(&pct, &priority))
            continue;
        assert_true(i <= 10);
        assert_true(priority < 3);
        change_count++;
    }
    assert_in_range(change_count, 1, 3); /* two may meet at one decision */
}

static void test_pct_depth_one_never_changes(void **state)
{
    struct pct pct;
    uint32_t priority;
    (void)state;
    pct_init(&pct, choices_stream(choices, "pct"), 1, 10);
    for (int i = 0; i < 20; i++)
        assert_false(pct_decide(&pct, &priority));
}

/* Whoever falls is behind everybody who has not. */
static void test_pct_priorities_are_above_those_of_the_fallen(void **state)
{
    struct pct pct;
    (void)state;
    pct_init(&pct, choices_stream(choices, "pct"), PCT_DEPTH_MAX, 10);
    for (int i = 0; i < 1000; i++)
        assert_true(pct_priority(&pct) >= PCT_DEPTH_MAX);
}

static void test_pct_odds_are_those_of_the_theorem(void **state)
{
    (void)state;
    assert_true(pct_odds(1, 4, 100) == 1.0 / 4);
    assert_true(pct_odds(3, 2, 10) == 1.0 / 2 / 10 / 10);
    assert_true(pct_odds(3, 2, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pct_changes_are_within_the_decisions, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_pct_depth_one_never_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pct_priorities_are_above_those_of_the_fallen, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_pct_odds_are_those_of_the_theorem, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
