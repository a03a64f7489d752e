#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "tests/lib/death.h"

static void fail_an_assert(void)
{
    FP_ASSERT(1 + 1 == 3);
}

static void test_base_assert_false_exits_with_harness_bug(void **state)
{
    (void)state;
    struct death death = death_of(fail_an_assert);
    assert_int_equal(death.exit_code, EXIT_HARNESS_BUG);
    assert_non_null(strstr(death.message, "harness bug: "));
    assert_non_null(strstr(death.message, "1 + 1 == 3"));
    assert_non_null(strstr(death.message, "test_base.c:"));
}

static void pass_an_assert(void)
{
    FP_ASSERT(1 + 1 == 2);
}

static void test_base_assert_true_goes_on(void **state)
{
    (void)state;
    assert_int_equal(death_of(pass_an_assert).exit_code, 0);
}

/* The address sanitizer would otherwise abort before the refusal is seen. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void ask_for_everything(void)
{
    volatile size_t size = SIZE_MAX / 2;
    free(fp_alloc(size));
}

static void test_base_alloc_refused_exits_with_infrastructure(void **state)
{
    (void)state;
    struct death death = death_of(ask_for_everything);
    assert_int_equal(death.exit_code, EXIT_INFRASTRUCTURE);
    assert_non_null(strstr(death.message, "out of memory"));
}

static void test_base_alloc_is_zeroed(void **state)
{
    (void)state;
    unsigned char *memory = fp_alloc(4096);
    for (size_t i = 0; i < 4096; i++)
        assert_int_equal(memory[i], 0);
    free(memory);
}

static void test_base_alloc_of_nothing_gives_a_pointer(void **state)
{
    (void)state;
    void *memory = fp_alloc(0);
    assert_non_null(memory);
    memory = fp_realloc(memory, 0);
    assert_non_null(memory);
    free(memory);
}

static void test_base_format_and_strdup_give_copies(void **state)
{
    (void)state;
    char *text = fp_format("%s-%d", "worker", 12);
    char *copy = fp_strdup(text);
    assert_string_equal(text, "worker-12");
    assert_string_equal(copy, "worker-12");
    assert_ptr_not_equal(text, copy);
    free(text);
    free(copy);
}

static void test_err_name_and_text_belong_together(void **state)
{
    (void)state;
    assert_string_equal(err_name(ERR_OK), "ERR_OK");
    assert_string_equal(err_name(ERR_DB_LOST), "ERR_DB_LOST");
    assert_string_equal(err_text(ERR_QUEUE_EMPTY), "no message within the wait");
    assert_string_equal(err_name(ERR_INFRASTRUCTURE), "ERR_INFRASTRUCTURE");
}

static void name_no_error(void)
{
    err_name((enum err)(ERR_INFRASTRUCTURE + 1));
}

static void test_err_name_of_no_error_is_a_harness_bug(void **state)
{
    (void)state;
    assert_int_equal(death_of(name_no_error).exit_code, EXIT_HARNESS_BUG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_assert_false_exits_with_harness_bug),
        cmocka_unit_test(test_base_assert_true_goes_on),
        cmocka_unit_test(test_base_alloc_refused_exits_with_infrastructure),
        cmocka_unit_test(test_base_alloc_is_zeroed),
        cmocka_unit_test(test_base_alloc_of_nothing_gives_a_pointer),
        cmocka_unit_test(test_base_format_and_strdup_give_copies),
        cmocka_unit_test(test_err_name_and_text_belong_together),
        cmocka_unit_test(test_err_name_of_no_error_is_a_harness_bug),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
