/* The committed changes of watched tables, as the server reports them.
 *
 * A row trigger sends each change as a message to the session that makes it. The harness reads the
 * wire, so it learns of a change even when the actor never does. A message counts once its
 * transaction has committed. */
#include <stdlib.h>
#include <string.h>

#include "sim/pg/internal.h"

/* Between values, and for null: control characters that no identifier or status contains. */
#define VALUE_SEPARATOR '\x1f'
#define VALUE_NULL "\x1d"
#define CHANGE_PREFIX "fencepost\x1f"

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
    strbuf_printf(sql, "RAISE INFO '%%', pg_catalog.concat_ws(E'\\x1f', 'fencepost', '%zu', '%s'",
                  index, op);
    put_values(sql, first, table);
    if (second)
        put_values(sql, second, table);
    strbuf_puts(sql, ");\n");
}

static void put_trigger(struct strbuf *sql, size_t index, const struct watched_table *table)
{
    strbuf_printf(sql,
                  "CREATE FUNCTION fencepost.watch_%zu() RETURNS trigger LANGUAGE plpgsql AS $w$\n"
                  "BEGIN\nIF TG_OP = 'UPDATE' THEN ",
                  index);
    put_report(sql, index, "u", table, "NEW", "OLD");
    strbuf_puts(sql, "ELSIF TG_OP = 'INSERT' THEN ");
    put_report(sql, index, "i", table, "NEW", NULL);
    strbuf_puts(sql, "ELSE ");
    put_report(sql, index, "d", table, "OLD", NULL);
    strbuf_puts(sql, "END IF;\nRETURN NULL;\nEND $w$;\n");
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

/* The next value of the message, terminated in place; NULL at the end. */
static char *next_value(char **at)
{
    char *start = *at;
    if (!start)
        return NULL;
    char *end = strchr(start, VALUE_SEPARATOR);
    if (end)
        *end = '\0';
    *at = end ? end + 1 : NULL;
    return start;
}

static const char *const *read_values(struct arena *arena, char **at, int count)
{
    const char **values = arena_alloc(arena, (size_t)count * sizeof values[0]);
    for (int i = 0; i < count; i++) {
        const char *value = next_value(at);
        FP_ASSERT(value);
        values[i] = strcmp(value, VALUE_NULL) == 0 ? NULL : value;
    }
    return values;
}

static void take_change(struct pg_session *session, const char *message)
{
    struct change_buffer *buffer = &session->pending;
    FP_ASSERT(buffer->count < CHANGE_COUNT_MAX);
    if (!buffer->arena)
        buffer->arena = arena_new();
    char *at = arena_strdup(buffer->arena, message + strlen(CHANGE_PREFIX));
    size_t index = (size_t)atoi(next_value(&at));
    FP_ASSERT(index < session->lane->watched_count);
    struct pg_change *change = &buffer->list[buffer->count++];
    change->table = &session->lane->watched[index];
    change->op = next_value(&at)[0];
    const char *columns[WATCHED_COLUMN_COUNT_MAX];
    change->value_count = column_list(change->table, columns);
    change->values = read_values(buffer->arena, &at, change->value_count);
    change->old = NULL;
    if (change->op == 'u')
        change->old = read_values(buffer->arena, &at, change->value_count);
    FP_ASSERT(at == NULL);
}

static void receive_notice(void *self, const PGresult *notice)
{
    const char *message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    if (message && strncmp(message, CHANGE_PREFIX, strlen(CHANGE_PREFIX)) == 0)
        take_change(self, message);
}

void watch_attach(struct pg_session *session)
{
    PQsetNoticeReceiver(session->conn, receive_notice, session);
}
