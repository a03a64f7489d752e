/* Who waits for whom. A waiter is stopped as soon as it is known to wait, so that it is the
 * scheduler and not a race inside the server that says who goes on when a lock is let go.
 *
 * A backend in a lock wait holds no lightweight lock, so stopping it hurts nobody. What it waits
 * for cannot change while nobody else moves: "blocked" is certain when it is seen. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/pg/internal.h"
#include "sim/pg/route.h"

/* A waiter must be stopped well before its deadlock_timeout runs out; past this share of it, it may
 * have looked for a deadlock on its own account. */
#define PARK_SHARE_MAX_PERCENT 60

static struct pg_session *session_of_pid(struct pg_lane *lane, int pid)
{
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        struct pg_session *session = &lane->sessions[i];
        if (session->state != SESSION_GONE && session->node == lane->node && session->pid == pid)
            return session;
    }
    return NULL;
}

/* The server names a blocker once for each lock it holds. */
static void add_blocker(struct pg_session *session, int slot)
{
    for (int i = 0; i < session->blocker_count; i++)
        if (session->blockers[i] == slot)
            return;
    FP_ASSERT((size_t)session->blocker_count < FP_COUNT(session->blockers));
    session->blockers[session->blocker_count++] = slot;
}

/* "{12,34}" into the session's blockers. False when somebody unknown blocks it. */
static bool read_blockers(struct pg_session *session, const char *array)
{
    session->blocker_count = 0;
    const char *at = array + 1;
    while (*at && *at != '}') {
        char *end;
        int pid = (int)strtol(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
        struct pg_session *blocker = session_of_pid(session->lane, pid);
        if (blocker)
            add_blocker(session, blocker->slot);
        else if (pid == session->lane->control_pid)
            add_blocker(session, BLOCKER_HARNESS);
        else if (session->lane->pooler)
            add_blocker(session, BLOCKER_POOL);
        else
            return false;
    }
    return true;
}

static bool waits_for_harness(const struct pg_session *session)
{
    for (int i = 0; i < session->blocker_count; i++)
        if (session->blockers[i] == BLOCKER_HARNESS)
            return true;
    return false;
}

enum err park_ask(struct pg_session *session, bool *blocked, bool *at_gate)
{
    char pids[24];
    *blocked = *at_gate = false;
    if (route_locate(session->lane) != ERR_OK)
        return ERR_INFRASTRUCTURE;
    if (session->pid == 0)
        return ERR_OK; /* the pooler has not passed it on yet */
    snprintf(pids, sizeof pids, "{%d}", session->pid);
    control_turn_to(session->lane, session->node);
    PGresult *result = control_prepared(session->lane, "blocking", pids);
    bool known = result && read_blockers(session, PQgetvalue(result, 0, 1));
    control_turn_to(session->lane, 0);
    if (!result)
        return ERR_INFRASTRUCTURE;
    PQclear(result);
    if (!known)
        return lane_trouble(session->lane, "a session is blocked by somebody who is not ours");
    *blocked = session->blocker_count > 0;
    *at_gate = *blocked && waits_for_harness(session);
    return ERR_OK;
}

static bool waited_too_long(const struct pg_session *session)
{
    int64_t waited_ns = realtime_ns() - session->wait_began_ns;
    int64_t timeout_ns = session->lane->deadlock_timeout_ms * NS_PER_MS;
    return waited_ns > timeout_ns * PARK_SHARE_MAX_PERCENT / 100;
}

static void spoil(struct pg_lane *lane)
{
    lane->spoilt = true;
    lane_trouble(lane, "the machine is too busy to stop a waiting session in time");
}

void park_missed(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    if (lane->parking && !session->is_victim && waited_too_long(session))
        spoil(lane);
}

void park_stop(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    FP_ASSERT(session->state == SESSION_BUSY);
    session->state = SESSION_BLOCKED;
    session->granted = false;
    lane->blocked_count++;
    lane->counts.parked++;
    lane->stirred = true;
    if (!lane->parking)
        return;
    int stopped = kill(session->signal_pid, SIGSTOP);
    FP_ASSERT(stopped == 0);
    if (waited_too_long(session))
        spoil(lane);
}

void park_continue(struct pg_session *session)
{
    FP_ASSERT(session->state == SESSION_BLOCKED);
    session->state = SESSION_BUSY;
    session->lane->blocked_count--;
    session->lane->stirred = true;
    session->wait_began_ns = realtime_ns();
    if (session->lane->parking)
        kill(session->signal_pid, SIGCONT);
}

/* Those on the server that is being asked. */
static void list_blocked(struct pg_lane *lane, struct strbuf *pids)
{
    strbuf_putc(pids, '{');
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        if (lane->sessions[i].state != SESSION_BLOCKED || lane->sessions[i].node != lane->node)
            continue;
        if (pids->size > 1)
            strbuf_putc(pids, ',');
        strbuf_int(pids, lane->sessions[i].pid);
    }
    strbuf_putc(pids, '}');
}

