#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sim/lint/lint.h"

/* The rules that find something in the text, with a blank after each. */
static const char *found(const char *sql)
{
    static char names[1024];
    struct lint_schema *schema = lint_schema_new();

    lint_read(schema, "a.sql", NULL, sql);
    struct lint_report report = lint_judge(schema);
    names[0] = '\0';
    for (const struct lint_finding *at = report.findings; at != NULL; at = at->next) {
        strncat(names, at->rule, sizeof names - strlen(names) - 1);
        strncat(names, " ", sizeof names - strlen(names) - 1);
    }
    lint_schema_free(schema);
    return names;
}

#define ASSERT_FOUND(sql, rules) assert_string_equal(found(sql), rules)

#define KEYED "CREATE TABLE r (id text PRIMARY KEY, idempotency_key text NOT NULL"

static void test_lint_key_by_index_or_constraint_passes(void **state)
{
    (void)state;
    ASSERT_FOUND(KEYED " UNIQUE)", "");
    ASSERT_FOUND(KEYED ", UNIQUE (idempotency_key))", "");
    ASSERT_FOUND(KEYED ", CONSTRAINT c UNIQUE NULLS NOT DISTINCT (tenant_id, idempotency_key))",
                 "");
    ASSERT_FOUND(KEYED "); CREATE UNIQUE INDEX ON r (idempotency_key)", "");
    ASSERT_FOUND(KEYED "); ALTER TABLE ONLY r ADD CONSTRAINT c UNIQUE (idempotency_key)", "");
    ASSERT_FOUND("CREATE TABLE r (idempotency_key text PRIMARY KEY)", "");
    ASSERT_FOUND("CREATE TABLE r (idempotency_key text, PRIMARY KEY (idempotency_key))", "");
}

static void test_lint_key_that_is_not_unique_is_found(void **state)
{
    (void)state;
    ASSERT_FOUND(KEYED ")", "idempotency-key ");
    ASSERT_FOUND(KEYED "); CREATE INDEX ON r (idempotency_key)", "idempotency-key ");
    ASSERT_FOUND(KEYED "); CREATE UNIQUE INDEX ON s (idempotency_key)", "idempotency-key ");
    ASSERT_FOUND(KEYED "); CREATE UNIQUE INDEX ON r (lower(idempotency_key))", "idempotency-key ");
    ASSERT_FOUND(KEYED "); CREATE UNIQUE INDEX ON r (idempotency_key, created_at)",
                 "idempotency-key ");
    ASSERT_FOUND(KEYED "); CREATE UNIQUE INDEX ON r (idempotency_key) WHERE kind = 'a'",
                 "idempotency-key ");
    ASSERT_FOUND(KEYED "); CREATE UNIQUE INDEX i ON r (idempotency_key); DROP INDEX i",
                 "idempotency-key ");
}

static void test_lint_key_that_may_be_null_is_found(void **state)
{
    (void)state;
    ASSERT_FOUND("CREATE TABLE r (idempotency_key text UNIQUE)", "idempotency-key ");
    ASSERT_FOUND("CREATE TABLE r (idempotency_key text UNIQUE);"
                 "ALTER TABLE r ALTER COLUMN idempotency_key SET NOT NULL",
                 "");
}

#define QUEUE                                                                                      \
    "CREATE TABLE q (id text, status text CHECK (status IN ('PENDING', 'PROCESSING', 'DONE')),"    \
    " created_at timestamptz, updated_at timestamptz);"
#define QUEUE_INDEX "CREATE INDEX ON q (status, created_at) WHERE status IN ('PENDING');"
#define MONITOR_INDEX "CREATE INDEX ON q (status, updated_at) WHERE status IN ('PROCESSING');"
#define INDEXES QUEUE_INDEX MONITOR_INDEX
#define MONITOR                                                                                    \
    "UPDATE q SET status = 'PENDING' WHERE status = 'PROCESSING' AND updated_at < now() - x;"

static void test_lint_indexes_of_a_queue(void **state)
{
    (void)state;
    ASSERT_FOUND(QUEUE INDEXES, "");
    ASSERT_FOUND(QUEUE MONITOR_INDEX, "queue-index ");
    ASSERT_FOUND(QUEUE QUEUE_INDEX, "monitor-index ");
    ASSERT_FOUND(QUEUE "CREATE INDEX ON q (status, created_at)", "");
    ASSERT_FOUND(QUEUE "CREATE INDEX ON q (created_at, status)", "queue-index monitor-index ");
    ASSERT_FOUND(QUEUE "CREATE INDEX ON q (status)", "queue-index monitor-index ");
    ASSERT_FOUND(QUEUE QUEUE_INDEX "CREATE INDEX ON q (updated_at) WHERE status = 'PROCESSING'",
                 "");
    ASSERT_FOUND(QUEUE QUEUE_INDEX "CREATE INDEX ON q (updated_at)", "monitor-index ");
}

