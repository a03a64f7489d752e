#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/hash.h"
#include "sim/hunt/states.h"

static void test_states_know_what_was_added_with_as_much_left(void **state)
{
    (void)state;
    struct states *states = states_new(1024);
    assert_false(states_know(states, 7, 0));
    states_add(states, 7, 1);
    assert_true(states_know(states, 7, 0));
    assert_true(states_know(states, 7, 1));
    assert_false(states_know(states, 7, 2));
    assert_false(states_know(states, 8, 0));
    states_add(states, 7, 0); /* less was known before */
    assert_true(states_know(states, 7, 1));
    states_add(states, 7, 2);
    assert_true(states_know(states, 7, 2));
    assert_int_equal(states_count(states), 1);
    states_free(states);
}

static void test_states_grow_and_then_forget_what_is_new(void **state)
{
    (void)state;
    struct states *states = states_new(4096);
    for (int64_t i = 0; i < 3000; i++)
        states_add(states, hash_number(0, i), 0);
    assert_int_equal(states_count(states), 2048);
    for (int64_t i = 0; i < 3000; i++)
        assert_int_equal(states_know(states, hash_number(0, i), 0), i < 2048);
    states_free(states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_know_what_was_added_with_as_much_left),
        cmocka_unit_test(test_states_grow_and_then_forget_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
