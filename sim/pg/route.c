#include "sim/pg/route.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/pg/internal.h"
#include "sim/pg/pooler.h"
#include "sim/pg/toxiproxy.h"

#define START_ATTEMPT_COUNT 3
/* How long a statement may be silent before what is between is asked whether it lives. */
#define DUMB_AFTER_NS (2 * NS_PER_S)

static bool is_straight(const struct pg_lane *lane)
{
    return !lane->wants_toxiproxy && lane->wanted_pool_size == 0;
}

static void stop_all(struct pg_lane *lane)
{
    toxiproxy_stop(lane->toxiproxy);
    pooler_stop(lane->pooler);
    lane->toxiproxy = NULL;
    lane->pooler = NULL;
}

void route_close(struct pg_lane *lane)
{
    stop_all(lane);
}

/* The server comes back with another port, and asks for the password that is set here. */
static enum err open_tcp(struct pg_lane *lane, struct strbuf *why)
{
    control_close(lane);
    enum err err = pg_server_listen(lane->server, why);
    if (err != ERR_OK)
        return err;
    char sql[96];
    snprintf(sql, sizeof sql, "ALTER ROLE fencepost PASSWORD '%s'",
             pg_server_beside(lane->server)->password);
    err = control_open(lane);
    if (err == ERR_OK)
        err = control_run(lane, sql);
    if (err != ERR_OK)
        strbuf_puts(why, pg_lane_trouble(lane));
    return err;
}

static enum err start_once(struct pg_lane *lane, struct strbuf *why)
{
    const struct pg_beside *beside = pg_server_beside(lane->server);
    if (lane->wants_toxiproxy)
        return toxiproxy_start(beside, &lane->toxiproxy, why);
    return pooler_start(beside, lane->wanted_pool_size, &lane->pooler, why);
}

/* It may be killed while it starts as well as later. */
static enum err start(struct pg_lane *lane, struct strbuf *why)
{
    enum err err = ERR_INFRASTRUCTURE;
    for (int attempt = 0; attempt < START_ATTEMPT_COUNT && err != ERR_OK; attempt++) {
        strbuf_clear(why);
        err = start_once(lane, why);
    }
    return err;
}

enum err route_install(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why)
{
    FP_ASSERT(!schema->toxiproxy || schema->pool_size == 0);
    FP_ASSERT(schema->gate_count == 0 || schema->pool_size == 0);
    bool same =
        lane->wants_toxiproxy == schema->toxiproxy && lane->wanted_pool_size == schema->pool_size;
    lane->wants_toxiproxy = schema->toxiproxy;
    lane->wanted_pool_size = schema->pool_size;
    if (!same)
        stop_all(lane);
    enum err err = ERR_OK;
    if (!is_straight(lane) && !pg_server_beside(lane->server)) {
        strbuf_puts(why, "toxiproxy and pgbouncer can only stand before a server whose files "
                         "are on this machine");
        return ERR_INFRASTRUCTURE;
    }
    if (schema->pool_size > 0 && (schema->standby_count > 0 || schema->crashes)) {
        strbuf_puts(why, "pgbouncer stands before one server that stays: no standbys, no fault "
                         "that kills it");
        return ERR_INFRASTRUCTURE;
    }
    if (schema->toxiproxy && !pg_server_beside(lane->server)->password)
        err = open_tcp(lane, why);
    return err == ERR_OK ? route_ready(lane, why) : err;
}

static bool lives(struct pg_lane *lane)
{
    return (lane->toxiproxy && toxiproxy_lives(lane->toxiproxy)) ||
           (lane->pooler && pooler_lives(lane->pooler));
}

static bool is_well(struct pg_lane *lane)
{
    return (lane->toxiproxy && toxiproxy_is_well(lane->toxiproxy)) ||
           (lane->pooler && pooler_is_well(lane->pooler));
}

static void discard_free(struct pg_lane *lane)
{
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        if (lane->sessions[i].state == SESSION_FREE)
            pool_discard(&lane->sessions[i]);
}

static enum err wait_empty(struct pg_lane *lane)
{
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS;
    for (;;) {
        PGresult *result = control_query(
            lane, "SELECT 1 FROM pg_stat_activity WHERE usename = 'fencepost' LIMIT 1", NULL, 0);
        if (!result)
            return ERR_INFRASTRUCTURE;
        bool empty = PQntuples(result) == 0;
        PQclear(result);
        if (empty)
            return ERR_OK;
        if (realtime_ns() > deadline_ns)
            return lane_trouble(lane, "the pooler's connections do not leave the server");
        realtime_sleep_ns(50 * NS_PER_US);
    }
}

enum err route_ready(struct pg_lane *lane, struct strbuf *why)
{
    struct strbuf ignored = STRBUF_INIT;
    if (is_straight(lane))
        return ERR_OK;
    bool good = lives(lane);
    if (good && lane->pooler)
        good = pooler_empty(lane->pooler, &ignored) == ERR_OK;
    strbuf_release(&ignored);
    enum err err = ERR_OK;
    if (!good) {
        stop_all(lane);
        discard_free(lane);
        err = start(lane, why);
    }
    if (err == ERR_OK && lane->pooler && wait_empty(lane) != ERR_OK) {
        strbuf_puts(why, pg_lane_trouble(lane));
        err = ERR_INFRASTRUCTURE;
    }
    return err;
}

