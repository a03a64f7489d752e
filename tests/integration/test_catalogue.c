/* Lint of a database: what its catalogue has, read back as SQL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "patterns_sql.h"
#include "sim/lint/lint.h"
#include "sim/pg/catalogue.h"
#include "tests/lib/pg_fixture.h"

static struct lint_schema *schema;
static struct lint_report report;

static void take(void *self, const char *object, const char *sql)
{
    (void)self;
    lint_read(schema, NULL, arena_strdup(schema->arena, object), sql);
}

static void read_database(const char *schema_sql)
{
    struct strbuf why = STRBUF_INIT;

    pg_fixture_install(schema_sql, NULL, 0);
    schema = lint_schema_new();
    if (pg_catalogue_read(pg_fixture_dsn(), take, NULL, &why) != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    strbuf_release(&why);
    report = lint_judge(schema);
}

static bool has_finding(const char *rule, const char *object, const char *part)
{
    for (const struct lint_finding *at = report.findings; at != NULL; at = at->next)
        if (strcmp(at->rule, rule) == 0 && strcmp(at->place.object, object) == 0 &&
            strstr(at->what, part) != NULL)
            return true;
    return false;
}

static int forget(void **state)
{
    (void)state;
    lint_schema_free(schema);
    schema = NULL;
    return 0;
}

static void test_catalogue_of_the_hardened_schema_has_nothing_to_find(void **state)
{
    (void)state;
    read_database(patterns_schema_sql);
    for (const struct lint_finding *at = report.findings; at != NULL; at = at->next)
        fail_msg("%s: %s: %s", at->place.object, at->rule, at->what);
    assert_non_null(lint_table_find(schema, "queue_items"));
    assert_true(lint_table_find(schema, "queue_items")->has_trigger);
    assert_false(report.has_statements);
}

static const char bad_sql[] =
    "CREATE TYPE task_state AS ENUM ('READY', 'EXECUTING');"
    "CREATE TABLE \"Orders\" (id integer, idempotency_key text);"
    "CREATE INDEX \"Orders_key\" ON \"Orders\" (idempotency_key);"
    "CREATE TABLE tasks (id integer, state task_state, created_at timestamptz);"
    "CREATE TABLE items (id integer, status text CHECK (status IN ('PENDING', 'PROCESSING')),"
    " updated_at timestamptz);"
    "CREATE INDEX ON items (status, updated_at) WHERE status IN ('PROCESSING');"
    "CREATE FUNCTION bump() RETURNS void LANGUAGE plpgsql AS $$ BEGIN "
    "UPDATE totals SET item_count = item_count + 1; END $$;";

static void test_catalogue_of_a_bad_schema_is_found_by_its_names(void **state)
{
    (void)state;
    read_database(bad_sql);
    assert_true(has_finding("idempotency-key", "Orders", "is not unique"));
    assert_true(has_finding("idempotency-key", "Orders", "may be null"));
    assert_true(has_finding("queue-index", "tasks", "READY"));
    assert_true(has_finding("monitor-index", "tasks", "EXECUTING"));
    assert_true(has_finding("queue-index", "items", "PENDING"));
    assert_false(has_finding("monitor-index", "items", "PROCESSING"));
    assert_true(has_finding("increment", "bump", "totals.item_count"));
}

/* The command, as a user calls it. */
static int run_lint(const char *dsn, char *out, size_t size)
{
    char command[1024];

    const char *bin = getenv("FENCEPOST_BIN");
    assert_non_null(bin);
    snprintf(command, sizeof command, "%s lint \"%s\" 2>/dev/null", bin, dsn);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    out[fread(out, 1, size - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_catalogue_command_exits_as_it_finds(void **state)
{
    (void)state;
    char out[4096];
    pg_fixture_install(patterns_schema_sql, NULL, 0);
    assert_int_equal(run_lint(pg_fixture_dsn(), out, sizeof out), EXIT_PASS);
    pg_fixture_install(bad_sql, NULL, 0);
    assert_int_equal(run_lint(pg_fixture_dsn(), out, sizeof out), EXIT_VIOLATION);
    assert_non_null(strstr(out, "Orders: idempotency-key: "));
    assert_int_equal(run_lint("host=/nonexistent dbname=x", out, sizeof out), EXIT_INFRASTRUCTURE);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_catalogue_of_the_hardened_schema_has_nothing_to_find,
                                  forget),
        cmocka_unit_test_teardown(test_catalogue_of_a_bad_schema_is_found_by_its_names, forget),
        cmocka_unit_test(test_catalogue_command_exits_as_it_finds),
    };
    return cmocka_run_group_tests_name("catalogue", tests, pg_fixture_open, pg_fixture_close);
}
