/* Connections are made once and used by one simulated session after the other. What a session
 * leaves behind is discarded by the server itself, so that the next one finds it as new. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sim/pg/internal.h"
#include "sim/pg/route.h"

/* Nothing is known of the server's side any more. */
static void session_forget_all(struct pg_session *session)
{
    memset(session->prepared, 0, sizeof session->prepared);
    session->clock_sent_ns = -1;
    session->left = LEAVES_NOTHING;
}

static void session_forget(struct pg_session *session)
{
    session->in_transaction = false;
    session->holds_session_locks = false;
    session->wrote = false;
    session->cancel_next = false;
    session->ended = false;
    session->transaction_failed = false;
    session->transaction_time_sent = false;
    session->granted = false;
    session->deadlocked = false;
    session->data = NULL;
    PQclear(session->answer);
    session->answer = NULL;
    change_buffer_clear(&session->pending);
    change_buffer_clear(&session->committed);
}

/* Notices are for people at a terminal. */
static void ignore_notice(void *self, const PGresult *notice)
{
    (void)self;
    (void)notice;
}

/* A waiter that could not be stopped would make the run another than the seed's. */
static bool find_process(struct pg_lane *lane, struct pg_session *session)
{
    session->signal_pid = pg_server_signal_pid(lane->nodes[session->node].server, session->pid);
    if (session->signal_pid > 0)
        return true;
    lane_trouble(lane, "the process of a new session is not to be found");
    PQfinish(session->conn);
    session->conn = NULL;
    return false;
}

enum err pool_connect(struct pg_lane *lane, struct pg_session *session)
{
    FP_ASSERT(session->state == SESSION_GONE);
    lane->counts.connects++;
    char *conninfo = route_conninfo(session);
    if (!conninfo)
        return ERR_INFRASTRUCTURE;
    session->conn = PQconnectdb(conninfo);
    free(conninfo);
    if (PQstatus(session->conn) != CONNECTION_OK) {
        if (route_lost(session) == PG_LOST)
            lane_trouble(lane, "no session could be opened: %s", PQerrorMessage(session->conn));
        PQfinish(session->conn);
        session->conn = NULL;
        route_forget(session);
        return ERR_INFRASTRUCTURE;
    }
    session->pid = lane->pooler ? 0 : PQbackendPID(session->conn);
    if (!lane->pooler && pg_server_can_signal(lane->server) && !find_process(lane, session))
        return ERR_INFRASTRUCTURE;
    PQsetErrorVerbosity(session->conn, PQERRORS_TERSE);
    PQsetErrorContextVisibility(session->conn, PQSHOW_CONTEXT_NEVER);
    PQsetNoticeReceiver(session->conn, ignore_notice, NULL);
    int piped = PQsetnonblocking(session->conn, 1) == 0 && PQenterPipelineMode(session->conn);
    FP_ASSERT(piped);
    session->gate_held = false;
    session_forget_all(session);
    session_forget(session);
    session->state = SESSION_FREE;
    return ERR_OK;
}

void pool_forget(struct pg_session *session)
{
    PQfinish(session->conn);
    session->conn = NULL;
    session_forget(session);
    session->state = SESSION_GONE;
    route_forget(session);
    session->gate_held = false;
}

/* Forget the connection; the server may or may not have noticed. */
static void pool_drop(struct pg_session *session)
{
    bool gate_held = session->gate_held;
    pool_forget(session);
    if (!gate_held)
        return;
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT pg_advisory_unlock(%d, %d)", GATE_CLASS, session->pid);
    control_run(session->lane, sql);
}

void pool_discard(struct pg_session *session)
{
    FP_ASSERT(session->state == SESSION_IDLE || session->state == SESSION_FREE);
    int pid = session->pid;
    /* A cut, not a farewell: the server sees the end of the stream and nothing else. */
    shutdown(PQsocket(session->conn), SHUT_RDWR);
    park_stir(session);
    pool_drop(session);
    route_wait_gone(session, pid);
}