void route_spoil(struct pg_lane *lane)
{
    if (is_straight(lane))
        return;
    lane->spoilt = true;
    /* Its end is also the end of every connection through it, so nobody waits for one. */
    stop_all(lane);
}

enum err route_trouble(struct pg_lane *lane, const char *why)
{
    route_spoil(lane);
    return lane_trouble(lane, "%s", why);
}

/* ---- one session's ---- */

static char *proxied_conninfo(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    const struct pg_beside *beside = pg_server_beside(lane->nodes[session->node].server);
    struct strbuf why = STRBUF_INIT;
    const char *host;
    int port;
    char *conninfo = NULL;
    if (toxiproxy_add(lane->toxiproxy, beside->port, session->proxy, &host, &port, &why) ==
        ERR_OK) {
        char *base = pg_make_conninfo(host, port, "fencepost");
        conninfo = fp_format("%s password=%s connect_timeout=10", base, beside->password);
        free(base);
    } else {
        session->proxy[0] = '\0';
        route_trouble(lane, strbuf_str(&why));
    }
    strbuf_release(&why);
    return conninfo;
}

char *route_conninfo(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    if (lane->toxiproxy)
        return proxied_conninfo(session);
    if (lane->pooler)
        return pooler_conninfo(lane->pooler, session->slot);
    if (is_straight(lane))
        return fp_strdup(pg_server_conninfo(lane->nodes[session->node].server));
    route_trouble(lane, "what stands between the sessions and the server has ended");
    return NULL;
}

void route_forget(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    if (!session->proxy[0])
        return;
    struct strbuf why = STRBUF_INIT;
    if (lane->toxiproxy && toxiproxy_remove(lane->toxiproxy, session->proxy, &why) != ERR_OK)
        route_trouble(lane, strbuf_str(&why));
    session->proxy[0] = '\0';
    strbuf_release(&why);
}

enum pg_answer route_lost(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    if (is_straight(lane) || is_well(lane))
        return PG_LOST;
    route_trouble(lane, "what stands between the sessions and the server has ended");
    return PG_TROUBLE;
}

bool route_is_dumb(struct pg_lane *lane, int64_t *asked_ns)
{
    if (is_straight(lane))
        return false;
    int64_t now_ns = realtime_ns();
    if (*asked_ns == 0)
        *asked_ns = now_ns;
    if (now_ns - *asked_ns < DUMB_AFTER_NS)
        return false;
    *asked_ns = now_ns;
    if (is_well(lane))
        return false;
    route_trouble(lane, "what stands between the sessions and the server does not answer");
    return true;
}

/* ---- with a pooler ---- */

/* The pooler tells the server the name of the session that it serves; the name stays when the
 * connection is idle again, so only those in use count. */
enum err route_locate(struct pg_lane *lane)
{
    if (!lane->pooler)
        return ERR_OK;
    PGresult *result =
        control_query(lane,
                      "SELECT pid, substr(application_name, 2)::int FROM pg_stat_activity "
                      "WHERE usename = 'fencepost' AND state <> 'idle' "
                      "AND application_name ~ '^s[0-9]{1,4}$'",
                      NULL, 0);
    if (!result)
        return ERR_INFRASTRUCTURE;
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        lane->sessions[i].pid = 0;
    for (int row = 0; row < PQntuples(result); row++) {
        int slot = atoi(PQgetvalue(result, row, 1));
        FP_ASSERT(slot < SESSION_COUNT_MAX);
        int pid = atoi(PQgetvalue(result, row, 0));
        lane->sessions[slot].pid = pid;
        lane->sessions[slot].signal_pid = pg_server_signal_pid(lane->server, pid);
    }
    PQclear(result);
    return ERR_OK;
}

static bool holds_connection(const struct pg_session *session)
{
    return session->in_transaction || session->state == SESSION_BLOCKED ||
           session->state == SESSION_BUSY;
}

bool route_is_exhausted(const struct pg_session *session)
{
    const struct pg_lane *lane = session->lane;
    int count = 0;
    if (!lane->pooler || session->in_transaction)
        return false;
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        count += &lane->sessions[i] != session && holds_connection(&lane->sessions[i]);
    return count >= pooler_size(lane->pooler);
}

/* Behind a pooler only what is in use goes with its session. */
enum err route_wait_gone(struct pg_session *session, int pid)
{
    struct pg_lane *lane = session->lane;
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS;
    if (is_straight(lane) || lane->wants_toxiproxy)
        return park_wait_gone(lane, session->node, pid);
    while (lane->pooler) {
        if (route_locate(lane) != ERR_OK)
            return ERR_INFRASTRUCTURE;
        if (session->pid == 0)
            return ERR_OK;
        if (realtime_ns() > deadline_ns)
            return lane_trouble(lane, "the pooler does not end a connection that was cut");
        realtime_sleep_ns(50 * NS_PER_US);
    }
    return ERR_OK;
}
