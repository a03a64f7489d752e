/* The harness's own connection: it looks, wipes and installs, and never takes part. */
#include <poll.h>
#include <stdarg.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/pg/internal.h"

enum err lane_trouble(struct pg_lane *lane, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_clear(&lane->trouble);
    strbuf_puts(&lane->trouble, text);
    return ERR_INFRASTRUCTURE;
}

const char *pg_lane_trouble(const struct pg_lane *lane)
{
    return strbuf_str(&lane->trouble);
}

static enum err control_failed(struct pg_lane *lane)
{
    return lane_trouble(lane, "the control connection failed: %s", PQerrorMessage(lane->control));
}

/* Wait for the next result of the control connection, but not for ever. */
static enum err control_await(struct pg_lane *lane)
{
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS;
    while (PQisBusy(lane->control)) {
        struct pollfd socket = {.fd = PQsocket(lane->control), .events = POLLIN};
        poll(&socket, 1, 1000);
        if (!PQconsumeInput(lane->control))
            return control_failed(lane);
        if (realtime_ns() > deadline_ns)
            return lane_trouble(lane, "the server has not answered the harness for %d s",
                                (int)(PATIENCE_NS / NS_PER_S));
    }
    return ERR_OK;
}

/* The last result of what was sent; the others must be successes. */
static PGresult *control_collect(struct pg_lane *lane)
{
    PGresult *last = NULL;
    bool failed = false;
    for (;;) {
        if (control_await(lane) != ERR_OK) {
            PQclear(last);
            return NULL;
        }
        PGresult *result = PQgetResult(lane->control);
        if (!result)
            break;
        ExecStatusType status = PQresultStatus(result);
        if (!failed && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            failed = true;
            lane_trouble(lane, "%s", PQresultErrorMessage(result));
        }
        PQclear(last);
        last = result;
    }
    if (failed) {
        PQclear(last);
        return NULL;
    }
    if (!last)
        control_failed(lane);
    return last;
}

PGresult *control_query(struct pg_lane *lane, const char *sql, const char *const *params,
                        int param_count)
{
    lane->counts.control_queries++;
    if (!PQsendQueryParams(lane->control, sql, param_count, NULL, params, NULL, NULL, 0)) {
        control_failed(lane);
        return NULL;
    }
    return control_collect(lane);
}

PGresult *control_prepared(struct pg_lane *lane, const char *name, const char *param)
{
    lane->counts.control_queries++;
    const char *params[1] = {param};
    if (!PQsendQueryPrepared(lane->control, name, 1, params, NULL, NULL, 0)) {
        control_failed(lane);
        return NULL;
    }
    return control_collect(lane);
}

enum err control_run(struct pg_lane *lane, const char *sql)
{
    lane->counts.control_queries++;
    if (!PQsendQuery(lane->control, sql))
        return control_failed(lane);
    PGresult *result = control_collect(lane);
    if (!result)
        return ERR_INFRASTRUCTURE;
    PQclear(result);
    return ERR_OK;
}

static void ignore_notice(void *self, const PGresult *notice)
{
    (void)self;
    (void)notice;
}

static enum err control_prepare(struct pg_lane *lane, const char *name, const char *sql)
{
    if (!PQsendPrepare(lane->control, name, sql, 0, NULL))
        return control_failed(lane);
    PGresult *result = control_collect(lane);
    if (!result)
        return ERR_INFRASTRUCTURE;
    PQclear(result);
    return ERR_OK;
}

void control_turn_to(struct pg_lane *lane, int node)
{
    FP_ASSERT(node >= 0 && node <= PG_STANDBY_COUNT_MAX);
    lane->node = node;
    lane->control = lane->nodes[node].control;
    lane->control_pid = lane->nodes[node].control_pid;
}

void control_close(struct pg_lane *lane)
{
    PQfinish(lane->control);
    lane->nodes[lane->node].control = NULL;
    lane->control = NULL;
}

enum err control_open(struct pg_lane *lane)
{
    struct node *node = &lane->nodes[lane->node];
    FP_ASSERT(!node->control);
    node->control = PQconnectdb(pg_server_admin_conninfo(node->server));
    node->control_pid = PQbackendPID(node->control);
    control_turn_to(lane, lane->node);
    if (PQstatus(lane->control) != CONNECTION_OK)
        return control_failed(lane);
    PQsetNoticeReceiver(lane->control, ignore_notice, NULL);
    enum err err =
        control_prepare(lane, "blocking",
                        "SELECT pid, pg_blocking_pids(pid) "
                        "FROM unnest($1::int[]) WITH ORDINALITY AS w(pid, n) ORDER BY n");
    if (err == ERR_OK)
        err = control_prepare(lane, "present", "SELECT 1 FROM pg_stat_get_activity($1::int)");
    return err;
}

enum err pg_lane_query(struct pg_lane *lane, const char *sql, pg_row_visit *visit, void *self)
{
    PGresult *result = control_query(lane, sql, NULL, 0);
    if (!result)
        return ERR_INFRASTRUCTURE;
    int column_count = PQnfields(result);
    FP_ASSERT(column_count <= WATCHED_COLUMN_COUNT_MAX);
    for (int row = 0; visit && row < PQntuples(result); row++) {
        const char *cells[WATCHED_COLUMN_COUNT_MAX];
        for (int column = 0; column < column_count; column++)
            cells[column] =
                PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
        visit(self, cells, column_count);
    }
    PQclear(result);
    return ERR_OK;
}
