/* Commits that a failover took back: nobody's statement reports them, so the watched tables are
 * read before and after, and the difference becomes row events. */
#include <stdlib.h>
#include <string.h>

#include "sim/run/internal.h"
#include "sim/run/servers.h"

struct table_rows {
    struct arena *arena;
    size_t table_count;
    struct table {
        const char *const **rows; /* each with the key, then the other columns */
        size_t row_count, row_capacity;
        int key_count, column_count;
    } * tables; /* by index of the strategy's watched ones */
};

static void put_columns(struct strbuf *sql, const char *const *columns, const char *suffix)
{
    for (size_t i = 0; columns[i]; i++)
        strbuf_printf(sql, "%s%s%s", i > 0 ? ", " : "", columns[i], suffix);
}

static void put_query(struct strbuf *sql, const struct watched_table *watched)
{
    strbuf_puts(sql, "SELECT ");
    put_columns(sql, watched->key, "::text");
    if (watched->columns[0])
        strbuf_puts(sql, ", ");
    put_columns(sql, watched->columns, "::text");
    strbuf_printf(sql, " FROM public.%s ORDER BY ", watched->table);
    put_columns(sql, watched->key, "::text COLLATE \"C\"");
}

struct reading {
    struct arena *arena;
    struct table *table;
};

static void take_row(void *self, const char *const *cells, int column_count)
{
    struct reading *reading = self;
    struct table *table = reading->table;
    if (table->row_count == table->row_capacity) {
        table->row_capacity = 2 * table->row_capacity + 16;
        table->rows = fp_realloc(table->rows, table->row_capacity * sizeof table->rows[0]);
    }
    const char **row = arena_alloc(reading->arena, (size_t)column_count * sizeof row[0]);
    for (int i = 0; i < column_count; i++)
        row[i] = cells[i] ? arena_strdup(reading->arena, cells[i]) : NULL;
    table->column_count = column_count;
    table->rows[table->row_count++] = row;
}

static int count_of(const char *const *columns)
{
    int count = 0;
    while (columns[count])
        count++;
    return count;
}

struct table_rows *watched_rows_read(struct run *run)
{
    const struct strategy *strategy = run->scenario->strategy;
    struct table_rows *rows = fp_alloc(sizeof *rows);
    rows->arena = arena_new();
    rows->table_count = strategy->watched_count;
    rows->tables = arena_alloc(rows->arena, (strategy->watched_count + 1) * sizeof rows->tables[0]);
    for (size_t i = 0; i < strategy->watched_count; i++) {
        struct strbuf sql = STRBUF_INIT;
        struct reading reading = {rows->arena, &rows->tables[i]};
        rows->tables[i].key_count = count_of(strategy->watched[i].key);
        put_query(&sql, &strategy->watched[i]);
        if (pg_lane_query(run->lane->pg, sql.text, take_row, &reading) != ERR_OK)
            run_trouble(run, "%s", pg_lane_trouble(run->lane->pg));
        strbuf_release(&sql);
    }
    return rows;
}

void watched_rows_free(struct table_rows *rows)
{
    for (size_t i = 0; i < rows->table_count; i++)
        free(rows->tables[i].rows);
    arena_free(rows->arena);
    free(rows);
}

/* In the order of the query. Keys are never null. */
static int compare(const struct table *table, const char *const *a, const char *const *b)
{
    for (int i = 0; i < table->key_count; i++) {
        int order = strcmp(a[i], b[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

static bool same(const char *const *a, const char *const *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i] && (!a[i] || !b[i] || strcmp(a[i], b[i]) != 0))
            return false;
    return true;
}

static void report(struct run *run, size_t table, const char *const *before,
                   const char *const *after, int column_count)
{
    struct pg_change change = {.table = &run->scenario->strategy->watched[table],
                               .op = !before  ? 'i'
                                     : !after ? 'd'
                                              : 'u',
                               .values = after ? after : before,
                               .old = before && after ? before : NULL,
                               .value_count = column_count};
    report_change(run, "failover", &change);
}

static void report_table(struct run *run, size_t index, const struct table *before,
                         const struct table *after)
{
    size_t b = 0, a = 0;
    while (b < before->row_count || a < after->row_count) {
        int order = b == before->row_count  ? 1
                    : a == after->row_count ? -1
                                            : compare(before, before->rows[b], after->rows[a]);
        const char *const *was = order <= 0 ? before->rows[b++] : NULL;
        const char *const *is = order >= 0 ? after->rows[a++] : NULL;
        int column_count = was ? before->column_count : after->column_count;
        if (!was || !is || !same(was, is, column_count))
            report(run, index, was, is, column_count);
    }
}

void watched_rows_report_lost(struct run *run, const struct table_rows *before)
{
    struct table_rows *after = watched_rows_read(run);
    for (size_t i = 0; i < run->scenario->strategy->watched_count; i++)
        report_table(run, i, &before->tables[i], &after->tables[i]);
    watched_rows_free(after);
}
