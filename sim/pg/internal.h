/* Shared by the files of sim/pg only. */
#ifndef FENCEPOST_PG_INTERNAL_H
#define FENCEPOST_PG_INTERNAL_H

#include <libpq-fe.h>

#include "sim/core/arena.h"
#include "sim/pg/lane.h"
#include "sim/pg/session.h"
#include "sim/pg/tape.h"

#define SESSION_COUNT_MAX 96
#define STATEMENT_COUNT_MAX 256
#define CHANGE_COUNT_MAX 256
#define WATCHED_TABLE_COUNT_MAX 32

/* The first of the two keys of a gate's advisory lock; the second is the backend's pid. Stands in
 * shadow.sql as well. */
#define GATE_CLASS 1717923696

/* Blockers that are no session: the harness itself, and a pooler's connection that serves nobody.
 */
#define BLOCKER_HARNESS (-1)
#define BLOCKER_POOL (-2)

/* The patience of the harness. Beyond it the environment is broken, and no verdict is given. */
#define PATIENCE_NS (60 * NS_PER_S)

enum session_state {
    SESSION_FREE,    /* connected, as new, belongs to nobody */
    SESSION_IDLE,    /* between statements */
    SESSION_BUSY,    /* a statement is in flight */
    SESSION_BLOCKED, /* parked */
    SESSION_AT_GATE,
    SESSION_GONE, /* no connection; the slot can be used again */
};

/* What a statement may leave in its session once its transaction is over; the worse, the later. */
enum leavings {
    LEAVES_NOTHING,
    LEAVES_LOCKS, /* advisory ones */
    LEAVES_ANYTHING,
};

struct statement {
    const struct rt_sql *sql;
    char name[16];
    bool controls_transaction; /* BEGIN and the like: must not be preceded by anything */
    bool takes_session_locks;  /* may leave locks that outlive its transaction */
    bool ends_transaction;     /* COMMIT */
    bool reads_clock;          /* perhaps */
    enum leavings leaves;
    bool may_write;
};

/* Where the watched columns of a table stand in its rows. */
struct watched_shape {
    int column_count;
    int value_count;
    int positions[WATCHED_COLUMN_COUNT_MAX];
};

struct change_buffer {
    struct arena *arena; /* of the texts; renewed when the buffer is emptied */
    struct pg_change list[CHANGE_COUNT_MAX];
    int count;
};

/* What travels in one pipeline. */
enum sent_kind {
    SENT_PREPARE,
    SENT_SETTING, /* the clock */
    SENT_STATEMENT,
    SENT_DRAIN, /* the changes of watched tables */
};
struct sent {
    enum sent_kind kind;
    const struct statement *statement;
};

struct pg_session {
    struct pg_lane *lane;
    int slot;
    int node; /* 0: on the primary; n: on its nth standby */
    int64_t opened_sequence;
    enum session_state state;
    PGconn *conn;
    int pid;          /* as the server calls it */
    pid_t signal_pid; /* as this process does; 0: unknown, it cannot be stopped */
    bool gate_held;
    char proxy[32]; /* toxiproxy's name for its connection; "": there is none */
    uint64_t prepared[STATEMENT_COUNT_MAX / 64];
    int64_t clock_sent_ns; /* -1: unknown to the server */
    int64_t transaction_began_ns;
    bool transaction_time_sent;
    bool in_transaction, transaction_failed;
    bool holds_session_locks;          /* perhaps */
    bool wrote;                        /* perhaps, in this transaction */
    enum leavings left;                /* by its statements so far */
    const struct statement *statement; /* in flight */
    bool cancel_next;                  /* at its start */
    bool ended;                        /* by an administrator: of no further use */
    struct sent sent[10];              /* with it, in order */
    size_t sent_count, received_count;
    int64_t db_now_ns;
    int64_t wait_began_ns; /* real: no later than this did the wait begin */
    bool granted, deadlocked;
    bool is_victim; /* told to look for the deadlock that it is part of */
    int blockers[SESSION_COUNT_MAX + 2]; /* slots, BLOCKER_HARNESS, BLOCKER_POOL */
    int blocker_count;
    PGresult *answer;
    const char **cells;
    size_t cell_capacity;
    struct change_buffer pending, committed;
    struct pg_result result;
    void *data;
};

/* One server of the lane: the primary is the first, its standbys follow. */
struct node {
    struct pg_server *server;
    PGconn *control; /* NULL: it does not run */
    int control_pid;
    int startup_pid;   /* of a standby: who replays */
    uint64_t position; /* of a standby: it has all of the log up to here */
};

