/* What the files of this strategy share. README.md says how the design works. */
#ifndef FENCEPOST_INSTANCE_LOCK_H
#define FENCEPOST_INSTANCE_LOCK_H

#include "instance_lock_sql.h"
#include "reference_impl/common/link.h"
#include "sim/rt.h"

/* The document's expiration. */
#define LEASE_NS (5 * NS_PER_MIN)
#define LEASE_TEXT "5 minutes"
/* No call to an outside service takes longer. A handler begins none that might outlast its lease,
 * with a margin for its clock and for what comes between the look at the clock and the call. */
#define CALL_NS_MAX (3 * NS_PER_MIN)
#define LEASE_MARGIN_NS (30 * NS_PER_S)
/* A handler gives up after this, so that every request is answered. */
#define HANDLE_NS_MAX (20 * NS_PER_MIN)
/* What is promised to those who ask: an answer within this time (a handler that gives up has a call
 * and a lease to see out first), and no instance that is locked for longer than a lease by somebody
 * who died. */
#define ANSWER_NS_MAX (40 * NS_PER_MIN)
#define STALE_NS_MAX (LEASE_NS + NS_PER_MIN)
#define RETRY_PAUSE_NS (10 * NS_PER_S)
#define TRY_COUNT_MAX 100

enum instance_lock_weakness {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql) INSTANCE_LOCK_WEAK_##id,
#include "reference_impl/instance_lock/weaknesses.def"
#undef WEAKNESS
};

enum http_status {
    HTTP_OK = 200,
    HTTP_ENDED = 400,       /* the process has no next task */
    HTTP_CONFLICT = 409,    /* another request has the instance */
    HTTP_FAILED = 500,      /* something went wrong; how far it came nobody knows */
    HTTP_REJECTED = 502,    /* an outside service refuses for good */
    HTTP_UNAVAILABLE = 503, /* no connection to the database, or it took too long */
};

#define METRIC_REQUESTS "process_next_requests_total"
#define METRIC_ROUND_TRIPS "process_next_round_trips_total"
#define METRIC_CONNECTION_HELD "process_next_connection_held_seconds"
#define METRIC_LOCK_HELD "instance_lock_held_seconds"

/* ---- process.c: the process that every instance follows ---- */

#define TRANSITION_OP_COUNT_MAX 3

struct transition {
    const char *from, *to;
    const char
        *ops[TRANSITION_OP_COUNT_MAX + 1]; /* what is done outside on the way; ends in NULL */
};
/* The one that leads on from this task; NULL: it is the last. */
const struct transition *transition_from(const char *task);

/* ---- handling.c: one request in an app's hands ---- */

enum locking {
    LOCKING_TABLE,         /* A2, the document's choice */
    LOCKING_ADVISORY,      /* A1: an advisory lock of the session, and who does not get it fails */
    LOCKING_ADVISORY_WAIT, /* A1 with pg_advisory_lock, as it is named: who does not get it waits */
    LOCKING_OPTIMISTIC,    /* A4: no lock, idempotency keys, a guarded write */
};

/* Lives in the process's memory. */
struct handling {
    struct rt_request request;
    const char *id;          /* of the request: the same when it comes again */
    bool is_retry;           /* it has come before */
    const char *instance_id; /* the instance as the database names it */
    enum locking locking;
    int64_t run; /* tells the handlings of one process apart */
    mono_time began;
    struct link link; /* from a pool: had for a statement or two, or with A1 all the time */
    mono_time connected;
    int64_t held_ns; /* how long there was a connection */
    int64_t round_trip_count;
    /* The lock. */
    const char *owner; /* of this attempt and no other */
    const char *lock_token;
    int64_t fence;
    /* Before the last statement that gave it was sent: it began no earlier. And after the last one
     * that may have given it, answered or not: it began no later. */
    mono_time lease_from, lease_asked;
    bool is_overtaken;     /* what the last owner has begun may be under way */
    bool may_be_under_way; /* the same of our own work, or of what we took over */
    const char *task;
    const struct transition *transition;
    const char *why; /* what the answer says */
};

/* Has it taken so long that it must be answered? */
bool handling_is_late(struct rt *rt, const struct handling *handling);
/* A connection from the pool. MAY SUSPEND. ERR_DB_UNREACHABLE: there is none to be had. */
enum err handling_connect(struct rt *rt, struct handling *handling);
/* Give it back, when the way of locking does not need it. */
void handling_disconnect(struct rt *rt, struct handling *handling);
/* Connect if need be, and run one statement; the rows are valid until handling_disconnect. Errors
 * as rt_db_exec, and ERR_DB_UNREACHABLE. */
enum err handling_exec(struct rt *rt, struct handling *handling, const struct rt_sql *sql,
                       const char *const *params, struct rt_rows *rows);
/* 503 when the database was out of reach, else 500. */
int handling_status_of(enum err err);

/* ---- lock.c ---- */

enum lock_result {
    LOCK_GOT,
    LOCK_REFUSED, /* somebody else has it */
    LOCK_FAILED,  /* something went wrong; the handling says with which status */
};
/* MAY SUSPEND. On LOCK_GOT the handling has token, lease and task. `status` is set when it
 * failed. */
enum lock_result instance_table_acquire(struct rt *rt, struct handling *handling, int *status);
/* Is there enough of the lease left for another call? It is prolonged when it is not. MAY SUSPEND.
 */
bool instance_table_suffices(struct rt *rt, struct handling *handling);
/* May it live still? Later than this it has expired, also when a prolongation arrived of which
 * nobody heard. */
bool instance_table_may_live(struct rt *rt, const struct handling *handling);
/* Give it back without a step. MAY SUSPEND. */
void instance_table_release(struct rt *rt, struct handling *handling);

/* ---- advisory.c: the same three for the rejected alternative A1 ---- */

enum lock_result instance_session_acquire(struct rt *rt, struct handling *handling, int *status);
void instance_session_release(struct rt *rt, struct handling *handling);

/* ---- state.c: where the instance stands ---- */

/* What was done for this request before, if it was: *task is NULL when nothing was. */
enum err instance_remembered(struct rt *rt, struct handling *handling, const char **task);
/* Read the task, where the lock has not told it. */
enum err instance_read(struct rt *rt, struct handling *handling);
/* Write the step, and end the lock. The status to answer with. MAY SUSPEND. */
int instance_write(struct rt *rt, struct handling *handling);

/* ---- effects.c: the work of a transition ---- */

/* ERR_OK: all was done. ERR_FENCED: the lock is lost. ERR_TIMEOUT: no lease, or no time, is left.
 * Else as rt_service_call. MAY SUSPEND. */
enum err instance_work(struct rt *rt, struct handling *handling);

/* ---- next.c: the endpoint ---- */

/* Answer one request to /process/next. The status. MAY SUSPEND. */
int process_next(struct rt *rt, struct handling *handling);

/* ---- actors, one file each ---- */
void instance_lock_app(struct rt *rt);
void instance_lock_client(struct rt *rt);
void instance_lock_neighbour(struct rt *rt);
void instance_lock_setup(struct rt *rt);
/* An entry of the workload's instances as the database names it: "1" is the first. And the index of
 * that one. */
const char *instance_id_of(struct rt *rt, const char *name);
int instance_index(const char *id);

#endif
