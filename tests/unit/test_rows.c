#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/check/rows.h"

static const char *const key[] = {"id", "of", NULL};
static const char *const columns[] = {"status", NULL};
static const struct watched_table watched[] = {{.table = "t", .key = key, .columns = columns},
                                               {.table = "u", .key = key, .columns = columns}};
static const struct strategy strategy = {.watched = watched, .watched_count = FP_COUNT(watched)};

static struct arena *arena;
static struct trace *trace;
static struct rows *rows;

static void take(void *self, const struct event *event)
{
    rows_event(self, event);
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    rows = rows_new(arena, &strategy);
    trace = trace_new();
    trace_observe(trace, take, rows);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    trace_free(trace);
    arena_free(arena);
    return 0;
}

static void change(const char *op, const char *id, const char *of, const char *status)
{
    trace_event(trace, "row", "w", "table", "t", "op", op, "id", id, "of", of, "status", status,
                NULL);
}

static int count(void)
{
    int found_count = 0;
    for (const struct row *row = rows_first(rows, "t"); row; row = row->next)
        found_count++;
    return found_count;
}

static void test_rows_are_kept_in_the_order_of_insertion(void **state)
{
    (void)state;
    change("insert", "b", "1", "X");
    change("insert", "a", "1", "Y");
    change("insert", "b", "2", NULL);
    const struct row *row = rows_first(rows, "t");
    assert_string_equal(row_key(row), "b");
    assert_string_equal(row_key(row->next), "a");
    assert_string_equal(row_text(row->next->next, "of"), "2");
    assert_string_equal(row_text(row->next->next, "status"), "");
    assert_string_equal(row_text(rows_find(rows, "t", "a"), "status"), "Y");
    assert_null(rows_find(rows, "t", "c"));
    assert_null(rows_first(rows, "u"));
    assert_null(rows_first(rows, "unknown"));
}

static void test_rows_change_is_of_the_whole_key(void **state)
{
    (void)state;
    change("insert", "a", "1", "X");
    change("insert", "a", "2", "X");
    change("update", "a", "2", "Y");
    assert_string_equal(row_text(rows_first(rows, "t"), "status"), "X");
    assert_string_equal(row_text(rows_first(rows, "t")->next, "status"), "Y");
}

static void test_rows_changed_key_finds_the_old_one(void **state)
{
    (void)state;
    change("insert", "a", "1", "X");
    trace_event(trace, "row", "w", "table", "t", "op", "update", "id", "a", "of", "9", "status",
                "X", "was.of", "1", NULL);
    assert_int_equal(count(), 1);
    assert_string_equal(row_text(rows_first(rows, "t"), "of"), "9");
}

static void test_rows_deleted_is_gone_and_the_last_can_be_followed(void **state)
{
    (void)state;
    change("insert", "a", "1", "X");
    change("insert", "b", "1", "X");
    change("delete", "b", "1", "X");
    change("insert", "c", "1", "X");
    change("delete", "a", "1", "X");
    assert_int_equal(count(), 1);
    assert_string_equal(row_key(rows_first(rows, "t")), "c");
    change("delete", "c", "1", "X");
    change("delete", "c", "1", "X");
    assert_int_equal(count(), 0);
}

static void test_rows_other_events_are_ignored(void **state)
{
    (void)state;
    trace_event(trace, "db.exec", "w", "table", "t", "op", "insert", "id", "a", NULL);
    trace_event(trace, "row", "w", "table", "other", "op", "insert", "id", "a", NULL);
    assert_int_equal(count(), 0);
}

static void test_rows_watched_columns_are_known(void **state)
{
    (void)state;
    assert_true(watched_has(&strategy, "t", "of"));
    assert_true(watched_has(&strategy, "u", "status"));
    assert_false(watched_has(&strategy, "t", "other"));
    assert_false(watched_has(&strategy, "t", NULL));
    assert_false(watched_has(&strategy, NULL, "id"));
    assert_null(watched_find(&strategy, "v"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_rows_are_kept_in_the_order_of_insertion),
        TEST(test_rows_change_is_of_the_whole_key),
        TEST(test_rows_changed_key_finds_the_old_one),
        TEST(test_rows_deleted_is_gone_and_the_last_can_be_followed),
        TEST(test_rows_other_events_are_ignored),
        TEST(test_rows_watched_columns_are_known),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
