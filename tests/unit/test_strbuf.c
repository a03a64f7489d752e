#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/strbuf.h"

static void test_strbuf_empty_reads_as_empty_text(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    assert_string_equal(strbuf_str(&buf), "");
    strbuf_clear(&buf);
    assert_int_equal(buf.size, 0);
    char *text = strbuf_detach(&buf);
    assert_string_equal(text, "");
    free(text);
}

static void test_strbuf_add_many_keeps_all(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    for (int i = 0; i < 5000; i++) {
        strbuf_putc(&buf, (char)('a' + i % 26));
        assert_int_equal(buf.text[buf.size], '\0');
        assert_true(buf.size < buf.capacity);
    }
    assert_int_equal(buf.size, 5000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(buf.text[i], 'a' + i % 26);
    strbuf_release(&buf);
}

static void test_strbuf_add_bytes_may_hold_zero(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    strbuf_add(&buf, "a\0b", 3);
    strbuf_add(&buf, NULL, 0);
    assert_int_equal(buf.size, 3);
    assert_memory_equal(buf.text, "a\0b", 4);
    strbuf_release(&buf);
}

static void test_strbuf_clear_keeps_the_memory(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    strbuf_puts(&buf, "something that needs room");
    const char *text = buf.text;
    size_t capacity = buf.capacity;
    strbuf_clear(&buf);
    assert_string_equal(strbuf_str(&buf), "");
    strbuf_puts(&buf, "else");
    assert_ptr_equal(buf.text, text);
    assert_int_equal(buf.capacity, capacity);
    assert_string_equal(strbuf_str(&buf), "else");
    strbuf_release(&buf);
    assert_null(buf.text);
    assert_int_equal(buf.capacity, 0);
}

static void test_strbuf_reserve_leaves_room_in_place(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    strbuf_reserve(&buf, 1000);
    const char *text = buf.text;
    assert_string_equal(text, "");
    for (int i = 0; i < 1000; i++)
        strbuf_putc(&buf, 'x');
    assert_ptr_equal(buf.text, text);
    strbuf_release(&buf);
}

static void expect_int(int64_t value, const char *expected)
{
    struct strbuf buf = STRBUF_INIT;
    strbuf_int(&buf, value);
    assert_string_equal(strbuf_str(&buf), expected);
    strbuf_release(&buf);
}

static void test_strbuf_int_extremes_are_exact(void **state)
{
    (void)state;
    expect_int(0, "0");
    expect_int(-1, "-1");
    expect_int(10, "10");
    expect_int(300000000000, "300000000000");
    expect_int(INT64_MAX, "9223372036854775807");
    expect_int(INT64_MIN, "-9223372036854775808");
}

static void test_strbuf_printf_longer_than_capacity_grows(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    strbuf_puts(&buf, "<");
    strbuf_printf(&buf, "%0200d|%s", 7, "end");
    assert_int_equal(buf.size, 1 + 200 + 4);
    assert_string_equal(buf.text + 200, "7|end");
    strbuf_release(&buf);
}

static void test_strbuf_detach_gives_the_text_away(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;
    strbuf_puts(&buf, "mine");
    char *text = strbuf_detach(&buf);
    assert_string_equal(text, "mine");
    assert_null(buf.text);
    strbuf_puts(&buf, "other");
    assert_string_equal(text, "mine");
    free(text);
    strbuf_release(&buf);
}

static void expect_json(const char *text, const char *expected)
{
    struct strbuf buf = STRBUF_INIT;
    strbuf_json_string(&buf, text);
    assert_string_equal(strbuf_str(&buf), expected);
    strbuf_release(&buf);
}

static void test_strbuf_json_plain_text_is_quoted(void **state)
{
    (void)state;
    expect_json("", "\"\"");
    expect_json("acquire", "\"acquire\"");
    expect_json("exactly8", "\"exactly8\"");
    expect_json("rather more than sixteen bytes ~\x7f", "\"rather more than sixteen bytes ~\x7f\"");
    expect_json(NULL, "null");
}

static void test_strbuf_json_special_characters_are_escaped(void **state)
{
    (void)state;
    expect_json("a\"b\\c", "\"a\\\"b\\\\c\"");
    expect_json("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
    expect_json("\x01\x1f", "\"\\u0001\\u001f\"");
}

/* Text is looked at eight bytes at a time, so each byte is tried at each place of a word. */
static void test_strbuf_json_any_byte_at_any_offset_is_seen(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        bool is_special = byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
        for (size_t offset = 0; offset < 17; offset++) {
            char text[] = "aaaaaaaaaaaaaaaaa";
            struct strbuf buf = STRBUF_INIT;
            text[offset] = (char)byte;
            strbuf_json_string(&buf, text);
            bool is_longer = buf.size > strlen(text) + 2;
            strbuf_release(&buf);
            assert_int_equal(is_longer, is_special);
        }
    }
}

static void test_strbuf_json_valid_utf8_is_kept(void **state)
{
    (void)state;
    expect_json("\xC2\x80 \xDF\xBF", "\"\xC2\x80 \xDF\xBF\"");
    expect_json("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80", "\"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\"");
    expect_json("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", "\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"");
}

#define R "\xEF\xBF\xBD"

static void test_strbuf_json_invalid_utf8_is_replaced(void **state)
{
    (void)state;
    expect_json("\x80", "\"" R "\"");
    expect_json("a\xC0\xAF", "\"a" R R "\"");           /* overlong */
    expect_json("\xE0\x9F\xBF", "\"" R R R "\"");       /* overlong */
    expect_json("\xED\xA0\x80", "\"" R R R "\"");       /* surrogate */
    expect_json("\xF0\x8F\xBF\xBF", "\"" R R R R "\""); /* overlong */
    expect_json("\xF4\x90\x80\x80", "\"" R R R R "\""); /* past U+10FFFF */
    expect_json("\xFF"
                "b",
                "\"" R "b\"");
    expect_json("\xE2\x82", "\"" R R "\""); /* cut off by the end */
    expect_json("\xF0\x9F\x92", "\"" R R R "\"");
    expect_json("\xC3\"", "\"" R "\\\"\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strbuf_empty_reads_as_empty_text),
        cmocka_unit_test(test_strbuf_add_many_keeps_all),
        cmocka_unit_test(test_strbuf_add_bytes_may_hold_zero),
        cmocka_unit_test(test_strbuf_clear_keeps_the_memory),
        cmocka_unit_test(test_strbuf_reserve_leaves_room_in_place),
        cmocka_unit_test(test_strbuf_int_extremes_are_exact),
        cmocka_unit_test(test_strbuf_printf_longer_than_capacity_grows),
        cmocka_unit_test(test_strbuf_detach_gives_the_text_away),
        cmocka_unit_test(test_strbuf_json_plain_text_is_quoted),
        cmocka_unit_test(test_strbuf_json_special_characters_are_escaped),
        cmocka_unit_test(test_strbuf_json_any_byte_at_any_offset_is_seen),
        cmocka_unit_test(test_strbuf_json_valid_utf8_is_kept),
        cmocka_unit_test(test_strbuf_json_invalid_utf8_is_replaced),
    };
    return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
