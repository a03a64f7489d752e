#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/scalar.h"

static void test_scalar_integer_takes_the_whole_text_or_nothing(void **state)
{
    (void)state;
    int64_t value = 77;
    static const char *const wrong[] = {"",     "-",    "+1", "01", "-0",    "1.0",
                                        "1e3",  "0x10", " 1", "1 ", "12abc", "9223372036854775808",
                                        "1_000"};
    for (size_t i = 0; i < FP_COUNT(wrong); i++)
        assert_false(scalar_integer(wrong[i], &value));
    assert_int_equal(value, 77);
    assert_true(scalar_integer("-9223372036854775808", &value));
    assert_true(value == INT64_MIN);
    assert_true(scalar_integer("0", &value));
    assert_int_equal(value, 0);
}

static void test_scalar_probability_is_exact_in_millionths(void **state)
{
    (void)state;
    uint32_t value = 77;
    static const char *const wrong[] = {"",   ".5",   "1.000001", "2",    "0.", "0.1234567",
                                        "-0", "0.5x", "00.5",     "1e-3", "50%"};
    for (size_t i = 0; i < FP_COUNT(wrong); i++)
        assert_false(scalar_probability(wrong[i], &value));
    assert_int_equal(value, 77);
    assert_true(scalar_probability("0.000001", &value));
    assert_int_equal(value, 1);
    assert_true(scalar_probability("0.29", &value));
    assert_int_equal(value, 290000);
    assert_true(scalar_probability("1.000000", &value));
    assert_int_equal(value, 1000000);
}

static void test_scalar_bool_takes_true_and_false_alone(void **state)
{
    (void)state;
    bool value = false;
    static const char *const wrong[] = {"", "yes", "no", "on", "True", "TRUE", "1", "true "};
    for (size_t i = 0; i < FP_COUNT(wrong); i++)
        assert_false(scalar_bool(wrong[i], &value));
    assert_false(value);
    assert_true(scalar_bool("true", &value));
    assert_true(value);
    assert_true(scalar_bool("false", &value));
    assert_false(value);
}

static void test_scalar_label_has_only_its_characters(void **state)
{
    (void)state;
    assert_true(scalar_is_label("aZ09-_", "-_", 6));
    assert_false(scalar_is_label("aZ09-_x", "-_", 6));
    assert_false(scalar_is_label("", "-_", 6));
    assert_false(scalar_is_label("a.b", "-_", 6));
    assert_true(scalar_is_label("a.b", "-_.", 6));
    assert_false(scalar_is_label("a b", "-_", 6));
    assert_false(scalar_is_label("b\xc3\xb6", "-_", 6));
}

static void test_scalar_identifier_needs_no_quotes_in_sql(void **state)
{
    (void)state;
    char long_name[65];
    memset(long_name, 'a', sizeof(long_name));
    long_name[63] = '\0';
    assert_true(scalar_is_identifier(long_name));
    long_name[63] = 'a';
    long_name[64] = '\0';
    assert_false(scalar_is_identifier(long_name));
    assert_true(scalar_is_identifier("_now2"));
    assert_false(scalar_is_identifier(""));
    assert_false(scalar_is_identifier("2now"));
    assert_false(scalar_is_identifier("Now"));
    assert_false(scalar_is_identifier("pg_catalog.now"));
    assert_false(scalar_is_identifier("now()"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_integer_takes_the_whole_text_or_nothing),
        cmocka_unit_test(test_scalar_probability_is_exact_in_millionths),
        cmocka_unit_test(test_scalar_bool_takes_true_and_false_alone),
        cmocka_unit_test(test_scalar_label_has_only_its_characters),
        cmocka_unit_test(test_scalar_identifier_needs_no_quotes_in_sql),
    };
    return cmocka_run_group_tests_name("scalar", tests, NULL, NULL);
}
