#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/duration.h"

static void expect_ns(const char *text, int64_t expected_ns)
{
    int64_t ns = -1;
    assert_true(duration_parse(text, &ns));
    assert_int_equal(ns, expected_ns);
}

static void test_duration_parse_each_unit_has_its_size(void **state)
{
    (void)state;
    expect_ns("7ns", 7);
    expect_ns("7us", 7000);
    expect_ns("250ms", 250000000);
    expect_ns("7s", 7000000000);
    expect_ns("90m", 90 * NS_PER_MIN);
    expect_ns("2h", 2 * NS_PER_HOUR);
    expect_ns("3d", 3 * NS_PER_DAY);
    expect_ns("0s", 0);
}

static void test_duration_parse_several_units_add_up(void **state)
{
    (void)state;
    expect_ns("1h30m", 90 * NS_PER_MIN);
    expect_ns("1h05m", 65 * NS_PER_MIN);
    expect_ns("1d2h3m4s5ms6us7ns", INT64_C(93784005006007));
    expect_ns("1m1ms", NS_PER_MIN + NS_PER_MS);
}

static void test_duration_parse_largest_value_fits(void **state)
{
    (void)state;
    expect_ns("9223372036854775807ns", INT64_MAX);
    expect_ns("106751d23h47m16s854ms775us807ns", INT64_MAX);
}

static void expect_refused(const char *text)
{
    int64_t ns = 42;
    bool is_accepted = duration_parse(text, &ns);
    if (is_accepted)
        print_error("accepted: \"%s\"\n", text);
    assert_false(is_accepted);
    assert_int_equal(ns, 42);
}

static void test_duration_parse_malformed_is_refused(void **state)
{
    (void)state;
    static const char *const malformed[] = {
        "",     " ",      "0",     "90",   "m",    "1.5s", "-1s",  "+1s",    "1 s",
        " 1s",  "1s ",    "1S",    "1mn",  "1min", "1sm",  "s1",   "1h30",   "30m1h",
        "1h1h", "1ms1ms", "1ms1s", "0x1s", "1e3s", "1..2", "1s..", "1h,30m",
    };
    for (size_t i = 0; i < FP_COUNT(malformed); i++)
        expect_refused(malformed[i]);
}

static void test_duration_parse_overflow_is_refused(void **state)
{
    (void)state;
    expect_refused("9223372036854775808ns");
    expect_refused("99999999999999999999ns");
    expect_refused("18446744073709551617ns");
    expect_refused("106752d");
    expect_refused("106751d23h47m16s854ms775us808ns");
}

static void test_duration_range_two_ends_are_read(void **state)
{
    (void)state;
    int64_t low = -1, high = -1;
    assert_true(duration_parse_range("20m..1h30m", &low, &high));
    assert_int_equal(low, 20 * NS_PER_MIN);
    assert_int_equal(high, 90 * NS_PER_MIN);
}

static void test_duration_range_one_duration_is_both_ends(void **state)
{
    (void)state;
    int64_t low = -1, high = -1;
    assert_true(duration_parse_range("20m", &low, &high));
    assert_int_equal(low, 20 * NS_PER_MIN);
    assert_int_equal(high, 20 * NS_PER_MIN);
    assert_true(duration_parse_range("0s..0s", &low, &high));
    assert_int_equal(high, 0);
}

static void test_duration_range_malformed_is_refused(void **state)
{
    (void)state;
    static const char *const malformed[] = {
        "",           "..",      "20m..",      "..90m",   "90m..20m",   "20m...90m",
        "20m..90m..", "20m.90m", "20m .. 90m", "20..90m", "1s..2s..3s",
    };
    for (size_t i = 0; i < FP_COUNT(malformed); i++) {
        int64_t low = 42, high = 43;
        assert_false(duration_parse_range(malformed[i], &low, &high));
        assert_int_equal(low, 42);
        assert_int_equal(high, 43);
    }
}

static void expect_text(int64_t ns, const char *expected)
{
    char text[DURATION_TEXT_SIZE];
    assert_string_equal(duration_text(ns, text), expected);
}

static void test_duration_text_has_no_zero_parts(void **state)
{
    (void)state;
    expect_text(0, "0s");
    expect_text(90 * NS_PER_MIN, "1h30m");
    expect_text(250 * NS_PER_MS, "250ms");
    expect_text(1500 * NS_PER_MS, "1s500ms");
    expect_text(36 * NS_PER_HOUR, "1d12h");
    expect_text(NS_PER_DAY + 1, "1d1ns");
}

static void test_duration_text_extremes_fit(void **state)
{
    (void)state;
    expect_text(INT64_MAX, "106751d23h47m16s854ms775us807ns");
    expect_text(INT64_MIN, "-106751d23h47m16s854ms775us808ns");
    expect_text(-90 * NS_PER_S, "-1m30s");
}

static void test_duration_text_parses_back_to_the_same_value(void **state)
{
    (void)state;
    char text[DURATION_TEXT_SIZE];
    for (int64_t ns = 1; ns < INT64_MAX / 7; ns = ns * 7 + 3) {
        int64_t back = -1;
        assert_true(duration_parse(duration_text(ns, text), &back));
        assert_int_equal(back, ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration_parse_each_unit_has_its_size),
        cmocka_unit_test(test_duration_parse_several_units_add_up),
        cmocka_unit_test(test_duration_parse_largest_value_fits),
        cmocka_unit_test(test_duration_parse_malformed_is_refused),
        cmocka_unit_test(test_duration_parse_overflow_is_refused),
        cmocka_unit_test(test_duration_range_two_ends_are_read),
        cmocka_unit_test(test_duration_range_one_duration_is_both_ends),
        cmocka_unit_test(test_duration_range_malformed_is_refused),
        cmocka_unit_test(test_duration_text_has_no_zero_parts),
        cmocka_unit_test(test_duration_text_extremes_fit),
        cmocka_unit_test(test_duration_text_parses_back_to_the_same_value),
    };
    return cmocka_run_group_tests_name("duration", tests, NULL, NULL);
}
