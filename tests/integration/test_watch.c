/* Committed changes as the server reports them, and the time that statements are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sim/core/walltext.h"
#include "tests/lib/pg_fixture.h"

static const char *const item_key[] = {"id", NULL};
static const char *const item_columns[] = {"state", "note", NULL};
static const char *const child_key[] = {"id", NULL};
static const char *const no_columns[] = {NULL};
static const struct watched_table watched[] = {
    {.table = "item",
     .key = item_key,
     .columns = item_columns,
     .changed = "OLD.state IS DISTINCT FROM NEW.state"},
    {.table = "child", .key = child_key, .columns = no_columns},
};

/* The watched columns are neither the first nor in the order of the table. */
static const char schema_sql[] =
    "CREATE TABLE item (unwatched integer DEFAULT 7, note varchar(40), id varchar(40) PRIMARY KEY,"
    " made timestamptz DEFAULT now(), state varchar(40));"
    "CREATE TABLE child (id integer PRIMARY KEY,"
    " item varchar(40) REFERENCES item (id) ON DELETE CASCADE)";

static const struct rt_sql begin_sql = {"begin", "BEGIN", 0};
static const struct rt_sql commit_sql = {"commit", "COMMIT", 0};
static const struct rt_sql rollback_sql = {"rollback", "ROLLBACK", 0};
static const struct rt_sql insert_sql = {
    "insert", "INSERT INTO item (id, state, note) VALUES ($1, $2, $3)", 3};
static const struct rt_sql upsert_sql = {
    "upsert", "INSERT INTO item (id, state, note) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
    3};
static const struct rt_sql update_sql = {"update",
                                         "UPDATE item SET state = $2, note = $3 WHERE id = $1", 3};
static const struct rt_sql delete_sql = {"delete", "DELETE FROM item WHERE id = $1", 1};
static const struct rt_sql child_sql = {"child", "INSERT INTO child VALUES (1, $1)", 1};
static const struct rt_sql savepoint_sql = {"savepoint", "SAVEPOINT s", 0};
static const struct rt_sql back_sql = {"back", "ROLLBACK TO SAVEPOINT s", 0};
static const struct rt_sql made_sql = {"made", "SELECT made::text FROM item WHERE id = $1", 1};
static const struct rt_sql now_sql = {"now", "SELECT now()::text", 0};

static int64_t now_ns = VIRTUAL_EPOCH_NS;

static int open_lane(void **state)
{
    if (pg_fixture_open(state) != 0)
        return -1;
    struct strbuf why = STRBUF_INIT;
    struct pg_schema schema = {
        .schema_sql = schema_sql, .watched = watched, .watched_count = FP_COUNT(watched)};
    enum err err = pg_lane_install(pg_fixture_lane(), &schema, &why);
    if (err != ERR_OK)
        print_error("%s\n", strbuf_str(&why));
    strbuf_release(&why);
    return err == ERR_OK ? 0 : -1;
}

static struct pg_session *fresh_session(void)
{
    struct strbuf why = STRBUF_INIT;
    assert_int_equal(pg_lane_slate(pg_fixture_lane(), 1, &why), ERR_OK);
    strbuf_release(&why);
    return pg_session_open(pg_fixture_lane());
}

static const struct pg_result *run(struct pg_session *session, const struct rt_sql *sql,
                                   const char *a, const char *b, const char *c)
{
    const char *params[3] = {a, b, c};
    assert_int_equal(pg_session_send(session, sql, params, now_ns), PG_DONE);
    const struct pg_result *result = pg_session_result(session);
    if (!result->ok)
        fail_msg("%s", result->message);
    return result;
}

static void assert_text(const char *value, const char *expected)
{
    if (!expected)
        assert_null(value);
    else
        assert_string_equal(value, expected);
}

static void assert_change(const struct pg_change *change, char op, const char *id,
                          const char *state, const char *note)
{
    assert_int_equal(change->op, op);
    assert_int_equal(change->value_count, 3);
    assert_text(change->values[0], id);
    assert_text(change->values[1], state);
    assert_text(change->values[2], note);
}

static void test_watch_awkward_values_arrive_as_they_are(void **state)
{
    (void)state;
    static const char *const values[] = {
        "",        " ",      ",",   "\"",       "\\",   "a,b",  "(",         ")",
        "\"quo\"", "a\\\"b", "a b", "\n",       "\x1e", "\x1f", "()\",\\",   "null",
        "\"\"",    "\\\\",   "(,)", "\xc3\xa4", "NULL", "u(1)", "tab\there", "''",
    };
    for (size_t i = 0; i < FP_COUNT(values); i++) {
        struct pg_session *session = fresh_session();
        const struct pg_result *result = run(session, &insert_sql, "k", values[i], NULL);
        assert_int_equal(result->change_count, 1);
        assert_change(&result->changes[0], 'i', "k", values[i], NULL);
        result = run(session, &update_sql, "k", NULL, values[i]);
        assert_int_equal(result->change_count, 1);
        assert_change(&result->changes[0], 'u', "k", NULL, values[i]);
        assert_text(result->changes[0].old[1], values[i]);
        assert_text(result->changes[0].old[2], NULL);
        result = run(session, &delete_sql, "k", NULL, NULL);
        assert_int_equal(result->change_count, 1);
        assert_change(&result->changes[0], 'd', "k", NULL, values[i]);
        pg_session_close(session);
    }
}

