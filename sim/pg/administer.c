/* What an administrator may do to a session, done over the control connection. */
#include <stdio.h>

#include "sim/pg/internal.h"
#include "sim/pg/route.h"
#include "sim/pg/session.h"

enum err administer_signal(struct pg_session *session, bool terminate)
{
    char sql[64];
    /* Behind a pooler it has a backend only within a transaction; else its client is ended. */
    if (route_locate(session->lane) != ERR_OK)
        return ERR_INFRASTRUCTURE;
    if (session->pid == 0)
        return ERR_OK;
    snprintf(sql, sizeof sql, "SELECT pg_%s_backend(%d)", terminate ? "terminate" : "cancel",
             session->pid);
    control_turn_to(session->lane, session->node);
    enum err err = control_run(session->lane, sql);
    control_turn_to(session->lane, 0);
    return err;
}

/* A backend that is stopped finds the signal when it goes on, before anything else: whether it was
 * granted its lock meanwhile makes no difference to it. */
static enum pg_answer interrupt_blocked(struct pg_session *session, bool terminate)
{
    park_continue(session);
    if (session_wait_answer(session))
        return PG_DONE;
    session->state = SESSION_IDLE;
    if (!terminate) {
        lane_trouble(session->lane, "a cancelled statement does not end");
        return PG_TROUBLE;
    }
    return PG_LOST;
}

enum pg_answer pg_session_interrupt(struct pg_session *session, bool terminate)
{
    bool blocked = session->state == SESSION_BLOCKED;
    FP_ASSERT(blocked || (terminate && session->state == SESSION_IDLE));
    if (administer_signal(session, terminate) != ERR_OK)
        return PG_TROUBLE;
    enum pg_answer answer = blocked ? interrupt_blocked(session, terminate) : PG_LOST;
    if (terminate && park_wait_gone(session->lane, session->node, session->pid) != ERR_OK)
        return PG_TROUBLE;
    session->ended |= terminate;
    session->lane->stirred = true; /* what it held is free */
    return answer;
}

void pg_session_cancel_next(struct pg_session *session)
{
    FP_ASSERT(session->state == SESSION_IDLE);
    session->cancel_next = true;
}
