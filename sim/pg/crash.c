/* The death of a server. Nothing of what it was doing goes on: a statement that waits is ended
 * before what it waits for is let go. */
#include <signal.h>

#include "sim/pg/internal.h"

static void signal_backend(const struct pg_session *session, int signal)
{
    if (session->ended)
        return;
    kill(session->signal_pid, signal);
    if (session->state == SESSION_BLOCKED && session->lane->parking)
        kill(session->signal_pid, SIGCONT);
}

static void forget_session(struct pg_session *session)
{
    if (session->state == SESSION_BLOCKED)
        session->lane->blocked_count--;
    pool_forget(session);
}

typedef void session_action(struct pg_session *session);

static void each_session_on(struct pg_lane *lane, int node, session_action *action)
{
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        struct pg_session *session = &lane->sessions[i];
        if (session->state != SESSION_GONE && session->node == node)
            action(session);
    }
}

static void quit(struct pg_session *session)
{
    signal_backend(session, SIGQUIT);
}

static void end(struct pg_session *session)
{
    int pid = session->pid;
    signal_backend(session, SIGTERM);
    forget_session(session);
    park_wait_gone(session->lane, session->node, pid);
}

void crash_kill(struct pg_lane *lane, int node)
{
    each_session_on(lane, node, quit);
    pg_server_kill(lane->nodes[node].server);
    each_session_on(lane, node, forget_session);
    control_turn_to(lane, node);
    control_close(lane);
    control_turn_to(lane, 0);
}

void crash_end_sessions(struct pg_lane *lane, int node)
{
    each_session_on(lane, node, end);
}

enum err lane_start_server(struct pg_lane *lane, int node)
{
    struct strbuf why = STRBUF_INIT;
    enum err err = pg_server_start_again(lane->nodes[node].server, &why);
    if (err != ERR_OK) {
        lane_trouble(lane, "%s", strbuf_str(&why));
    } else {
        control_turn_to(lane, node);
        err = control_open(lane);
        control_turn_to(lane, 0);
    }
    strbuf_release(&why);
    return err;
}

/* All its processes end at once, those that are stopped too. */
enum err pg_lane_hit(struct pg_lane *lane, enum pg_hit hit)
{
    struct strbuf why = STRBUF_INIT;
    bool ends_sessions = hit != PG_HIT_PAUSE;
    if (ends_sessions) {
        each_session_on(lane, 0, forget_session);
        control_close(lane);
    }
    enum err err = pg_server_hit(lane->server, hit, &why);
    if (err != ERR_OK)
        lane_trouble(lane, "%s", strbuf_str(&why));
    else if (ends_sessions)
        err = control_open(lane);
    strbuf_release(&why);
    return err;
}

enum err pg_lane_crash(struct pg_lane *lane)
{
    FP_ASSERT(lane->crashes);
    if (!pg_server_is_ours(lane->server))
        return pg_lane_hit(lane, PG_HIT_KILL);
    crash_kill(lane, 0);
    return lane_start_server(lane, 0);
}
