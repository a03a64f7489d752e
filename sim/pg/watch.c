/* The committed changes of watched tables, as the server reports them.
 *
 * The condition of a row trigger notes each change in a setting of the session that makes it, and
 * is always false: built-in functions do all of it, and no function of ours is ever called. A
 * setting is undone with the transaction, so what is noted when a COMMIT is sent is what the
 * transaction has changed. The harness fetches it in the same pipeline, so it learns of a change
 * even when the actor never does. */
#include <stdlib.h>
#include <string.h>

#include "sim/pg/internal.h"

/* Between changes, between values, and for null: control characters that no identifier or status
 * contains. */
#define CHANGE_SEPARATOR '\x1e'
#define VALUE_SEPARATOR '\x1f'
#define VALUE_NULL "\x1d"

const struct rt_sql watch_drain_sql = {"drain",
                                       "SELECT pg_catalog.current_setting('fencepost.log', true), "
                                       "pg_catalog.set_config('fencepost.log', '', false)",
                                       0};

static int column_list(const struct watched_table *table, const char **out)
{
    int count = 0;
    for (const char *const *key = table->key; *key; key++) {
        FP_ASSERT(count < WATCHED_COLUMN_COUNT_MAX);
        out[count++] = *key;
    }
    for (const char *const *column = table->columns; *column; column++) {
        FP_ASSERT(count < WATCHED_COLUMN_COUNT_MAX);
        out[count++] = *column;
    }
    return count;
}

static void put_values(struct strbuf *sql, const char *record, const struct watched_table *table)
{
    const char *columns[WATCHED_COLUMN_COUNT_MAX];
    int count = column_list(table, columns);
    for (int i = 0; i < count; i++)
        strbuf_printf(sql, ", coalesce(%s.%s::text, E'\\x1d')", record, columns[i]);
}

/* Note the change. The value is never null, so that a condition made of this is always false. */
static void put_note(struct strbuf *sql, size_t index, char op, const struct watched_table *table)
{
    strbuf_printf(sql,
                  "pg_catalog.set_config('fencepost.log', pg_catalog.concat("
                  "pg_catalog.current_setting('fencepost.log', true), pg_catalog.concat_ws("
                  "E'\\x1f', '%zu', '%c'",
                  index, op);
    put_values(sql, op == 'd' ? "OLD" : "NEW", table);
    if (op == 'u')
        put_values(sql, "OLD", table);
    strbuf_puts(sql, "), E'\\x1e'), false) IS NULL");
}

static void put_trigger(struct strbuf *sql, size_t index, char op,
                        const struct watched_table *table)
{
    const char *event = op == 'i' ? "INSERT" : op == 'u' ? "UPDATE" : "DELETE";
    bool has_condition = op == 'u' && table->changed;
    strbuf_printf(sql, "CREATE TRIGGER fencepost_%c AFTER %s ON public.%s FOR EACH ROW WHEN (", op,
                  event, table->table);
    if (has_condition)
        strbuf_printf(sql, "CASE WHEN %s THEN ", table->changed);
    put_note(sql, index, op, table);
    if (has_condition)
        strbuf_puts(sql, " ELSE false END");
    strbuf_puts(sql, ") EXECUTE FUNCTION fencepost.never();\n");
}

enum err watch_install(struct pg_lane *lane, struct strbuf *why)
{
    struct strbuf sql = STRBUF_INIT;
    for (size_t i = 0; i < lane->watched_count; i++)
        for (const char *op = "iud"; *op; op++)
            put_trigger(&sql, i, *op, &lane->watched[i]);
    enum err err = sql.size ? control_run(lane, sql.text) : ERR_OK;
    strbuf_release(&sql);
    if (err == ERR_OK)
        return ERR_OK;
    strbuf_printf(why, "watched tables: %s", pg_lane_trouble(lane));
    return ERR_DB_SQL;
}

void change_buffer_clear(struct change_buffer *buffer)
{
    if (buffer->count == 0)
        return;
    arena_free(buffer->arena);
    buffer->arena = NULL;
    buffer->count = 0;
}

/* The next piece of the text, terminated in place; NULL at the end. */
static char *next_piece(char **at, char separator)
{
    char *start = *at;
    if (!start)
        return NULL;
    char *end = strchr(start, separator);
    if (end)
        *end = '\0';
    *at = end ? end + 1 : NULL;
    return start;
}

static const char *const *read_values(struct arena *arena, char **at, int count)
{
    const char **values = arena_alloc(arena, (size_t)count * sizeof values[0]);
    for (int i = 0; i < count; i++) {
        const char *value = next_piece(at, VALUE_SEPARATOR);
        FP_ASSERT(value);
        values[i] = strcmp(value, VALUE_NULL) == 0 ? NULL : value;
    }
    return values;
}

static void take_change(struct pg_session *session, char *at)
{
    struct change_buffer *buffer = &session->pending;
    FP_ASSERT(buffer->count < CHANGE_COUNT_MAX);
    size_t index = (size_t)atoi(next_piece(&at, VALUE_SEPARATOR));
    FP_ASSERT(index < session->lane->watched_count);
    struct pg_change *change = &buffer->list[buffer->count++];
    change->table = &session->lane->watched[index];
    change->op = next_piece(&at, VALUE_SEPARATOR)[0];
    const char *columns[WATCHED_COLUMN_COUNT_MAX];
    change->value_count = column_list(change->table, columns);
    change->values = read_values(buffer->arena, &at, change->value_count);
    change->old = NULL;
    if (change->op == 'u')
        change->old = read_values(buffer->arena, &at, change->value_count);
    FP_ASSERT(at == NULL);
}

void watch_take(struct pg_session *session, const char *noted)
{
    if (noted[0] == '\0')
        return;
    struct change_buffer *buffer = &session->pending;
    if (!buffer->arena)
        buffer->arena = arena_new();
    char *at = arena_strdup(buffer->arena, noted);
    for (;;) {
        char *change = next_piece(&at, CHANGE_SEPARATOR);
        /* Each ends with a separator, so behind the last there is nothing. */
        if (!at)
            return;
        take_change(session, change);
    }
}
