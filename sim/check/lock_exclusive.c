/* Verifies: at no committed state does the strategy's lock table hold two live locks for one
 * resource. A row is live while its `until_column` is later than the database's clock; without
 * such a column a row is a lock as long as it exists.
 *
 * Does not verify: that the holder of a lock knows of it, or acts within it; states that were
 * never committed; locks that are not rows (advisory locks). */
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/core/walltext.h"

#define ROW_KEY_COUNT_MAX 8

struct lock_row {
    struct lock_row *next;
    const char *key[ROW_KEY_COUNT_MAX]; /* as the watched table's key columns */
    const char *resource;
    const char *about; /* "job_id j1, locked_by worker-1.1" */
    int64_t until_ns;  /* INT64_MAX: as long as it exists */
};

struct lock_exclusive {
    const struct watched_table *table;
    struct lock_row *rows;
    /* The changes of one commit come one by one, all in one step. They are judged together. */
    bool is_dirty;
    struct event last; /* step and time of the latest change alone; its pointers are not kept */
};

static const struct watched_table *lock_table(const struct strategy *strategy)
{
    for (size_t i = 0; strategy->lock.table != NULL && i < strategy->watched_count; i++)
        if (strcmp(strategy->watched[i].table, strategy->lock.table) == 0)
            return &strategy->watched[i];
    return NULL;
}

static bool lock_exclusive_applies(const struct strategy *strategy)
{
    return lock_table(strategy) != NULL;
}

static bool same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return strcmp(a, b) == 0;
}

/* The value that the column had before this change. */
static const char *old_value(const struct event *event, const char *column)
{
    char key[128];
    int length = snprintf(key, sizeof key, "was.%s", column);
    FP_ASSERT(length > 0 && (size_t)length < sizeof key);
    const char *was = event_text(event, key);
    return was != NULL ? was : event_text(event, column);
}

static bool row_matches(const struct lock_row *row, const struct watched_table *table,
                        const struct event *event)
{
    for (size_t i = 0; table->key[i] != NULL; i++) {
        FP_ASSERT(i < ROW_KEY_COUNT_MAX);
        if (!same_text(row->key[i], old_value(event, table->key[i])))
            return false;
    }
    return true;
}

static void row_remove(struct lock_exclusive *state, const struct event *event)
{
    for (struct lock_row **at = &state->rows; *at; at = &(*at)->next) {
        if (row_matches(*at, state->table, event)) {
            *at = (*at)->next;
            return;
        }
    }
}

/* False: the timestamp cannot be read. */
static bool read_until(const struct lock_view *view, const struct event *event, int64_t *until_ns)
{
    *until_ns = INT64_MAX;
    if (view->until_column == NULL)
        return true;
    const char *text = event_text(event, view->until_column);
    if (text == NULL || strcmp(text, "infinity") == 0)
        return true;
    return walltext_parse(text, until_ns);
}

/* What a reader wants to know of a lock: the columns besides its resource and its end. */
static const char *describe(struct check *check, const struct watched_table *table,
                            const struct event *event)
{
    const struct lock_view *view = &check_setup(check)->strategy->lock;
    const char *const *const lists[] = {table->key, table->columns};
    const char *text = "";

    for (size_t l = 0; l < FP_COUNT(lists); l++) {
        for (const char *const *column = lists[l]; *column != NULL; column++) {
            const char *value = event_text(event, *column);
            if (value == NULL || strcmp(*column, view->resource_column) == 0 ||
                (view->until_column && strcmp(*column, view->until_column) == 0))
                continue;
            text = arena_printf(check_arena(check), "%s%s%s %s", text, *text ? ", " : "", *column,
                                value);
        }
    }
    return text;
}

static void row_add(struct check *check, const struct event *event)
{
    struct lock_exclusive *state = check_state(check);
    const struct lock_view *view = &check_setup(check)->strategy->lock;
    struct arena *arena = check_arena(check);
    const char *resource = event_text(event, view->resource_column);
    struct lock_row *row = arena_alloc(arena, sizeof *row);

    if (resource == NULL || !read_until(view, event, &row->until_ns)) {
        check_unknown(check, event, "a lock that cannot be read: %s", event->line);
        return;
    }
    for (size_t i = 0; state->table->key[i] != NULL; i++) {
        FP_ASSERT(i < ROW_KEY_COUNT_MAX);
        const char *value = event_text(event, state->table->key[i]);
        row->key[i] = value != NULL ? arena_strdup(arena, value) : NULL;
    }
    row->resource = arena_strdup(arena, resource);
    row->about = describe(check, state->table, event);
    row->next = state->rows;
    state->rows = row;
}

static void judge(struct check *check)
{
    struct lock_exclusive *state = check_state(check);
    if (!state->is_dirty)
        return;
    state->is_dirty = false;
    int64_t db_now_ns = check_db_ns(check_setup(check), state->last.t_ns);
    for (const struct lock_row *a = state->rows; a; a = a->next) {
        for (const struct lock_row *b = a->next; b && a->until_ns > db_now_ns; b = b->next) {
            if (b->until_ns > db_now_ns && strcmp(a->resource, b->resource) == 0) {
                check_fail(check, &state->last, "two live locks on %s at %s: {%s} and {%s}",
                           a->resource, check_time_text(check, state->last.t_ns), b->about,
                           a->about);
                return;
            }
        }
    }
}

static void take_change(struct check *check, const struct event *event)
{
    struct lock_exclusive *state = check_state(check);
    const char *op = event_text(event, "op");

    if (op == NULL || strcmp(op, "insert") != 0)
        row_remove(state, event);
    if (op == NULL || strcmp(op, "delete") != 0)
        row_add(check, event);
    state->is_dirty = true;
    state->last.step = event->step;
    state->last.t_ns = event->t_ns;
}

static void lock_exclusive_event(struct check *check, const struct event *event)
{
    struct lock_exclusive *state = check_state(check);

    if (state->table == NULL) {
        state->table = lock_table(check_setup(check)->strategy);
        FP_ASSERT(state->table != NULL);
    }
    bool is_row = event_is(event, "row");
    if (!is_row || event->step != state->last.step)
        judge(check);
    const char *table = is_row ? event_text(event, "table") : NULL;
    if (table != NULL && strcmp(table, state->table->table) == 0)
        take_change(check, event);
}

static void lock_exclusive_end(struct check *check, const struct check_end *end)
{
    (void)end;
    judge(check);
}

const struct invariant invariant_lock_exclusive = {
    .name = "lock_exclusive",
    .verifies = "at no committed state are there two live locks for one resource",
    .does_not_verify = "that a holder knows of its lock or acts within it; locks that are not rows",
    .state_size = sizeof(struct lock_exclusive),
    .applies = lock_exclusive_applies,
    .event = lock_exclusive_event,
    .end = lock_exclusive_end,
};
