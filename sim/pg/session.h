/* A stepped session: one statement in flight, and an answer that is certain.
 *
 * Every call that sends something returns only when the answer is certain: done, blocked by another
 * of our sessions, at a gate, or lost. Never because some time has passed. */
#ifndef FENCEPOST_SESSION_H
#define FENCEPOST_SESSION_H

#include "sim/core/arena.h"
#include "sim/pg/lane.h"

struct pg_session;

enum pg_answer {
    PG_DONE,    /* see pg_session_result */
    PG_BLOCKED, /* waits for a lock; its backend is stopped until pg_session_continue */
    PG_AT_GATE, /* stands at a gate inside the statement until pg_session_continue */
    PG_LOST,    /* the server has ended the connection */
    PG_TROUBLE, /* the harness's environment failed, see pg_lane_trouble */
};

/* One committed change of a watched row. */
struct pg_change {
    const struct watched_table *table;
    char op; /* 'i', 'u' or 'd' */
    /* Values of key columns, then of further columns; NULL is SQL null. `old` only with 'u'. */
    const char *const *values;
    const char *const *old;
    int value_count;
};

struct pg_result {
    bool ok;
    char sqlstate[6];    /* "" when ok */
    const char *message; /* "" when ok */
    const char *tag;     /* "INSERT 0 1"; "" when not ok */
    struct rt_rows rows;
    bool in_transaction; /* after the statement */
    bool committed;      /* the statement ended a transaction (or was one) and it is durable */
    const struct pg_change *changes; /* committed by this statement */
    int change_count;
};

/* A session that cannot be told from a new one. NULL: trouble. Released by close or cut. */
struct pg_session *pg_session_open(struct pg_lane *lane);
/* The same on the first standby, which must have been fed. */
struct pg_session *pg_session_open_standby(struct pg_lane *lane);
/* Normal end: open transaction rolled back, session locks gone. Not while blocked or at a gate. */
void pg_session_close(struct pg_session *session);
/* The client is gone, as after a crash or a cut cable. Returns when the server has noticed. A
 * session that is blocked or at a gate cannot be cut: its server does not listen; see
 * pg_session_abandon. */
void pg_session_cut(struct pg_session *session);

/* How toxiproxy cuts a connection. */
enum pg_break {
    PG_BREAK_REQUEST, /* the statement is sent and never arrives */
    PG_BREAK_REPLY,   /* the server has done what it was told; nothing of it comes back */
    PG_BREAK_IDLE,    /* both ends are closed, with nothing under way */
};
/* On a lane whose schema asks for toxiproxy. Returns when the client's end is closed; then comes
 * pg_session_cut. `sql` and `params` only with PG_BREAK_REQUEST. ERR_INFRASTRUCTURE: toxiproxy has
 * failed, the run is spoilt. */
enum err pg_session_break(struct pg_session *session, enum pg_break how, const struct rt_sql *sql,
                          const char *const *params);

/* `db_now_ns`: what the database's clock shows, since 1970. */
enum pg_answer pg_session_send(struct pg_session *session, const struct rt_sql *sql,
                               const char *const *params, int64_t db_now_ns);
/* Let it go on: a waiter that was granted its lock, one that is to look for a deadlock, or one at a
 * gate. */
enum pg_answer pg_session_continue(struct pg_session *session);

/* An administrator ends an idle or blocked session: PG_LOST; or cancels a blocked statement:
 * PG_DONE with 57014. PG_TROUBLE as everywhere. The backend has seen it when the call returns. */
enum pg_answer pg_session_interrupt(struct pg_session *session, bool terminate);
/* The next statement is cancelled at its start: it ends with 57014. Of an idle session. */
void pg_session_cancel_next(struct pg_session *session);

/* Of a blocked session: */
bool pg_session_is_granted(const struct pg_session *session);
/* It is part of a cycle: continuing it gives the server's own 40P01 (or reorders the queue). */
bool pg_session_is_deadlocked(const struct pg_session *session);

/* Valid after PG_DONE until the next call on this session. */
const struct pg_result *pg_session_result(const struct pg_session *session);
/* The rows of the last statement outlive the session from now on: they live as long as `arena`. */
void pg_session_keep_rows(struct pg_session *session, struct arena *arena);
bool pg_session_in_transaction(const struct pg_session *session);

/* Any word the caller wants back. */
void pg_session_set_data(struct pg_session *session, void *data);
void *pg_session_data(const struct pg_session *session);
/* Every blocked session of the lane that could go on, in the order they were opened. */
typedef void pg_session_visit(void *self, struct pg_session *session);
void pg_lane_each_blocked(struct pg_lane *lane, pg_session_visit *visit, void *self);

#endif
