/* The indexes that the concurrency standards require: does the planner use them on a table that has
 * filled up? Most rows are over and done with, as in a table that has been in use for a while. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "patterns_sql.h"
#include "tests/lib/pg_fixture.h"

#define PLAN_SIZE_MAX 8192

static char plan[PLAN_SIZE_MAX];

static void run(const char *sql)
{
    if (pg_lane_query(pg_fixture_lane(), sql, NULL, NULL) != ERR_OK)
        fail_msg("%s", sql);
}

static void add_line(void *self, const char *const *cells, int column_count)
{
    (void)self;
    (void)column_count;
    size_t size = strlen(plan);
    snprintf(plan + size, sizeof plan - size, "%s\n", cells[0]);
}

/* The plan of a statement of the strategy, whatever its parameters will be. */
static void explain(const struct rt_sql *sql)
{
    static const char *const arguments[] = {"", "('p1')", "('p1', 'p1')"};
    char text[2048];

    assert_in_range(sql->param_count, 0, FP_COUNT(arguments) - 1);
    snprintf(text, sizeof text, "PREPARE asked AS %s", sql->text);
    run(text);
    plan[0] = '\0';
    snprintf(text, sizeof text, "EXPLAIN EXECUTE asked%s", arguments[sql->param_count]);
    assert_int_equal(pg_lane_query(pg_fixture_lane(), text, add_line, NULL), ERR_OK);
    run("DEALLOCATE asked");
}

static void assert_plan_has(const char *part)
{
    if (!strstr(plan, part))
        fail_msg("no `%s` in:\n%s", part, plan);
}

static void assert_plan_lacks(const char *part)
{
    if (strstr(plan, part))
        fail_msg("`%s` in:\n%s", part, plan);
}

/* With the index the planner uses it; without it, it must read the whole table. */
static void assert_uses(const struct rt_sql *sql, const char *index, const char *table)
{
    char text[128];

    explain(sql);
    assert_plan_has(index);
    snprintf(text, sizeof text, "Seq Scan on %s", table);
    assert_plan_lacks(text);
    run("BEGIN");
    char drop[128];
    snprintf(drop, sizeof drop, "DROP INDEX %s", index);
    run(drop);
    explain(sql);
    run("ROLLBACK");
    assert_plan_has(text);
}

static int fill(void **state)
{
    if (pg_fixture_open(state) != 0)
        return -1;
    pg_fixture_install(patterns_schema_sql, NULL, 0);
    run("INSERT INTO resources (id, idempotency_key, content)"
        " SELECT 'r' || n, 'k' || n, 'thing' FROM generate_series(1, 20000) n");
    run("INSERT INTO parent_records (id) SELECT 'p' || n FROM generate_series(1, 200) n");
    run("INSERT INTO queue_items (id, parent_id, status, takes_ms, created_at, updated_at)"
        " SELECT 'i' || n, 'p' || (n % 200 + 1),"
        " CASE WHEN n % 50 = 0 THEN 'PENDING' WHEN n % 500 = 1 THEN 'PROCESSING'"
        " ELSE 'COMPLETED' END,"
        " 1, timestamptz '2026-01-01' + n * interval '1 s',"
        " timestamptz '2026-01-01' + n * interval '1 s' FROM generate_series(1, 20000) n");
    run("INSERT INTO tasks (id, status, takes_ms, scheduled_at, started_at, updated_at)"
        " SELECT 't' || n, CASE WHEN n % 20 = 0 THEN 'READY' WHEN n % 500 = 1 THEN 'EXECUTING'"
        " ELSE 'COMPLETED' END, 1, timestamptz '2026-01-01' + n * interval '1 s',"
        " timestamptz '2026-01-01', timestamptz '2026-01-01' + n * interval '1 s'"
        " FROM generate_series(1, 20000) n");
    run("ANALYZE");
    return 0;
}

static void test_indexes_create_by_key_uses_its_index(void **state)
{
    (void)state;
    assert_uses(&patterns_find_resource, "idx_resources_idempotency_key", "resources");
}

static void test_indexes_queue_worker_uses_its_index(void **state)
{
    (void)state;
    assert_uses(&patterns_pick_item, "idx_queue_items_status_created", "queue_items");
    assert_uses(&patterns_claim_item, "idx_queue_items_status_created", "queue_items");
}

/* The oldest one first without sorting all of them. */
static void test_indexes_queue_worker_does_not_sort(void **state)
{
    (void)state;
    explain(&patterns_pick_item);
    assert_plan_lacks("Sort");
}

static void test_indexes_monitor_of_items_uses_its_index(void **state)
{
    (void)state;
    assert_uses(&patterns_fail_stuck_items, "idx_queue_items_status_updated", "queue_items");
    assert_uses(&patterns_return_stuck_items, "idx_queue_items_status_updated", "queue_items");
}

static void test_indexes_monitor_of_tasks_uses_its_index(void **state)
{
    (void)state;
    assert_uses(&patterns_return_stuck_tasks, "idx_tasks_status_updated", "tasks");
}

static void test_indexes_task_worker_uses_its_index_and_does_not_sort(void **state)
{
    (void)state;
    assert_uses(&patterns_find_tasks, "idx_tasks_status_scheduled", "tasks");
    explain(&patterns_find_tasks);
    assert_plan_lacks("Sort");
}

static void test_indexes_aggregate_uses_its_index(void **state)
{
    (void)state;
    assert_uses(&patterns_read_metrics, "idx_queue_items_parent", "queue_items");
}

/* What the document's own form gives for tasks: an index by created_at, for a statement that asks
 * for the first ten by scheduled_at. It finds the READY ones, all of them, and sorts. */
static void test_indexes_document_form_for_tasks_sorts_all_that_is_ready(void **state)
{
    (void)state;
    run("BEGIN");
    run("DROP INDEX idx_tasks_status_scheduled");
    run("CREATE INDEX idx_tasks_status_created ON tasks(status, created_at)"
        " WHERE status IN ('PENDING', 'READY')");
    explain(&patterns_find_tasks);
    run("ROLLBACK");
    assert_plan_has("idx_tasks_status_created");
    assert_plan_has("Sort");
    assert_plan_lacks("Index Cond: (((status)::text = 'READY'::text) AND (scheduled_at");
}

/* And for its monitor of tasks: an index by updated_at, for a statement that asks for started_at.
 */
static void test_indexes_document_form_for_monitor_of_tasks_looks_at_all_that_executes(void **state)
{
    (void)state;
    explain(&patterns_fail_stuck_tasks);
    assert_plan_has("idx_tasks_status_updated");
    assert_plan_has("Filter: (started_at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indexes_create_by_key_uses_its_index),
        cmocka_unit_test(test_indexes_queue_worker_uses_its_index),
        cmocka_unit_test(test_indexes_queue_worker_does_not_sort),
        cmocka_unit_test(test_indexes_monitor_of_items_uses_its_index),
        cmocka_unit_test(test_indexes_monitor_of_tasks_uses_its_index),
        cmocka_unit_test(test_indexes_task_worker_uses_its_index_and_does_not_sort),
        cmocka_unit_test(test_indexes_aggregate_uses_its_index),
        cmocka_unit_test(test_indexes_document_form_for_tasks_sorts_all_that_is_ready),
        cmocka_unit_test(
            test_indexes_document_form_for_monitor_of_tasks_looks_at_all_that_executes),
    };
    return cmocka_run_group_tests_name("pattern_indexes", tests, fill, pg_fixture_close);
}
