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

/* Ends a change: a control character that no identifier or status contains. */
#define CHANGE_END '\x1e'

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

/* Note the change: the number of its table, what was done, the row, and what the row was before.
 * Whole rows, because the server reads the text of a condition anew for every statement, and that
 * costs more than writing down a few columns that nobody asked for. The value is never null, so
 * that a condition made of this is always false. */
static void put_note(struct strbuf *sql, size_t index, char op)
{
    strbuf_printf(
        sql,
        "pg_catalog.set_config('fencepost.log', pg_catalog.concat("
        "pg_catalog.current_setting('fencepost.log', true), '%zu%c', %s, E'\\x1e'), false)"
        " IS NULL",
        index, op,
        op == 'i'   ? "NEW"
        : op == 'u' ? "NEW, OLD"
                    : "OLD");
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
    put_note(sql, index, op);
    if (has_condition)
        strbuf_puts(sql, " ELSE false END");
    strbuf_puts(sql, ") EXECUTE FUNCTION fencepost.never();\n");
}

/* Where the watched columns stand in a row. */
static enum err find_columns(struct pg_lane *lane, size_t index, struct strbuf *why)
{
    const struct watched_table *table = &lane->watched[index];
    struct watched_shape *shape = &lane->shapes[index];
    const char *columns[WATCHED_COLUMN_COUNT_MAX];
    const char *params[1] = {table->table};
    PGresult *result = control_query(lane,
                                     "SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT "
                                     "attisdropped AND attrelid = ('public.' || $1)::regclass "
                                     "ORDER BY attnum",
                                     params, 1);
    if (!result)
        return ERR_INFRASTRUCTURE;
    shape->column_count = PQntuples(result);
    shape->value_count = column_list(table, columns);
    enum err err = ERR_OK;
    for (int i = 0; i < shape->value_count; i++) {
        int at = 0;
        while (at < shape->column_count && strcmp(PQgetvalue(result, at, 0), columns[i]) != 0)
            at++;
        shape->positions[i] = at;
        if (at == shape->column_count) {
            strbuf_printf(why, "%s has no column %s", table->table, columns[i]);
            err = ERR_DB_SQL;
        }
    }
    PQclear(result);
    return err;
}

enum err watch_install(struct pg_lane *lane, struct strbuf *why)
{
    FP_ASSERT(lane->watched_count <= WATCHED_TABLE_COUNT_MAX);
    for (size_t i = 0; i < lane->watched_count; i++) {
        enum err err = find_columns(lane, i, why);
        if (err != ERR_OK)
            return err;
    }
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

/* ---- reading what was noted ---- */

/* One field of a row as the server writes rows: unquoted it ends at a comma or the closing
 * parenthesis, and nothing at all is null; within quotes a quote or backslash is doubled. The text
 * is made plain in place. */
static char *read_field(char **at)
{
    char *start = *at, *to = start;
    bool quoted = *start == '"';
    if (!quoted) {
        *at += strcspn(start, ",)");
        return *at == start ? NULL : start;
    }
    char *from = start + 1;
    while (*from != '"' || from[1] == '"') {
        FP_ASSERT(*from);
        if (*from == '"' || *from == '\\')
            from++;
        *to++ = *from++;
    }
    *at = from + 1;
    FP_ASSERT(to < *at);
    *to = '\0';
    return start;
}

/* "(a,,"b c")": the watched columns of it. *at is behind the closing parenthesis afterwards. */
static const char *const *read_row(struct arena *arena, const struct watched_shape *shape,
                                   char **at)
{
    const char **values = arena_alloc(arena, (size_t)shape->value_count * sizeof values[0]);
    char delimiter = **at;
    FP_ASSERT(delimiter == '(');
    for (int column = 0; column < shape->column_count; column++) {
        FP_ASSERT(delimiter != ')');
        *at += 1;
        char *field = read_field(at);
        delimiter = **at;
        **at = '\0';
        for (int i = 0; i < shape->value_count; i++)
            if (shape->positions[i] == column)
                values[i] = field;
    }
    FP_ASSERT(delimiter == ')');
    *at += 1;
    return values;
}

static void take_change(struct pg_session *session, char **at)
{
    struct change_buffer *buffer = &session->pending;
    FP_ASSERT(buffer->count < CHANGE_COUNT_MAX);
    size_t index = strtoul(*at, at, 10);
    FP_ASSERT(index < session->lane->watched_count);
    const struct watched_shape *shape = &session->lane->shapes[index];
    struct pg_change *change = &buffer->list[buffer->count++];
    change->table = &session->lane->watched[index];
    change->op = **at;
    *at += 1;
    change->value_count = shape->value_count;
    change->values = read_row(buffer->arena, shape, at);
    change->old = change->op == 'u' ? read_row(buffer->arena, shape, at) : NULL;
    FP_ASSERT(**at == CHANGE_END);
    *at += 1;
}

void watch_take(struct pg_session *session, const char *noted)
{
    if (noted[0] == '\0')
        return;
    struct change_buffer *buffer = &session->pending;
    if (!buffer->arena)
        buffer->arena = arena_new();
    char *at = arena_strdup(buffer->arena, noted);
    while (*at)
        take_change(session, &at);
}