static void test_lint_statuses_of_an_enum_count(void **state)
{
    (void)state;
    ASSERT_FOUND("CREATE TYPE s AS ENUM ('READY', 'RUNNING'); CREATE TABLE t (state s)",
                 "queue-index monitor-index ");
    ASSERT_FOUND("CREATE TYPE s AS ENUM ('OPEN', 'CLOSED'); CREATE TABLE t (state s)", "");
}

static void test_lint_table_that_only_waits_is_no_queue(void **state)
{
    (void)state;
    ASSERT_FOUND("CREATE TABLE t (status text CHECK (status IN ('PENDING', 'PAID')))", "");
}

#define FIRST_UPDATE "UPDATE other SET name = 'x';"

static void test_lint_state_without_monitor_is_found_when_statements_are_given(void **state)
{
    (void)state;
    ASSERT_FOUND(QUEUE INDEXES, "");
    ASSERT_FOUND(QUEUE INDEXES FIRST_UPDATE, "no-monitor ");
    ASSERT_FOUND(QUEUE INDEXES FIRST_UPDATE MONITOR, "");
    ASSERT_FOUND(QUEUE INDEXES "UPDATE q SET status = 'DONE' WHERE status = 'PROCESSING'",
                 "no-monitor ");
    ASSERT_FOUND(QUEUE INDEXES "UPDATE q SET status = 'DONE'"
                               " WHERE $1 >= updated_at AND status = ANY ('PROCESSING')",
                 "");
}

static void test_lint_monitor_in_a_function_counts(void **state)
{
    (void)state;
    ASSERT_FOUND(QUEUE INDEXES "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN "
                               "IF true THEN " MONITOR " END IF; END $$;",
                 "");
}

#define CLAIM "UPDATE q SET status = 'PROCESSING' WHERE id = $1 AND status = 'PENDING';"

static void test_lint_time_that_does_not_move_is_found(void **state)
{
    (void)state;
    ASSERT_FOUND(QUEUE INDEXES MONITOR CLAIM, "monitor-clock ");
    ASSERT_FOUND(QUEUE INDEXES MONITOR
                 "UPDATE q SET status = 'PROCESSING', updated_at = now() WHERE status = 'PENDING'",
                 "");
    ASSERT_FOUND(QUEUE INDEXES MONITOR CLAIM
                 "CREATE TRIGGER t BEFORE UPDATE ON q FOR EACH ROW EXECUTE FUNCTION f()",
                 "");
    ASSERT_FOUND(QUEUE INDEXES MONITOR CLAIM
                 "CREATE TRIGGER t AFTER UPDATE ON q FOR EACH ROW EXECUTE FUNCTION f()",
                 "monitor-clock ");
}

static void test_lint_status_set_without_condition_is_found(void **state)
{
    (void)state;
    ASSERT_FOUND("UPDATE t SET status = 'DONE' WHERE id = $1", "unconditional-status ");
    ASSERT_FOUND("UPDATE t SET status = 'DONE'", "unconditional-status ");
    ASSERT_FOUND("UPDATE t SET status = 'DONE' WHERE id = $1 AND status = 'OPEN'", "");
    ASSERT_FOUND("UPDATE t SET status = 'DONE' WHERE id = (SELECT id FROM t WHERE status = 'OPEN')",
                 "");
    ASSERT_FOUND("UPDATE t SET status = $2 WHERE id = $1", "");
}

static void test_lint_increment_of_an_aggregate_is_found(void **state)
{
    (void)state;
    ASSERT_FOUND("UPDATE p SET done_count = done_count + 1", "increment ");
    ASSERT_FOUND("UPDATE p SET done_count = 1 + p.done_count WHERE id = 1", "increment ");
    ASSERT_FOUND("UPDATE p AS x SET total = coalesce(x.total, 0) - $1", "increment ");
    ASSERT_FOUND("UPDATE p SET name = 'x', (a, \"total\") = (1, \"total\" + 1)", "increment ");
    ASSERT_FOUND("INSERT INTO p VALUES (1) ON CONFLICT (id) DO UPDATE SET hits = p.hits + 1",
                 "increment ");
    ASSERT_FOUND("WITH x AS (UPDATE p SET total = total + 1 RETURNING id) SELECT * FROM x",
                 "increment ");
}

