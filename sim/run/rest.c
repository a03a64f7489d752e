/* Committed changes become events; and from them: is there anything left to do? */
#include <stdio.h>
#include <string.h>

#include "sim/core/duration.h"
#include "sim/run/internal.h"

/* More of them say no more. */
#define DESCRIBED_MESSAGE_COUNT_MAX 8

static int key_count(const struct watched_table *table)
{
    int count = 0;
    while (table->key[count])
        count++;
    return count;
}

static const char *column_name(const struct watched_table *table, int index)
{
    int keys = key_count(table);
    return index < keys ? table->key[index] : table->columns[index - keys];
}

static bool is_pending(const struct watched_table *table, const char *const *values, int count)
{
    if (!table->pending)
        return false;
    if (!table->pending_column)
        return true;
    for (int i = 0; i < count; i++) {
        if (strcmp(column_name(table, i), table->pending_column) != 0)
            continue;
        for (const char *const *word = table->pending_values; *word; word++)
            if (values[i] && strcmp(values[i], *word) == 0)
                return true;
        return false;
    }
    FP_ASSERT(!"a pending column is not among the watched ones");
    return false;
}

static int pending_change(const struct pg_change *change)
{
    bool now = is_pending(change->table, change->values, change->value_count);
    if (change->op == 'i')
        return now;
    if (change->op == 'd')
        return -(int)now;
    return now - is_pending(change->table, change->old, change->value_count);
}

static bool same_value(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *op_name(char op)
{
    return op == 'i' ? "insert" : op == 'u' ? "update" : "delete";
}

static void put_change(struct run *run, const char *who, const struct pg_change *change)
{
    char was[WATCHED_COLUMN_COUNT_MAX][72]; /* keys must live until the event ends */
    struct trace *trace = run->trace;
    FP_ASSERT(change->value_count <= WATCHED_COLUMN_COUNT_MAX);
    trace_begin(trace, "row", who);
    trace_text(trace, "table", change->table->table);
    trace_text(trace, "op", op_name(change->op));
    for (int i = 0; i < change->value_count; i++)
        trace_text(trace, column_name(change->table, i), change->values[i]);
    for (int i = 0; change->old && i < change->value_count; i++) {
        if (same_value(change->values[i], change->old[i]))
            continue;
        snprintf(was[i], sizeof was[i], "was.%s", column_name(change->table, i));
        trace_text(trace, was[i], change->old[i]);
    }
    trace_end(trace);
}

void report_change(struct run *run, const char *who, const struct pg_change *change)
{
    run->pending_count += pending_change(change);
    put_change(run, who, change);
}

void report_changes(struct run *run, const char *who, const struct pg_result *result)
{
    for (int i = 0; i < result->change_count; i++)
        report_change(run, who, &result->changes[i]);
}

bool run_is_at_rest(struct run *run)
{
    struct queue_counts counts;
    queue_count(run->lane->queue, sched_now_ns(run->sched), &counts);
    return run->pending_count == 0 && cloud_running_count(run->lane->cloud) == 0 &&
           service_running_count(run->lane->service) == 0 &&
           counts.visible_count + counts.delayed_count + counts.in_flight_count == 0;
}

/* ---- what a run that does not settle says ---- */

static void put_item(struct strbuf *out)
{
    if (out->size > 0)
        strbuf_puts(out, "; ");
}

static void describe_fiber(void *self, const char *fiber, const char *state, int64_t until_ns)
{
    struct strbuf *out = self;
    char text[DURATION_TEXT_SIZE];
    put_item(out);
    strbuf_printf(out, "%s: %s", fiber, state);
    if (until_ns > 0)
        strbuf_printf(out, " until %s", duration_text(until_ns, text));
}

static void describe_row(void *self, const char *const *cells, int column_count)
{
    struct strbuf *out = self;
    put_item(out);
    for (int i = 0; i < column_count; i++)
        strbuf_printf(out, "%s%s", i ? " " : "", cells[i] ? cells[i] : "null");
}

static void describe_table(struct run *run, const struct watched_table *table, struct strbuf *out)
{
    struct strbuf sql = STRBUF_INIT;
    strbuf_printf(&sql, "SELECT '%s'", table->table);
    for (int i = 0; table->key[i]; i++)
        strbuf_printf(&sql, ", %s::text", table->key[i]);
    if (table->pending_column)
        strbuf_printf(&sql, ", %s::text", table->pending_column);
    strbuf_printf(&sql, " FROM public.%s", table->table);
    if (table->pending_column) {
        strbuf_printf(&sql, " WHERE %s IN (", table->pending_column);
        for (int i = 0; table->pending_values[i]; i++)
            strbuf_printf(&sql, "%s'%s'", i ? ", " : "", table->pending_values[i]);
        strbuf_puts(&sql, ")");
    }
    strbuf_puts(&sql, " ORDER BY 2");
    pg_lane_query(run->lane->pg, sql.text, describe_row, out);
    strbuf_release(&sql);
}

static void describe_queue(struct run *run, struct strbuf *out)
{
    int64_t now_ns = sched_now_ns(run->sched);
    int count = queue_message_count(run->lane->queue, now_ns);
    for (int i = 0; i < count && i < DESCRIBED_MESSAGE_COUNT_MAX; i++) {
        struct queue_view view;
        queue_message(run->lane->queue, now_ns, i, &view);
        put_item(out);
        strbuf_printf(out, "message %s in %s, %s, received %d times", view.body, view.group,
                      queue_state_name(view.state), view.receive_count);
    }
    if (count > DESCRIBED_MESSAGE_COUNT_MAX)
        strbuf_printf(out, "; and %d messages more", count - DESCRIBED_MESSAGE_COUNT_MAX);
}

void describe_pending(struct run *run, struct strbuf *out)
{
    const struct strategy *strategy = run->scenario->strategy;
    for (size_t i = 0; i < strategy->watched_count; i++)
        if (strategy->watched[i].pending)
            describe_table(run, &strategy->watched[i], out);
    describe_queue(run, out);
    sched_each_waiting(run->sched, describe_fiber, out);
}