struct pg_lane {
    struct pg_server *server; /* the primary */
    char *role, *database;    /* of the sessions, quoted for SQL */
    bool wants_toxiproxy;
    int wanted_pool_size;        /* 0: no pooler */
    struct toxiproxy *toxiproxy; /* NULL: there is none, or it has failed */
    struct pooler *pooler;
    struct node nodes[1 + PG_STANDBY_COUNT_MAX];
    int node;        /* the one that control queries go to */
    PGconn *control; /* its */
    int control_pid;
    int standby_count;      /* that the schema asks for */
    struct pg_server *base; /* the state behind an installed schema, in files; NULL: no standbys */
    uint64_t base_position;
    int timeline;     /* of the primary: one more with each promotion */
    bool failed_over; /* since the last slate */
    bool moved;       /* the primary is not in the lane's own directory, the first standby is */
    bool crashes;     /* a run may end or promote a server: no checkpoint in the middle of it */
    uint64_t checkpoint_position;
    struct pg_session sessions[SESSION_COUNT_MAX];
    struct statement statements[STATEMENT_COUNT_MAX];
    int statement_count;
    const struct watched_table *watched;
    size_t watched_count;
    struct watched_shape shapes[WATCHED_TABLE_COUNT_MAX];
    bool gated;
    bool parking;
    bool has_functions; /* the schema has code of its own, so a query may write or read the clock */
    bool has_clock_defaults; /* a row may be filled in with the time */
    struct strbuf wipe_sql;
    int64_t slate_count;
    int64_t opened_sequence;
    int deadlock_timeout_ms;
    bool spoilt;
    bool stirred; /* something happened since the waiters were last looked at */
    int blocked_count;
    struct pg_lane_counts counts;
    struct tape *tape; /* NULL: nothing is recorded */
    struct strbuf trouble;
};

/* control.c: the harness's own queries. They go to the primary, unless told otherwise. */
enum err control_open(struct pg_lane *lane);
void control_close(struct pg_lane *lane);
/* They go to that server from now on. Whoever turns away from the primary turns back. */
void control_turn_to(struct pg_lane *lane, int node);
/* Several statements, no result wanted. */
enum err control_run(struct pg_lane *lane, const char *sql);
/* One result, owned by the caller; NULL on trouble. */
PGresult *control_query(struct pg_lane *lane, const char *sql, const char *const *params,
                        int param_count);
/* A prepared one of control_open, with its one parameter. */
PGresult *control_prepared(struct pg_lane *lane, const char *name, const char *param);
enum err lane_trouble(struct pg_lane *lane, const char *format, ...) FP_PRINTF(2, 3);

/* park.c: who waits for whom. */
/* Is this session, whose statement is in flight, blocked? Fills its blockers. */
enum err park_ask(struct pg_session *session, bool *blocked, bool *at_gate);
/* Look at all blocked sessions again: granted, deadlocked. */
enum err park_review(struct pg_lane *lane);
void park_stop(struct pg_session *session);
/* This session has done something: note whether that may matter to a waiter. */
void park_stir(struct pg_session *session);
void park_continue(struct pg_session *session);
/* It was answered "deadlock detected": nobody told it to look, so it was not stopped in time. */
void park_missed(struct pg_session *session);
/* Wait until the backend of that pid is gone from that server. */
enum err park_wait_gone(struct pg_lane *lane, int node, int pid);

/* watch.c */
enum err watch_install(struct pg_lane *lane, struct strbuf *why);
/* What a session has noted, and forget it. */
extern const struct rt_sql watch_drain_sql;
/* Take what the drain has brought: changes that count when their transaction commits. */
void watch_take(struct pg_session *session, const char *noted);
void change_buffer_clear(struct change_buffer *buffer);

/* gate.c */
enum err gate_install(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why);
enum err gate_close(struct pg_session *session); /* nobody passes */
enum err gate_pass(struct pg_session *session);  /* one pass */

/* pool.c */
enum err pool_connect(struct pg_lane *lane, struct pg_session *session);
/* Make it as new; on failure the slot is GONE. */
void pool_reset(struct pg_session *session);
void pool_discard(struct pg_session *session);
/* Its server is dead, or about to be. */
void pool_forget(struct pg_session *session);
/* End everything that is still open, in the order of opening. */
void pool_drain(struct pg_lane *lane);

/* lane.c */
/* What a server of the template must be told before its first session. */
enum err lane_configure(struct pg_lane *lane);

/* administer.c */
/* Cancel what the session is doing, or end it. */
enum err administer_signal(struct pg_session *session, bool terminate);

/* crash.c */
/* Kill that server. Its sessions and the control connection to it are gone. */
void crash_kill(struct pg_lane *lane, int node);
/* End the sessions on that server, which lives on. */
void crash_end_sessions(struct pg_lane *lane, int node);
/* Start that server on its files, and connect to it. */
enum err lane_start_server(struct pg_lane *lane, int node);

/* standby.c */
/* Before a schema is installed: servers of the right kind, without standbys yet. */
enum err standbys_prepare(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why);
/* Behind it: the standbys. */
enum err standbys_make(struct pg_lane *lane);
/* Before each seed: what a failover has changed is as it was. */
enum err standbys_slate(struct pg_lane *lane);
void standbys_release(struct pg_lane *lane);

/* log.c: the write-ahead log, as positions and as files. */
/* All that is committed is before *position, and the log is on the disk up to there. */
enum err log_position(struct pg_lane *lane, uint64_t *position);
/* Copy a part of the log from one data directory to another. */
enum err log_copy(struct pg_lane *lane, const struct pg_server *from, const struct pg_server *to,
                  uint64_t start, uint64_t end);

/* session.c */
/* What this statement leaves in its session beside being prepared. In doubt anything. */
enum leavings sql_leaves(const char *text);
/* What makes a session as new again, but for what is prepared in it (DISCARD ALL forgets that too);
 * NULL: nothing needs to be done. */
const char *sql_of_reset(enum leavings left);
/* Does the text name one of the functions that tell the time? In doubt true. */
bool sql_names_clock(const char *text);
/* Wait for the answer whatever it is, also when it is long in coming. False: lost or trouble. */
bool session_wait_answer(struct pg_session *session);

#endif