static void test_watch_update_that_changes_nothing_watched_is_not_reported(void **state)
{
    (void)state;
    struct pg_session *session = fresh_session();
    run(session, &insert_sql, "k", "one", NULL);
    assert_int_equal(run(session, &update_sql, "k", "one", "other note")->change_count, 0);
    assert_int_equal(run(session, &update_sql, "k", "two", "other note")->change_count, 1);
    assert_int_equal(run(session, &update_sql, "absent", "two", NULL)->change_count, 0);
    assert_int_equal(run(session, &upsert_sql, "k", "three", NULL)->change_count, 0);
    pg_session_close(session);
}

static void test_watch_transaction_is_reported_at_its_commit(void **state)
{
    (void)state;
    struct pg_session *session = fresh_session();
    run(session, &begin_sql, NULL, NULL, NULL);
    assert_int_equal(run(session, &insert_sql, "a", "x", NULL)->change_count, 0);
    run(session, &savepoint_sql, NULL, NULL, NULL);
    assert_int_equal(run(session, &insert_sql, "b", "x", NULL)->change_count, 0);
    run(session, &back_sql, NULL, NULL, NULL);
    assert_int_equal(run(session, &insert_sql, "c", "x", NULL)->change_count, 0);
    const struct pg_result *result = run(session, &commit_sql, NULL, NULL, NULL);
    assert_int_equal(result->change_count, 2);
    assert_change(&result->changes[0], 'i', "a", "x", NULL);
    assert_change(&result->changes[1], 'i', "c", "x", NULL);
    pg_session_close(session);
}

static void test_watch_rolled_back_transaction_is_not_reported(void **state)
{
    (void)state;
    struct pg_session *session = fresh_session();
    run(session, &begin_sql, NULL, NULL, NULL);
    run(session, &insert_sql, "a", "x", NULL);
    assert_int_equal(run(session, &rollback_sql, NULL, NULL, NULL)->change_count, 0);
    const struct pg_result *result = run(session, &insert_sql, "b", "x", NULL);
    assert_int_equal(result->change_count, 1);
    assert_change(&result->changes[0], 'i', "b", "x", NULL);
    pg_session_close(session);
}

static void test_watch_cascade_is_reported(void **state)
{
    (void)state;
    struct pg_session *session = fresh_session();
    run(session, &insert_sql, "a", "x", NULL);
    run(session, &child_sql, "a", NULL, NULL);
    const struct pg_result *result = run(session, &delete_sql, "a", NULL, NULL);
    assert_int_equal(result->change_count, 2);
    assert_string_equal(result->changes[0].table->table, "item");
    assert_string_equal(result->changes[1].table->table, "child");
    pg_session_close(session);
}

static void test_clock_fills_a_default_with_the_time_of_the_statement(void **state)
{
    (void)state;
    struct pg_session *session = fresh_session();
    run(session, &now_sql, NULL, NULL, NULL);
    now_ns = VIRTUAL_EPOCH_NS + 90 * NS_PER_S;
    run(session, &insert_sql, "a", "x", NULL);
    now_ns = VIRTUAL_EPOCH_NS;
    const struct pg_result *result = run(session, &made_sql, "a", NULL, NULL);
    assert_string_equal(rt_cell(&result->rows, 0, 0), "2026-01-01 00:01:30+00");
    pg_session_close(session);
}

static void test_clock_stands_still_within_a_transaction(void **state)
{
    (void)state;
    struct pg_session *session = fresh_session();
    now_ns = VIRTUAL_EPOCH_NS + 1 * NS_PER_S;
    run(session, &begin_sql, NULL, NULL, NULL);
    now_ns = VIRTUAL_EPOCH_NS + 2 * NS_PER_S;
    run(session, &update_sql, "absent", "x", NULL);
    now_ns = VIRTUAL_EPOCH_NS + 3 * NS_PER_S;
    run(session, &insert_sql, "a", "x", NULL);
    const struct pg_result *result = run(session, &now_sql, NULL, NULL, NULL);
    assert_string_equal(rt_cell(&result->rows, 0, 0), "2026-01-01 00:00:01+00");
    run(session, &commit_sql, NULL, NULL, NULL);
    result = run(session, &now_sql, NULL, NULL, NULL);
    assert_string_equal(rt_cell(&result->rows, 0, 0), "2026-01-01 00:00:03+00");
    now_ns = VIRTUAL_EPOCH_NS;
    result = run(session, &made_sql, "a", NULL, NULL);
    assert_string_equal(rt_cell(&result->rows, 0, 0), "2026-01-01 00:00:01+00");
    pg_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watch_awkward_values_arrive_as_they_are),
        cmocka_unit_test(test_watch_update_that_changes_nothing_watched_is_not_reported),
        cmocka_unit_test(test_watch_transaction_is_reported_at_its_commit),
        cmocka_unit_test(test_watch_rolled_back_transaction_is_not_reported),
        cmocka_unit_test(test_watch_cascade_is_reported),
        cmocka_unit_test(test_clock_fills_a_default_with_the_time_of_the_statement),
        cmocka_unit_test(test_clock_stands_still_within_a_transaction),
    };
    return cmocka_run_group_tests(tests, open_lane, pg_fixture_close);
}