static void test_lint_update_is_told_from_for_update_and_has_its_table(void **state)
{
    (void)state;
    struct strbuf out = STRBUF_INIT;
    struct lint_schema *schema = lint_schema_new();
    lint_read(
        schema, "a.sql", NULL,
        "DO $$ BEGIN FOR r IN SELECT id FROM p FOR UPDATE LOOP UPDATE q SET total = total + 1;"
        " END LOOP; END $$;"
        "MERGE INTO m USING n ON true WHEN MATCHED THEN UPDATE SET hits = m.hits + 1");
    struct lint_report report = lint_judge(schema);
    assert_int_equal(report.finding_count, 2);
    lint_put_finding(&out, report.findings);
    lint_put_finding(&out, report.findings->next);
    assert_non_null(strstr(out.text, "increment: q.total is moved on"));
    assert_non_null(strstr(out.text, "increment: m.hits is moved on"));
    strbuf_release(&out);
    lint_schema_free(schema);
}

static void test_lint_what_is_no_increment_passes(void **state)
{
    (void)state;
    ASSERT_FOUND("UPDATE p SET attempt_count = attempt_count + 1, version = version + 1", "");
    ASSERT_FOUND("UPDATE p SET total = (SELECT sum(total) + 1 FROM c)", "");
    ASSERT_FOUND("UPDATE p SET total = other + 1", "");
    ASSERT_FOUND("UPDATE p SET note = 'total = total + 1'", "");
    ASSERT_FOUND("SELECT total + 1 FROM p FOR UPDATE; -- UPDATE p SET total = total + 1", "");
    ASSERT_FOUND("SELECT total FROM p FOR NO KEY UPDATE SKIP LOCKED", "");
    ASSERT_FOUND("GRANT SELECT, UPDATE ON p TO x", "");
    ASSERT_FOUND("CREATE TABLE c (p int REFERENCES p ON UPDATE SET NULL)", "");
}

static void test_lint_names_with_a_schema_are_the_same_table(void **state)
{
    (void)state;
    ASSERT_FOUND("CREATE TABLE public.r (idempotency_key text NOT NULL);"
                 "CREATE UNIQUE INDEX ON r (idempotency_key)",
                 "");
    ASSERT_FOUND("CREATE TABLE a.r (idempotency_key text NOT NULL);"
                 "CREATE UNIQUE INDEX ON b.r (idempotency_key)",
                 "idempotency-key ");
}

static void test_lint_dropped_table_is_forgotten(void **state)
{
    (void)state;
    ASSERT_FOUND(KEYED "); DROP TABLE IF EXISTS s, r CASCADE", "");
}

static void test_lint_places_are_those_of_the_text(void **state)
{
    (void)state;
    struct strbuf out = STRBUF_INIT;
    struct lint_schema *schema = lint_schema_new();
    lint_read(schema, "a.sql", NULL,
              "DO $$\nBEGIN\n  UPDATE p SET x = 1,\n    hits = hits + 1;\nEND $$");
    lint_read(schema, NULL, "stats", "UPDATE stats SET status = 'DONE'");
    struct lint_report report = lint_judge(schema);
    assert_int_equal(report.finding_count, 2);
    lint_put_finding(&out, report.findings);
    lint_put_finding(&out, report.findings->next);
    assert_non_null(strstr(out.text, "stats: unconditional-status: stats becomes DONE"));
    assert_non_null(strstr(out.text, "a.sql:4:5: increment: p.hits is moved on"));
    strbuf_release(&out);
    lint_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lint_key_by_index_or_constraint_passes),
        cmocka_unit_test(test_lint_key_that_is_not_unique_is_found),
        cmocka_unit_test(test_lint_key_that_may_be_null_is_found),
        cmocka_unit_test(test_lint_indexes_of_a_queue),
        cmocka_unit_test(test_lint_statuses_of_an_enum_count),
        cmocka_unit_test(test_lint_table_that_only_waits_is_no_queue),
        cmocka_unit_test(test_lint_state_without_monitor_is_found_when_statements_are_given),
        cmocka_unit_test(test_lint_monitor_in_a_function_counts),
        cmocka_unit_test(test_lint_time_that_does_not_move_is_found),
        cmocka_unit_test(test_lint_status_set_without_condition_is_found),
        cmocka_unit_test(test_lint_increment_of_an_aggregate_is_found),
        cmocka_unit_test(test_lint_update_is_told_from_for_update_and_has_its_table),
        cmocka_unit_test(test_lint_what_is_no_increment_passes),
        cmocka_unit_test(test_lint_names_with_a_schema_are_the_same_table),
        cmocka_unit_test(test_lint_dropped_table_is_forgotten),
        cmocka_unit_test(test_lint_places_are_those_of_the_text),
    };
    return cmocka_run_group_tests_name("lint_rules", tests, NULL, NULL);
}
