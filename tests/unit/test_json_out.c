#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "sim/core/json_out.h"
#include "tests/lib/death.h"

static void test_json_out_report_is_written_compactly(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    struct json_out out;
    json_out_init(&out, &buf);
    json_object_begin(&out);
    json_key(&out, "verdict");
    json_string(&out, "pa\"ss");
    json_key(&out, "scenarios");
    json_array_begin(&out);
    json_object_begin(&out);
    json_key(&out, "steps");
    json_int(&out, INT64_MIN);
    json_key(&out, "seed");
    json_uint(&out, UINT64_MAX);
    json_object_end(&out);
    json_object_begin(&out);
    json_key(&out, "steps");
    json_int(&out, 0);
    json_object_end(&out);
    json_object_begin(&out);
    json_object_end(&out);
    json_array_begin(&out);
    json_array_end(&out);
    json_bool(&out, true);
    json_bool(&out, false);
    json_null(&out);
    json_string(&out, NULL);
    json_array_end(&out);
    json_key(&out, "wall_s");
    json_double(&out, 1.25, 3);
    json_object_end(&out);
    json_out_finish(&out);
    assert_string_equal(strbuf_str(&buf),
                        "{\"verdict\":\"pa\\\"ss\",\"scenarios\":"
                        "[{\"steps\":-9223372036854775808,\"seed\":18446744073709551615},"
                        "{\"steps\":0},{},[],true,false,null,null],\"wall_s\":1.250}");
    strbuf_release(&buf);
}

static void expect_double(double value, int decimals, const char *expected)
{
    struct strbuf buf = STRBUF_INIT;
    struct json_out out;
    json_out_init(&out, &buf);
    json_double(&out, value, decimals);
    json_out_finish(&out);
    assert_string_equal(strbuf_str(&buf), expected);
    strbuf_release(&buf);
}

static void test_json_out_double_has_fixed_decimals(void **state)
{
    (void)state;
    expect_double(2.0, 0, "2");
    expect_double(2.0 / 3.0, 2, "0.67");
    expect_double(-1e15, 1, "-1000000000000000.0");
}

static void test_json_out_double_not_finite_is_null(void **state)
{
    (void)state;
    expect_double(NAN, 1, "null");
    expect_double(-INFINITY, 1, "null");
}

static void test_json_out_deepest_nesting_is_allowed(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    struct json_out out;
    json_out_init(&out, &buf);
    for (int i = 0; i < JSON_OUT_DEPTH_MAX; i++)
        json_array_begin(&out);
    for (int i = 0; i < JSON_OUT_DEPTH_MAX; i++)
        json_array_end(&out);
    json_out_finish(&out);
    assert_int_equal(buf.size, 2 * JSON_OUT_DEPTH_MAX);
    strbuf_release(&buf);
}

static struct strbuf scratch = STRBUF_INIT;
static struct json_out broken;

static void start_object(void)
{
    json_out_init(&broken, &scratch);
    json_object_begin(&broken);
}

static void value_without_key(void)
{
    start_object();
    json_int(&broken, 1);
}

static void key_after_key(void)
{
    start_object();
    json_key(&broken, "a");
    json_key(&broken, "b");
}

static void key_without_value(void)
{
    start_object();
    json_key(&broken, "a");
    json_object_end(&broken);
}

static void end_of_another_kind(void)
{
    start_object();
    json_array_end(&broken);
}

static void key_in_array(void)
{
    json_out_init(&broken, &scratch);
    json_array_begin(&broken);
    json_key(&broken, "a");
}

static void end_of_nothing(void)
{
    json_out_init(&broken, &scratch);
    json_object_end(&broken);
}

static void second_value_at_the_top(void)
{
    json_out_init(&broken, &scratch);
    json_null(&broken);
    json_null(&broken);
}

static void finish_while_open(void)
{
    start_object();
    json_out_finish(&broken);
}

static void finish_of_nothing(void)
{
    json_out_init(&broken, &scratch);
    json_out_finish(&broken);
}

static void nest_too_deep(void)
{
    json_out_init(&broken, &scratch);
    for (int i = 0; i <= JSON_OUT_DEPTH_MAX; i++)
        json_array_begin(&broken);
}

static void test_json_out_wrong_nesting_is_a_harness_bug(void **state)
{
    (void)state;
    static void (*const mistakes[])(void) = {
        value_without_key, key_after_key,  key_without_value,       end_of_another_kind,
        key_in_array,      end_of_nothing, second_value_at_the_top, finish_while_open,
        finish_of_nothing, nest_too_deep,
    };
    for (size_t i = 0; i < FP_COUNT(mistakes); i++)
        assert_int_equal(death_of(mistakes[i]).exit_code, EXIT_HARNESS_BUG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_out_report_is_written_compactly),
        cmocka_unit_test(test_json_out_double_has_fixed_decimals),
        cmocka_unit_test(test_json_out_double_not_finite_is_null),
        cmocka_unit_test(test_json_out_deepest_nesting_is_allowed),
        cmocka_unit_test(test_json_out_wrong_nesting_is_a_harness_bug),
    };
    return cmocka_run_group_tests_name("json_out", tests, NULL, NULL);
}
