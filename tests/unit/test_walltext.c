#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "sim/core/walltext.h"

static void test_walltext_known_dates_format(void **state)
{
    (void)state;
    char text[WALLTEXT_SIZE];
    walltext_format(VIRTUAL_EPOCH_NS, text);
    assert_string_equal(text, "2026-01-01 00:00:00.000000+00");
    walltext_format(VIRTUAL_EPOCH_NS + 59 * NS_PER_DAY + 1234567, text);
    assert_string_equal(text, "2026-03-01 00:00:00.001234+00");
    walltext_format(INT64_C(951782400) * NS_PER_S, text);
    assert_string_equal(text, "2000-02-29 00:00:00.000000+00");
}

/* Every day of 270 years, against the C library's calendar. */
static void test_walltext_every_day_agrees_with_libc_and_reads_back(void **state)
{
    (void)state;
    char text[WALLTEXT_SIZE], expected[WALLTEXT_SIZE];
    for (int64_t day = 0; day < 98000; day++) {
        time_t second = day * 86400 + 86399;
        struct tm parts;
        gmtime_r(&second, &parts);
        strftime(expected, sizeof expected, "%Y-%m-%d %H:%M:%S.000000+00", &parts);
        walltext_format(second * NS_PER_S, text);
        assert_string_equal(text, expected);
        int64_t back_ns;
        assert_true(walltext_parse(text, &back_ns));
        assert_true(back_ns == second * NS_PER_S);
    }
}

static void test_walltext_fraction_reads_as_server_writes_it(void **state)
{
    (void)state;
    int64_t ns;
    assert_true(walltext_parse("2026-01-01 00:00:00+00", &ns));
    assert_true(ns == VIRTUAL_EPOCH_NS);
    assert_true(walltext_parse("2026-01-01 00:00:00.5+00", &ns));
    assert_true(ns == VIRTUAL_EPOCH_NS + 500 * NS_PER_MS);
}

static void test_walltext_anything_else_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "2026-01-01",
                                        "2026-01-01 00:00:00",
                                        "2026-13-01 00:00:00+00",
                                        "2026-01-01 00:00:00.+00",
                                        "2026-01-01 00:00:00+01",
                                        "2026-01-01 00:00:00+00 BC",
                                        "infinity"};
    for (size_t i = 0; i < FP_COUNT(wrong); i++) {
        int64_t ns;
        assert_false(walltext_parse(wrong[i], &ns));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walltext_known_dates_format),
        cmocka_unit_test(test_walltext_every_day_agrees_with_libc_and_reads_back),
        cmocka_unit_test(test_walltext_fraction_reads_as_server_writes_it),
        cmocka_unit_test(test_walltext_anything_else_is_refused),
    };
    return cmocka_run_group_tests_name("walltext", tests, NULL, NULL);
}
