#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/arena.h"

#define ORDER_COUNT_MAX 16

static char order[ORDER_COUNT_MAX];
static size_t order_count;

static void note(void *resource)
{
    assert_true(order_count < ORDER_COUNT_MAX - 1);
    order[order_count++] = *(const char *)resource;
    order[order_count] = '\0';
}

static int forget_order(void **state)
{
    (void)state;
    order_count = 0;
    order[0] = '\0';
    return 0;
}

static void test_arena_alloc_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    unsigned char *previous = NULL;
    size_t previous_size = 0;
    for (size_t size = 1; size < 600; size++) {
        unsigned char *memory = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, (int)(size % 255) + 1, size);
        for (size_t i = 0; i < previous_size; i++)
            assert_int_equal(previous[i], (size - 1) % 255 + 1);
        previous = memory;
        previous_size = size;
    }
    arena_free(arena);
}

static void test_arena_alloc_large_first_and_between_is_served(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char *large = arena_alloc(arena, 1000000);
    memset(large, 'L', 1000000);
    char *small = arena_alloc(arena, 16);
    memset(small, 's', 16);
    char *larger = arena_alloc(arena, 3000000);
    memset(larger, 'M', 3000000);
    char *beside = arena_alloc(arena, 16);
    memset(beside, 't', 16);
    assert_int_equal(large[999999], 'L');
    assert_int_equal(small[15], 's');
    assert_int_equal(larger[0], 'M');
    /* The large block did not waste the room that the small one came from. */
    assert_ptr_equal(beside, small + 16);
    arena_free(arena);
}

static void test_arena_alloc_of_nothing_gives_its_own_pointer(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    void *first = arena_alloc(arena, 0);
    void *second = arena_alloc(arena, 0);
    assert_non_null(first);
    assert_ptr_not_equal(first, second);
    arena_free(arena);
}

static void test_arena_size_counts_what_was_handed_out(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    assert_int_equal(arena_size(arena), 0);
    arena_alloc(arena, 1);
    size_t one = arena_size(arena);
    assert_true(one >= 1);
    assert_true(one <= _Alignof(max_align_t));
    arena_alloc(arena, 100000);
    assert_true(arena_size(arena) >= one + 100000);
    arena_free(arena);
}

static void test_arena_text_is_copied(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char source[] = "worker";
    char *copy = arena_strdup(arena, source);
    char *printed = arena_printf(arena, "%s-%d", source, 3);
    char *longer = arena_printf(arena, "%05000d", 1);
    source[0] = 'X';
    assert_string_equal(copy, "worker");
    assert_string_equal(printed, "worker-3");
    assert_int_equal(strlen(longer), 5000);
    arena_free(arena);
}

static void test_arena_cleanups_run_newest_first(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char names[] = "abcdefghijkl";
    for (size_t i = 0; names[i] != '\0'; i++)
        arena_defer(arena, note, &names[i]);
    assert_string_equal(order, "");
    arena_free(arena);
    assert_string_equal(order, "lkjihgfedcba");
}

static void test_arena_cleanups_see_the_memory(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char *name = arena_strdup(arena, "m");
    arena_defer(arena, note, name);
    arena_free(arena);
    assert_string_equal(order, "m");
}

static void test_arena_cancel_takes_out_one_and_keeps_the_order(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char names[] = "abc";
    for (size_t i = 0; names[i] != '\0'; i++)
        arena_defer(arena, note, &names[i]);
    arena_cancel(arena, &names[1]);
    arena_cancel(arena, &names[1]);
    arena_free(arena);
    assert_string_equal(order, "ca");
}

static void test_arena_cancel_of_a_double_takes_the_newest(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char names[] = "ab";
    arena_defer(arena, note, &names[0]);
    arena_defer(arena, note, &names[1]);
    arena_defer(arena, note, &names[0]);
    arena_cancel(arena, &names[0]);
    arena_free(arena);
    assert_string_equal(order, "ba");
}

struct session {
    struct arena *arena;
    char name;
};

static void close_session(void *resource)
{
    struct session *session = resource;
    arena_cancel(session->arena, session);
    note(&session->name);
}

static void test_arena_cleanup_that_cancels_itself_harms_no_other(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct session first = {arena, 'f'}, second = {arena, 's'};
    arena_defer(arena, close_session, &first);
    arena_defer(arena, close_session, &second);
    arena_free(arena);
    assert_string_equal(order, "sf");
}

static void test_arena_free_of_null_does_nothing(void **state)
{
    (void)state;
    arena_free(NULL);
    assert_string_equal(order, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_alloc_is_zeroed_aligned_and_apart),
        cmocka_unit_test(test_arena_alloc_large_first_and_between_is_served),
        cmocka_unit_test(test_arena_alloc_of_nothing_gives_its_own_pointer),
        cmocka_unit_test(test_arena_size_counts_what_was_handed_out),
        cmocka_unit_test(test_arena_text_is_copied),
        cmocka_unit_test_setup(test_arena_cleanups_run_newest_first, forget_order),
        cmocka_unit_test_setup(test_arena_cleanups_see_the_memory, forget_order),
        cmocka_unit_test_setup(test_arena_cancel_takes_out_one_and_keeps_the_order, forget_order),
        cmocka_unit_test_setup(test_arena_cancel_of_a_double_takes_the_newest, forget_order),
        cmocka_unit_test_setup(test_arena_cleanup_that_cancels_itself_harms_no_other, forget_order),
        cmocka_unit_test_setup(test_arena_free_of_null_does_nothing, forget_order),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
