#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/diag.h"

static void assert_printed(struct diags *diags, const char *expected)
{
    struct strbuf out = STRBUF_INIT;
    diags_print(diags, &out);
    assert_string_equal(strbuf_str(&out), expected);
    strbuf_release(&out);
    diags_release(diags);
}

static void test_diag_none_prints_nothing(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags, "a.yaml");
    assert_printed(&diags, "");
}

static void test_diag_several_print_in_order_of_position(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags, "a.yaml");
    diags_add(&diags, 3, 1, "third");
    diags_add(&diags, 1, 9, "second %d", 2);
    diags_add(&diags, 1, 2, "first");
    assert_printed(&diags, "a.yaml:1:2: first\na.yaml:1:9: second 2\na.yaml:3:1: third\n");
}

static void test_diag_same_position_keeps_order_of_adding(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags, "a.yaml");
    diags_add(&diags, 2, 2, "one");
    diags_add(&diags, 1, 1, "zero");
    diags_add(&diags, 2, 2, "two");
    diags_add(&diags, 2, 2, "three");
    assert_printed(&diags,
                   "a.yaml:1:1: zero\na.yaml:2:2: one\na.yaml:2:2: two\na.yaml:2:2: three\n");
}

static void test_diag_whole_file_prints_without_position(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags, "a.yaml");
    diags_add(&diags, 1, 1, "later");
    diags_add(&diags, 0, 0, "the file is empty");
    assert_printed(&diags, "a.yaml: the file is empty\na.yaml:1:1: later\n");
}

static void test_diag_past_the_most_are_counted(void **state)
{
    (void)state;
    struct diags diags;
    struct strbuf out = STRBUF_INIT;
    diags_init(&diags, "a.yaml");
    for (int i = 0; i < DIAG_COUNT_MAX + 7; i++)
        diags_add(&diags, i + 1, 1, "mistake");
    assert_int_equal(diags.count, DIAG_COUNT_MAX);
    assert_int_equal(diags.dropped_count, 7);
    diags_print(&diags, &out);
    assert_non_null(strstr(strbuf_str(&out), "a.yaml:100:1: mistake\na.yaml: and 7 more\n"));
    strbuf_release(&out);
    diags_release(&diags);
}

static const char *const names[] = {"topology", "workload", "workers", "janitors", NULL, "any"};

static const char *near(const char *word)
{
    return suggest(word, names, FP_COUNT(names));
}

static void test_suggest_typing_mistakes_find_the_name(void **state)
{
    (void)state;
    assert_string_equal(near("worker"), "workers");
    assert_string_equal(near("wrokers"), "workers");
    assert_string_equal(near("janitorss"), "janitors");
    assert_string_equal(near("topolgy"), "topology");
    assert_string_equal(near("WORKERS"), "workers");
}

static void test_suggest_neighbours_swapped_cost_one_edit(void **state)
{
    (void)state;
    static const char *const pair[] = {"abxx", "ba"};
    assert_string_equal(suggest("ab", pair, 2), "ba");
}

static void test_suggest_distant_word_finds_nothing(void **state)
{
    (void)state;
    assert_null(near("probability"));
    assert_null(near("x"));
    assert_null(near(""));
    assert_null(suggest("a", NULL, 0));
}

static void test_suggest_short_name_is_not_suggested_for_other_letters(void **state)
{
    (void)state;
    static const char *const short_names[] = {"x", "ab"};
    assert_null(suggest("q", short_names, 2));
}

static void test_suggest_overlong_word_finds_nothing(void **state)
{
    (void)state;
    char word[200];
    memset(word, 'w', sizeof(word));
    word[sizeof(word) - 1] = '\0';
    assert_null(near(word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diag_none_prints_nothing),
        cmocka_unit_test(test_diag_several_print_in_order_of_position),
        cmocka_unit_test(test_diag_same_position_keeps_order_of_adding),
        cmocka_unit_test(test_diag_whole_file_prints_without_position),
        cmocka_unit_test(test_diag_past_the_most_are_counted),
        cmocka_unit_test(test_suggest_typing_mistakes_find_the_name),
        cmocka_unit_test(test_suggest_neighbours_swapped_cost_one_edit),
        cmocka_unit_test(test_suggest_distant_word_finds_nothing),
        cmocka_unit_test(test_suggest_short_name_is_not_suggested_for_other_letters),
        cmocka_unit_test(test_suggest_overlong_word_finds_nothing),
    };
    return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
