/* The watched tables as they are committed, put together from the row events of a run. One for all
 * invariants of the run. */
#ifndef FENCEPOST_ROWS_H
#define FENCEPOST_ROWS_H

#include "sim/core/arena.h"
#include "sim/core/trace.h"
#include "sim/strategy.h"

struct row {
    const struct watched_table *table;
    const char *values[WATCHED_COLUMN_COUNT_MAX]; /* key columns, then the others; NULL: null */
    struct row *next;
};

struct rows;

/* Lives in the arena, as all its rows do. */
struct rows *rows_new(struct arena *arena, const struct strategy *strategy);
/* Take one row event; any other is ignored. */
void rows_event(struct rows *rows, const struct event *event);

/* The rows of a table in the order in which they were inserted; follow `next`. NULL: none. */
const struct row *rows_first(const struct rows *rows, const char *table);
/* The row whose first key column has this value, the first one inserted; NULL: there is none. */
const struct row *rows_find(const struct rows *rows, const char *table, const char *key);
/* "" when it is null. The column must be watched. */
const char *row_text(const struct row *row, const char *column);
const char *row_key(const struct row *row); /* the first key column; "" when null */

/* The table as the strategy watches it; NULL: it does not, or `table` is NULL. */
const struct watched_table *watched_find(const struct strategy *strategy, const char *table);
/* Is that column among those that the strategy watches? False when either name is NULL. */
bool watched_has(const struct strategy *strategy, const char *table, const char *column);

#endif
