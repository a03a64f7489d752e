/* A connection is cut by toxiproxy, which stands between the session and its server.
 *
 * The cut is set off by bytes, never by time, and is certain when the client's end is closed. */
#include <poll.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/pg/internal.h"
#include "sim/pg/route.h"
#include "sim/pg/toxiproxy.h"

static bool is_over(struct pg_session *session)
{
    return !PQconsumeInput(session->conn) || PQstatus(session->conn) != CONNECTION_OK;
}

/* Something arrives: an answer that should have been lost, or the end. */
static bool has_answer(struct pg_session *session)
{
    if (PQisBusy(session->conn))
        return false;
    PGresult *result = PQgetResult(session->conn);
    bool answered = result && PQresultStatus(result) != PGRES_FATAL_ERROR;
    PQclear(result);
    return answered;
}

static enum err await_end(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS, asked_ns = 0;
    while (!is_over(session)) {
        struct pollfd socket = {.fd = PQsocket(session->conn), .events = POLLIN};
        if (has_answer(session))
            return route_trouble(lane, "toxiproxy let through what it should have cut");
        PQflush(session->conn);
        if (poll(&socket, 1, 100) > 0)
            continue;
        if (route_is_dumb(lane, &asked_ns))
            return ERR_INFRASTRUCTURE;
        if (realtime_ns() > deadline_ns)
            return route_trouble(lane, "toxiproxy does not end a connection that it has cut");
    }
    return ERR_OK;
}

static bool send_bytes(struct pg_session *session, const struct rt_sql *sql,
                       const char *const *params)
{
    if (sql &&
        !PQsendQueryParams(session->conn, sql->text, sql->param_count, NULL, params, NULL, NULL, 0))
        return false;
    return PQpipelineSync(session->conn) == 1;
}

static enum err cut(struct pg_session *session, enum pg_break how, const struct rt_sql *sql,
                    const char *const *params, struct strbuf *why)
{
    struct toxiproxy *toxiproxy = session->lane->toxiproxy;
    if (how == PG_BREAK_IDLE) {
        enum err err = toxiproxy_remove(toxiproxy, session->proxy, why);
        session->proxy[0] = '\0';
        return err;
    }
    enum err err = toxiproxy_limit(toxiproxy, session->proxy, how == PG_BREAK_REQUEST, why);
    /* It does not matter when that fails: then it is cut already. */
    if (err == ERR_OK)
        (void)send_bytes(session, how == PG_BREAK_REQUEST ? sql : NULL, params);
    return err;
}

enum err pg_session_break(struct pg_session *session, enum pg_break how, const struct rt_sql *sql,
                          const char *const *params)
{
    struct pg_lane *lane = session->lane;
    struct strbuf why = STRBUF_INIT;
    FP_ASSERT(session->state == SESSION_IDLE);
    FP_ASSERT(how != PG_BREAK_REQUEST || sql);
    if (!lane->toxiproxy)
        return route_trouble(lane, "what stands between the sessions and the server has ended");
    enum err err = cut(session, how, sql, params, &why);
    if (err == ERR_OK)
        err = await_end(session);
    else
        route_trouble(lane, strbuf_str(&why));
    strbuf_release(&why);
    return err;
}
