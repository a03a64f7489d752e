/* The lock table as a fault sees it: its rows, and how they vanish. Done by the harness's own
 * connection, which must never wait for an actor: it leaves alone what one has locked. */
#include <stdio.h>
#include <string.h>

#include "sim/run/internal.h"
#include "sim/run/servers.h"

#define LOCK_ROW_COUNT_MAX 256
#define PLACE_SIZE_MAX 32

/* Where the rows are: valid until the table is next changed. */
struct places {
    char list[LOCK_ROW_COUNT_MAX][PLACE_SIZE_MAX];
    int count;
};

struct loss {
    struct run *run;
    const char *who;
    const struct watched_table *table;
};

static const struct watched_table *lock_table(const struct run *run)
{
    const struct strategy *strategy = run->scenario->strategy;
    for (size_t i = 0; strategy->lock.table && i < strategy->watched_count; i++)
        if (strcmp(strategy->watched[i].table, strategy->lock.table) == 0)
            return &strategy->watched[i];
    return NULL;
}

static void put_columns(struct strbuf *sql, const char *const *columns, const char *format)
{
    for (size_t i = 0; columns[i]; i++) {
        strbuf_puts(sql, i > 0 ? ", " : "");
        strbuf_printf(sql, "%s%s", columns[i], format);
    }
}

static void take_place(void *self, const char *const *cells, int column_count)
{
    struct places *places = self;
    FP_ASSERT(column_count == 1);
    FP_ASSERT(places->count < LOCK_ROW_COUNT_MAX);
    snprintf(places->list[places->count++], PLACE_SIZE_MAX, "%s", cells[0]);
}

static void query(struct run *run, const char *sql, pg_row_visit *visit, void *self)
{
    if (pg_lane_query(run->lane->pg, sql, visit, self) != ERR_OK)
        run_trouble(run, "%s", pg_lane_trouble(run->lane->pg));
}

/* In the order of their keys: the order on the disk is nobody's business. */
static void find_places(struct run *run, const struct watched_table *table, struct places *places)
{
    struct strbuf sql = STRBUF_INIT;
    places->count = 0;
    strbuf_puts(&sql, "SELECT place FROM (SELECT ctid::text AS place, ");
    put_columns(&sql, table->key, "");
    strbuf_printf(&sql, " FROM public.%s FOR UPDATE SKIP LOCKED) AS found ORDER BY ", table->table);
    put_columns(&sql, table->key, "");
    query(run, sql.text, take_place, places);
    strbuf_release(&sql);
}

int lock_rows_count(struct run *run)
{
    const struct watched_table *table = lock_table(run);
    struct places places = {.count = 0};
    if (table)
        find_places(run, table, &places);
    return places.count;
}

static void report_gone(void *self, const char *const *cells, int column_count)
{
    const struct loss *loss = self;
    struct pg_change change = {
        .table = loss->table, .op = 'd', .values = cells, .value_count = column_count};
    report_change(loss->run, loss->who, &change);
}

static void put_delete(struct strbuf *sql, const struct watched_table *table,
                       const struct places *places, int index)
{
    strbuf_printf(sql, "WITH gone AS (DELETE FROM public.%s WHERE ctid IN (", table->table);
    for (int i = 0; i < places->count; i++)
        if (index < 0 || i == index)
            strbuf_printf(sql, "%s'%s'", index < 0 && i > 0 ? ", " : "", places->list[i]);
    strbuf_puts(sql, ") RETURNING ");
    put_columns(sql, table->key, "::text");
    if (table->columns[0])
        strbuf_puts(sql, ", ");
    put_columns(sql, table->columns, "::text");
    strbuf_puts(sql, ") SELECT * FROM gone ORDER BY ");
    put_columns(sql, table->key, "");
}

void lock_rows_lose(struct run *run, const char *who, int index)
{
    const struct watched_table *table = lock_table(run);
    struct strbuf sql = STRBUF_INIT;
    struct places places;
    FP_ASSERT(table);
    find_places(run, table, &places);
    FP_ASSERT(index < places.count);
    if (places.count == 0)
        return;
    put_delete(&sql, table, &places, index);
    struct loss loss = {.run = run, .who = who, .table = table};
    query(run, sql.text, report_gone, &loss);
    /* The watch has noted it in the harness's own session, where nobody reads it. */
    query(run, "SELECT pg_catalog.set_config('fencepost.log', '', false)", NULL, NULL);
    servers_committed(run);
    strbuf_release(&sql);
}
