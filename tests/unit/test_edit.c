#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/edit.h"
#include "sim/scenario/yaml_write.h"

static const char text[] = "scenario: demo # a remark\n"
                           "about: 'it''s \"so\": a, b'\n"
                           "number: \"12\"\n"
                           "topology: {workers: 3, postgres: {standbys: 1}}\n"
                           "faults:\n"
                           "  - crash: {points: [db.exec, db.sent], for: 20m..90m}\n"
                           "  - pause: {probability: 0.02}\n"
                           "empty: {}\n"
                           "nothing:\n";

static const char written[] = "scenario: demo\n"
                              "about: \"it's \\\"so\\\": a, b\"\n"
                              "number: \"12\"\n"
                              "topology: {workers: 3, postgres: {standbys: 1}}\n"
                              "faults: [{crash: {points: [db.exec, db.sent], for: 20m..90m}}, "
                              "{pause: {probability: 0.02}}]\n"
                              "empty: {}\n"
                              "nothing: null\n";

static char *set(const char *from, const char *assignment)
{
    struct strbuf out = STRBUF_INIT;
    if (!edit_set(from, assignment, &out)) {
        assert_int_equal(out.size, 0);
        return NULL;
    }
    return strbuf_detach(&out);
}

static void assert_text(char *got, const char *expected)
{
    assert_non_null(got);
    assert_string_equal(got, expected);
    free(got);
}

static void test_edit_writes_what_it_has_read(void **state)
{
    (void)state;
    assert_text(set(text, "nothing=null"), written);
    assert_text(set(written, "nothing=null"), written);
}

static void test_edit_breaks_lines_that_are_too_long(void **state)
{
    (void)state;
    char *got = set("a: {b: [1, 2]}\n",
                    "a.c=[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
                    "ccccccccccccccccccccccccccccccccc]");
    char *again = set(got, "d=1");
    assert_string_equal(got, "a:\n"
                             "  b: [1, 2]\n"
                             "  c:\n"
                             "    - aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                             "    - bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
                             "    - ccccccccccccccccccccccccccccccccc\n");
    assert_memory_equal(again, got, strlen(got));
    assert_string_equal(again + strlen(got), "d: 1\n");
    free(got);
    free(again);
}

static void test_edit_sets_values(void **state)
{
    (void)state;
    assert_text(set("topology: {workers: 3}\n", "topology.workers=1"), "topology: {workers: 1}\n");
    assert_null(set("topology: {workers: 3}\n", "topology.workers.x=1"));
    assert_null(set("- a list\n", "a=1"));
    assert_null(set("a: [", "a=1"));
}

static void test_edit_counts_and_removes_entries(void **state)
{
    (void)state;
    static const char lists[] = "faults: [a, b, c]\nworkload: {jobs: [x]}\n";
    struct strbuf out = STRBUF_INIT;
    assert_int_equal(edit_count(lists, "faults"), 3);
    assert_int_equal(edit_count(lists, "workload.jobs"), 1);
    assert_int_equal(edit_count(lists, "workload.clusters"), 0);
    assert_int_equal(edit_count(lists, "workload"), 0);

    assert_true(edit_remove(lists, "faults", 0, &out));
    assert_string_equal(strbuf_str(&out), "faults: [b, c]\nworkload: {jobs: [x]}\n");
    strbuf_clear(&out);
    assert_true(edit_remove(lists, "faults", 2, &out));
    assert_string_equal(strbuf_str(&out), "faults: [a, b]\nworkload: {jobs: [x]}\n");
    strbuf_clear(&out);
    assert_true(edit_remove(lists, "workload.jobs", 0, &out));
    assert_string_equal(strbuf_str(&out), "faults: [a, b, c]\nworkload: {jobs: []}\n");
    strbuf_clear(&out);
    assert_false(edit_remove(lists, "faults", 3, &out));
    assert_false(edit_remove(lists, "gates", 0, &out));
    assert_int_equal(out.size, 0);
    strbuf_release(&out);
}

static void test_edit_writes_choices_that_are_not_zero(void **state)
{
    (void)state;
    uint32_t schedule[] = {0, 3, 0, 1}, slow[] = {0, 0};
    struct scenario_stream streams[] = {{"schedule", schedule, 4}, {"slow", slow, 2}};
    struct strbuf out = STRBUF_INIT;
    assert_true(edit_choices("a: 1\nchoices: {old: {1: 1}}\n", streams, 2, &out));
    assert_string_equal(strbuf_str(&out), "a: 1\nchoices: {schedule: {1: 3, 3: 1}}\n");
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edit_writes_what_it_has_read),
        cmocka_unit_test(test_edit_breaks_lines_that_are_too_long),
        cmocka_unit_test(test_edit_sets_values),
        cmocka_unit_test(test_edit_counts_and_removes_entries),
        cmocka_unit_test(test_edit_writes_choices_that_are_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