static bool run_plain(struct pg_session *session, const char *sql)
{
    static const struct rt_sql plain_sql = {"plain", "", 0};
    static const struct statement plain = {.sql = &plain_sql};
    session->statement = &plain;
    session->sent[0] = (struct sent){SENT_STATEMENT, &plain};
    session->sent_count = 1;
    session->received_count = 0;
    session->state = SESSION_BUSY;
    PQclear(session->answer);
    session->answer = NULL;
    bool ok = PQsendQueryParams(session->conn, sql, 0, NULL, NULL, NULL, NULL, 0) &&
              PQpipelineSync(session->conn) && session_wait_answer(session) && session->result.ok;
    session->state = SESSION_IDLE;
    return ok;
}

void pool_reset(struct pg_session *session)
{
    const char *reset = sql_of_reset(session->left);
    FP_ASSERT(session->state == SESSION_IDLE);
    bool ok = PQstatus(session->conn) == CONNECTION_OK && !session->ended;
    if (ok && session->in_transaction)
        ok = run_plain(session, "ROLLBACK");
    /* What is prepared may stay: its plans end with the next clean slate, as every table does, so a
     * new one would be made alike. Preparing it all again would cost more than the statements. */
    /* Behind a pooler there is no session to reset: what was left is with somebody else's. */
    if (ok && reset && session->lane->wanted_pool_size == 0)
        ok = run_plain(session, reset);
    if (!ok) {
        pool_discard(session);
        return;
    }
    if (session->left == LEAVES_ANYTHING)
        session_forget_all(session);
    session->left = LEAVES_NOTHING;
    session_forget(session);
    session->state = SESSION_FREE;
}

/* A statement that still waits is cancelled; whatever it answers, the session is then idle. */
static void cancel(struct pg_session *session)
{
    administer_signal(session, false);
    if (session->state == SESSION_BLOCKED)
        park_continue(session);
    session->state = SESSION_BUSY;
    session_wait_answer(session);
    session->state = SESSION_IDLE;
}

void pool_drain(struct pg_lane *lane)
{
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        struct pg_session *session = &lane->sessions[i];
        if (session->state == SESSION_BLOCKED || session->state == SESSION_AT_GATE)
            cancel(session);
    }
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        if (lane->sessions[i].state == SESSION_IDLE)
            pool_reset(&lane->sessions[i]);
}

/* Whose turn it is among those that nobody uses. A session keeps the plans it has made since the
 * clean slate, so those used since then come first, in the order of their use and not of their
 * slots, which depend on what earlier seeds have left. All others are as new. */
static struct pg_session *pool_pick(struct pg_lane *lane, int node)
{
    struct pg_session *used = NULL, *unused = NULL, *gone = NULL;
    for (int i = SESSION_COUNT_MAX - 1; i >= 0; i--) {
        struct pg_session *session = &lane->sessions[i];
        if (session->state == SESSION_GONE)
            gone = session;
        if (session->state != SESSION_FREE || session->node != node)
            continue;
        if (session->opened_sequence == 0)
            unused = session;
        else if (!used || session->opened_sequence < used->opened_sequence)
            used = session;
    }
    return used ? used : unused ? unused : gone;
}

static struct pg_session *open_on(struct pg_lane *lane, int node)
{
    struct pg_session *found = pool_pick(lane, node);
    if (!found) {
        lane_trouble(lane, "more than %d sessions at once", SESSION_COUNT_MAX);
        return NULL;
    }
    if (found->state == SESSION_GONE)
        found->node = node;
    if (found->state == SESSION_GONE && pool_connect(lane, found) != ERR_OK)
        return NULL;
    if (gate_close(found) != ERR_OK)
        return NULL;
    found->opened_sequence = ++lane->opened_sequence;
    found->state = SESSION_IDLE;
    if (lane->tape)
        tape_open(lane->tape, found->slot);
    return found;
}

struct pg_session *pg_session_open(struct pg_lane *lane)
{
    return open_on(lane, 0);
}

struct pg_session *pg_session_open_standby(struct pg_lane *lane)
{
    FP_ASSERT(lane->nodes[1].control);
    return open_on(lane, 1);
}

void pg_session_close(struct pg_session *session)
{
    FP_ASSERT(session->state == SESSION_IDLE);
    park_stir(session);
    if (session->lane->tape)
        tape_close(session->lane->tape, session->slot);
    pool_reset(session);
}

void pg_session_cut(struct pg_session *session)
{
    if (session->lane->tape)
        tape_cut(session->lane->tape, session->slot);
    pool_discard(session);
}
