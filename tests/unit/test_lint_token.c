#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sim/lint/token.h"

static struct arena *arena;

static int open_arena(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

struct expected {
    enum token_kind kind;
    const char *text;
    int line, column;
};

static void assert_tokens(const char *sql, const struct expected *expected, size_t count)
{
    const struct token *token = tokens_of(arena, sql, 1, 1);

    for (size_t i = 0; i < count; i++, token = token->next) {
        assert_int_equal(token->kind, expected[i].kind);
        assert_string_equal(token->text, expected[i].text);
        assert_int_equal(token->line, expected[i].line);
        assert_int_equal(token->column, expected[i].column);
    }
    assert_null(token);
}

#define ASSERT_TOKENS(sql, ...)                                                                    \
    do {                                                                                           \
        const struct expected list[] = {__VA_ARGS__};                                              \
        assert_tokens(sql, list, FP_COUNT(list));                                                  \
    } while (0)

static void test_token_words_are_folded_and_have_places(void **state)
{
    (void)state;
    ASSERT_TOKENS("Select a.B\n  <= 1.5", {TOKEN_WORD, "select", 1, 1}, {TOKEN_WORD, "a", 1, 8},
                  {TOKEN_SIGN, ".", 1, 9}, {TOKEN_WORD, "b", 1, 10}, {TOKEN_SIGN, "<=", 2, 3},
                  {TOKEN_NUMBER, "1.5", 2, 6}, {TOKEN_END, "", 2, 9});
}

static void test_token_comments_are_nothing(void **state)
{
    (void)state;
    ASSERT_TOKENS("-- a 'string\n/* one /* two */ 'still */ x \\echo y\n", {TOKEN_WORD, "x", 2, 28},
                  {TOKEN_END, "", 3, 1});
}

static void test_token_strings_keep_what_is_in_them(void **state)
{
    (void)state;
    ASSERT_TOKENS("'it''s -- /*' E'a\\'b' U&\"c\"\"d\" 'back\\'",
                  {TOKEN_STRING, "it's -- /*", 1, 1}, {TOKEN_STRING, "a'b", 1, 16},
                  {TOKEN_NAME, "c\"d", 1, 25}, {TOKEN_STRING, "back\\", 1, 32},
                  {TOKEN_END, "", 1, 39});
}

static void test_token_dollar_quotes_end_with_their_own_tag(void **state)
{
    (void)state;
    ASSERT_TOKENS("$a$ x $$ y $a$ $1 $$\nz$$", {TOKEN_BODY, " x $$ y ", 1, 4},
                  {TOKEN_PARAM, "$1", 1, 16}, {TOKEN_BODY, "\nz", 1, 21}, {TOKEN_END, "", 2, 4});
}

static void test_token_parameters_of_clients(void **state)
{
    (void)state;
    ASSERT_TOKENS(":id %(key)s x::text a % b", {TOKEN_PARAM, ":id", 1, 1},
                  {TOKEN_PARAM, "%(key)s", 1, 5}, {TOKEN_WORD, "x", 1, 13},
                  {TOKEN_SIGN, "::", 1, 14}, {TOKEN_WORD, "text", 1, 16}, {TOKEN_WORD, "a", 1, 21},
                  {TOKEN_SIGN, "%", 1, 23}, {TOKEN_WORD, "b", 1, 25}, {TOKEN_END, "", 1, 26});
}

static void test_token_character_of_several_bytes_is_one_column(void **state)
{
    (void)state;
    ASSERT_TOKENS("'\xc3\xbc\xe2\x82\xac' x", {TOKEN_STRING, "\xc3\xbc\xe2\x82\xac", 1, 1},
                  {TOKEN_WORD, "x", 1, 6}, {TOKEN_END, "", 1, 7});
}

static void test_token_what_is_not_ended_is_said(void **state)
{
    (void)state;
    ASSERT_TOKENS("'a", {TOKEN_STRING, "a", 1, 1}, {TOKEN_END, "a string is not ended", 1, 3});
    ASSERT_TOKENS("\"a", {TOKEN_NAME, "a", 1, 1}, {TOKEN_END, "a quoted name is not ended", 1, 3});
    ASSERT_TOKENS("/* /* */", {TOKEN_END, "a comment is not ended", 1, 9});
    ASSERT_TOKENS("$x$ a", {TOKEN_BODY, " a", 1, 4},
                  {TOKEN_END, "a dollar-quoted string is not ended", 1, 6});
    ASSERT_TOKENS("E'\\", {TOKEN_STRING, "\\", 1, 2}, {TOKEN_END, "a string is not ended", 1, 4});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_words_are_folded_and_have_places),
        cmocka_unit_test(test_token_comments_are_nothing),
        cmocka_unit_test(test_token_strings_keep_what_is_in_them),
        cmocka_unit_test(test_token_dollar_quotes_end_with_their_own_tag),
        cmocka_unit_test(test_token_parameters_of_clients),
        cmocka_unit_test(test_token_character_of_several_bytes_is_one_column),
        cmocka_unit_test(test_token_what_is_not_ended_is_said),
    };
    return cmocka_run_group_tests_name("lint_token", tests, open_arena, close_arena);
}
