#include "sim/check/rows.h"

#include <stdio.h>
#include <string.h>

#define WAS_SIZE_MAX 128

struct table_rows {
    const struct watched_table *table;
    struct row *first;
    struct row **end; /* where the next one goes */
};

struct rows {
    struct arena *arena;
    struct table_rows *tables;
    size_t table_count;
    struct row *spare; /* of deleted rows */
};

const struct watched_table *watched_find(const struct strategy *strategy, const char *table)
{
    for (size_t i = 0; table != NULL && i < strategy->watched_count; i++)
        if (strcmp(strategy->watched[i].table, table) == 0)
            return &strategy->watched[i];
    return NULL;
}

/* Its place among the values of a row; -1: it is not watched. */
static int column_index(const struct watched_table *table, const char *column)
{
    int index = 0;
    for (const char *const *key = table->key; *key != NULL; key++, index++)
        if (strcmp(*key, column) == 0)
            return index;
    for (const char *const *other = table->columns; *other != NULL; other++, index++)
        if (strcmp(*other, column) == 0)
            return index;
    return -1;
}

bool watched_has(const struct strategy *strategy, const char *table, const char *column)
{
    const struct watched_table *watched = watched_find(strategy, table);
    return watched != NULL && column != NULL && column_index(watched, column) >= 0;
}

struct rows *rows_new(struct arena *arena, const struct strategy *strategy)
{
    struct rows *rows = arena_alloc(arena, sizeof *rows);
    rows->arena = arena;
    rows->table_count = strategy->watched_count;
    rows->tables = arena_alloc(arena, (rows->table_count + 1) * sizeof rows->tables[0]);
    for (size_t i = 0; i < rows->table_count; i++) {
        rows->tables[i].table = &strategy->watched[i];
        rows->tables[i].end = &rows->tables[i].first;
    }
    return rows;
}

static struct table_rows *table_of(const struct rows *rows, const char *table)
{
    for (size_t i = 0; i < rows->table_count; i++)
        if (strcmp(rows->tables[i].table->table, table) == 0)
            return &rows->tables[i];
    return NULL;
}

/* ---- changes ---- */

static bool same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return strcmp(a, b) == 0;
}

/* What the column had before this change. A value that was null is given as such only when the
 * event says so, and keys are never null. */
static const char *old_value(const struct event *event, const char *column)
{
    char key[WAS_SIZE_MAX];
    int length = snprintf(key, sizeof key, "was.%s", column);
    FP_ASSERT(length > 0 && (size_t)length < sizeof key);
    const char *was = event_text(event, key);
    return was != NULL ? was : event_text(event, column);
}

static bool is_row_of(const struct row *row, const struct event *event)
{
    for (size_t i = 0; row->table->key[i] != NULL; i++)
        if (!same_text(row->values[i], old_value(event, row->table->key[i])))
            return false;
    return true;
}

static struct row **find_changed(struct table_rows *table, const struct event *event)
{
    struct row **at = &table->first;
    while (*at != NULL && !is_row_of(*at, event))
        at = &(*at)->next;
    return at;
}

static void take_values(struct rows *rows, struct row *row, const struct event *event)
{
    int index = 0;
    const char *const *const lists[] = {row->table->key, row->table->columns};
    for (size_t l = 0; l < FP_COUNT(lists); l++) {
        for (const char *const *column = lists[l]; *column != NULL; column++, index++) {
            FP_ASSERT(index < WATCHED_COLUMN_COUNT_MAX);
            const char *value = event_text(event, *column);
            if (!same_text(row->values[index], value))
                row->values[index] = value != NULL ? arena_strdup(rows->arena, value) : NULL;
        }
    }
}

static void insert(struct rows *rows, struct table_rows *table, const struct event *event)
{
    struct row *row = rows->spare;
    if (row != NULL)
        rows->spare = row->next;
    else
        row = arena_alloc(rows->arena, sizeof *row);
    memset(row, 0, sizeof *row);
    row->table = table->table;
    take_values(rows, row, event);
    *table->end = row;
    table->end = &row->next;
}

static void remove_at(struct rows *rows, struct table_rows *table, struct row **at)
{
    struct row *row = *at;
    *at = row->next;
    if (*at == NULL)
        table->end = at;
    row->next = rows->spare;
    rows->spare = row;
}

void rows_event(struct rows *rows, const struct event *event)
{
    const char *name = event_is(event, "row") ? event_text(event, "table") : NULL;
    struct table_rows *table = name != NULL ? table_of(rows, name) : NULL;
    const char *op = event_text(event, "op");
    if (table == NULL || op == NULL)
        return;
    if (strcmp(op, "insert") == 0) {
        insert(rows, table, event);
        return;
    }
    struct row **at = find_changed(table, event);
    if (*at == NULL)
        return;
    if (strcmp(op, "delete") == 0)
        remove_at(rows, table, at);
    else
        take_values(rows, *at, event);
}

/* ---- reading ---- */

const struct row *rows_first(const struct rows *rows, const char *table)
{
    const struct table_rows *found = table_of(rows, table);
    return found != NULL ? found->first : NULL;
}

const struct row *rows_find(const struct rows *rows, const char *table, const char *key)
{
    for (const struct row *row = rows_first(rows, table); row != NULL; row = row->next)
        if (strcmp(row_key(row), key) == 0)
            return row;
    return NULL;
}

const char *row_text(const struct row *row, const char *column)
{
    int index = column_index(row->table, column);
    FP_ASSERT(index >= 0);
    return row->values[index] != NULL ? row->values[index] : "";
}

const char *row_key(const struct row *row)
{
    return row->values[0] != NULL ? row->values[0] : "";
}