/* Is `from` reachable from itself along "waits for"? Marks avoid going in circles elsewhere. */
static bool waits_for_itself(const struct pg_lane *lane, int from)
{
    bool seen[SESSION_COUNT_MAX] = {false};
    int stack[SESSION_COUNT_MAX];
    int depth = 0;
    stack[depth++] = from;
    while (depth > 0) {
        const struct pg_session *session = &lane->sessions[stack[--depth]];
        if (session->state != SESSION_BLOCKED)
            continue;
        for (int i = 0; i < session->blocker_count; i++) {
            int next = session->blockers[i];
            if (next == from)
                return true;
            if (next < 0 || seen[next])
                continue;
            seen[next] = true;
            stack[depth++] = next;
        }
    }
    return false;
}

static enum err review_node(struct pg_lane *lane)
{
    struct strbuf pids = STRBUF_INIT;
    if (route_locate(lane) != ERR_OK)
        return ERR_INFRASTRUCTURE;
    list_blocked(lane, &pids);
    PGresult *result = control_prepared(lane, "blocking", strbuf_str(&pids));
    strbuf_release(&pids);
    if (!result)
        return ERR_INFRASTRUCTURE;
    enum err err = ERR_OK;
    for (int row = 0; row < PQntuples(result); row++) {
        struct pg_session *session = session_of_pid(lane, atoi(PQgetvalue(result, row, 0)));
        FP_ASSERT(session && session->state == SESSION_BLOCKED);
        if (!read_blockers(session, PQgetvalue(result, row, 1)))
            err = lane_trouble(lane, "a session is blocked by somebody who is not ours");
        session->granted = session->blocker_count == 0;
    }
    PQclear(result);
    return err;
}

enum err park_review(struct pg_lane *lane)
{
    enum err err = review_node(lane);
    for (int node = 1; node <= lane->standby_count && err == ERR_OK; node++) {
        if (!lane->nodes[node].control)
            continue;
        control_turn_to(lane, node);
        err = review_node(lane);
        control_turn_to(lane, 0);
    }
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        struct pg_session *session = &lane->sessions[i];
        if (session->state == SESSION_BLOCKED)
            session->deadlocked = !session->granted && waits_for_itself(lane, i);
    }
    return err;
}

/* A waiter's fate is in the hands of those it waits for: only when one of them has done something,
 * or the set of waiters itself has changed, is there anything new to see. */
void park_stir(struct pg_session *session)
{
    struct pg_lane *lane = session->lane;
    if (lane->blocked_count == 0)
        return;
    /* Behind a pooler any session may have the connection that somebody waits for. */
    if (lane->pooler)
        lane->stirred = true;
    for (int i = 0; i < SESSION_COUNT_MAX && !lane->stirred; i++) {
        const struct pg_session *waiter = &lane->sessions[i];
        if (waiter->state != SESSION_BLOCKED)
            continue;
        for (int b = 0; b < waiter->blocker_count; b++)
            if (waiter->blockers[b] == session->slot)
                lane->stirred = true;
    }
}

enum err pg_lane_settle(struct pg_lane *lane)
{
    if (lane->blocked_count == 0 || !lane->stirred)
        return ERR_OK;
    lane->stirred = false;
    return park_review(lane);
}

static enum err wait_gone(struct pg_lane *lane, int pid)
{
    char text[16];
    snprintf(text, sizeof text, "%d", pid);
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS;
    for (;;) {
        PGresult *result = control_prepared(lane, "present", text);
        if (!result)
            return ERR_INFRASTRUCTURE;
        bool present = PQntuples(result) > 0;
        PQclear(result);
        if (!present)
            return ERR_OK;
        if (realtime_ns() > deadline_ns)
            return lane_trouble(lane, "a closed session does not leave the server");
        realtime_sleep_ns(50 * NS_PER_US);
    }
}

enum err park_wait_gone(struct pg_lane *lane, int node, int pid)
{
    control_turn_to(lane, node);
    enum err err = wait_gone(lane, pid);
    control_turn_to(lane, 0);
    return err;
}
