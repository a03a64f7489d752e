/* The committed changes of watched tables, as the server reports them.
 *
 * A row trigger notes each change in a setting of the session that makes it. A setting is undone
 * with the transaction, so what is noted when a COMMIT is sent is what the transaction has changed.
 * The harness fetches it in the same pipeline, so it learns of a change even when the actor never
 * does. */
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

static void put_report(struct strbuf *sql, size_t index, const char *op,
                       const struct watched_table *table, const char *first, const char *second)
{
    strbuf_printf(sql, "line := pg_catalog.concat_ws(E'\\x1f', '%zu', '%s'", index, op);
    put_values(sql, first, table);
    if (second)
        put_values(sql, second, table);
    strbuf_puts(sql, ");\n");
}

static void put_trigger(struct strbuf *sql, size_t index, const struct watched_table *table)
{
    strbuf_printf(sql,
                  "CREATE FUNCTION fencepost.watch_%zu() RETURNS trigger LANGUAGE plpgsql AS $w$\n"
                  "DECLARE line text;\nBEGIN\nIF TG_OP = 'UPDATE' THEN ",
                  index);
    put_report(sql, index, "u", table, "NEW", "OLD");
    strbuf_puts(sql, "ELSIF TG_OP = 'INSERT' THEN ");
    put_report(sql, index, "i", table, "NEW", NULL);
    strbuf_puts(sql, "ELSE ");
    put_report(sql, index, "d", table, "OLD", NULL);
    /* An assignment, not a PERFORM: plpgsql evaluates it without starting a query. */
    strbuf_puts(sql, "END IF;\n"
                     "line := pg_catalog.set_config('fencepost.log', pg_catalog.concat("
                     "pg_catalog.current_setting('fencepost.log', true), line, E'\\x1e'), false);\n"
                     "RETURN NULL;\nEND $w$;\n");
    strbuf_printf(sql,
                  "CREATE TRIGGER fencepost_rows AFTER INSERT OR DELETE ON public.%s FOR EACH ROW "
                  "EXECUTE FUNCTION fencepost.watch_%zu();\n",
                  table->table, index);
    strbuf_printf(sql,
                  "CREATE TRIGGER fencepost_changes AFTER UPDATE ON public.%s FOR EACH ROW "
                  "WHEN (%s) EXECUTE FUNCTION fencepost.watch_%zu();\n",
                  table->table, table->changed ? table->changed : "true", index);
}

enum err watch_install(struct pg_lane *lane, struct strbuf *why)
{
    struct strbuf sql = STRBUF_INIT;
    for (size_t i = 0; i < lane->watched_count; i++)
        put_trigger(&sql, i, &lane->watched[i]);
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
