/* The seam: everything that reference code may know of the outside.
 *
 * Reference code is plain straight-line code that includes this one header. It cannot tell whether
 * it runs as a fiber in virtual time or as a process in real time.
 *
 * MAY SUSPEND means: other actors may run before the call returns, and it may never return (the
 * process was killed there). Nothing unwinds then; what must be given back belongs to the seam. */
#ifndef FENCEPOST_RT_H
#define FENCEPOST_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/base.h"
#include "sim/core/err.h"

struct rt;    /* one fiber's handle on the outside */
struct rt_db; /* one connection, or what is left of it */

/* ---- time: two types, so that mixing them does not compile ---- */

typedef struct {
    int64_t ns;
} mono_time; /* this process's own elapsed time: never jumps */
typedef struct {
    int64_t ns;
} wall_time; /* this machine's idea of the date, since 1970: may be wrong, may jump */

mono_time rt_mono_now(struct rt *rt);
wall_time rt_wall_now(struct rt *rt);
static inline int64_t mono_since_ns(mono_time later, mono_time earlier)
{
    return later.ns - earlier.ns;
}
/* "2026-01-01 00:00:00.000000+00", for a statement's parameter. Lives until the process ends. */
const char *rt_wall_text(struct rt *rt, wall_time wall);

/* MAY SUSPEND. Returns no earlier than `duration_ns` from now; later when the process was paused.
 */
void rt_sleep(struct rt *rt, int64_t duration_ns);
/* As rt_sleep, and says that this fiber holds nothing and waits for nothing: between two rounds of
 * a poller. When every fiber idles, the system may have come to rest. MAY SUSPEND. */
void rt_idle(struct rt *rt, int64_t duration_ns);

/* ---- this process ---- */

const char *rt_name(struct rt *rt);     /* "worker-1" */
const char *rt_instance(struct rt *rt); /* "worker-1.2": its second life; unique within a run */
/* Memory of the process: zeroed, freed when the process ends. Never NULL. */
void *rt_alloc(struct rt *rt, size_t size);
const char *rt_printf(struct rt *rt, const char *format, ...) FP_PRINTF(2, 3);
/* Another fiber of the same process. `name` and `arg` must live as long as the process. */
void rt_spawn(struct rt *rt, const char *name, void (*body)(struct rt *rt, void *arg), void *arg);
/* Is this departure from the hardened design switched on? Index into the strategy's weaknesses. */
bool rt_weak(struct rt *rt, int weakness);
/* An integer below n from this process's own source of randomness. n >= 1. */
uint32_t rt_random(struct rt *rt, uint32_t n);

/* A latch shared by fibers of one process. Zeroed is "not signalled". */
struct rt_signal {
    bool raised;
    struct rt *waiter;
};
/* MAY SUSPEND. True when it was raised, false when `timeout_ns` passed first. One waiter at a time.
 */
bool rt_wait(struct rt *rt, struct rt_signal *signal, int64_t timeout_ns);
void rt_raise(struct rt *rt, struct rt_signal *signal);

/* ---- the database ---- */

/* One statement of a .sql file, embedded at build. Parameters are $1.. and travel as text. */
struct rt_sql {
    const char *name;
    const char *text;
    int param_count;
};

/* Rows of the last statement: valid until the next call with the same connection. */
struct rt_rows {
    int row_count;
    int column_count;
    int affected_count;       /* rows inserted, updated, deleted or selected, as the server says */
    const char *const *cells; /* row_count * column_count; NULL is SQL null */
};
const char *rt_cell(const struct rt_rows *rows, int row, int column);

/* How long a client waits for a connection, and for an answer that the network keeps from it,
 * before it gives up. A statement that the server itself is long about is waited for. */
#define RT_DB_CONNECT_PATIENCE_NS (10 * NS_PER_S)
#define RT_DB_ANSWER_PATIENCE_NS (30 * NS_PER_S)

/* MAY SUSPEND. `label` names the connection in traces and faults: "job", "heartbeat". On ERR_OK *db
 * belongs to the process until rt_db_close; on ERR_DB_UNREACHABLE it is NULL. */
enum err rt_db_open(struct rt *rt, const char *label, struct rt_db **db);
/* The same on a server that follows the primary: for reading, and what it shows may be old. Where
 * there is none it is the primary. */
enum err rt_db_open_standby(struct rt *rt, const char *label, struct rt_db **db);
/* Run one statement. MAY SUSPEND. `params` has sql->param_count entries, NULL is SQL null; `rows`
 * may be NULL. ERR_DB_SQL: it had no effect, see rt_db_sqlstate; a transaction is now aborted.
 * ERR_DB_LOST: the outcome is unknown, it may have committed or may yet; the connection is of no
 * further use. */
enum err rt_db_exec(struct rt *rt, struct rt_db *db, const struct rt_sql *sql,
                    const char *const *params, struct rt_rows *rows);
/* Of the last ERR_DB_SQL: "40001"; "" otherwise. */
const char *rt_db_sqlstate(const struct rt_db *db);
bool rt_db_is_lost(const struct rt_db *db);
/* Close; an open transaction is rolled back, session locks go. NULL is allowed. Suspends never. */
void rt_db_close(struct rt *rt, struct rt_db *db);

/* ---- the queue (FIFO, at least once) ---- */

#define RT_MESSAGE_SIZE_MAX 256
#define RT_GROUP_SIZE_MAX 64

struct rt_message {
    int64_t receipt; /* of this delivery */
    int receive_count;
    int64_t age_ns; /* since it was sent; of a dead letter: since it died */
    char group[RT_GROUP_SIZE_MAX];
    char body[RT_MESSAGE_SIZE_MAX];
};
/* MAY SUSPEND for up to `wait_ns` (long polling). ERR_QUEUE_EMPTY: nothing came. A fiber that waits
 * here idles, as in rt_idle. */
enum err rt_queue_receive(struct rt *rt, int64_t wait_ns, struct rt_message *message);
/* MAY SUSPEND. ERR_QUEUE_STALE_RECEIPT: it was delivered again meanwhile and is still in the queue.
 */
enum err rt_queue_delete(struct rt *rt, int64_t receipt);
enum err rt_queue_change_visibility(struct rt *rt, int64_t receipt, int64_t visible_in_ns);
/* MAY SUSPEND. The same body in the same group within five minutes is taken once. */
enum err rt_queue_send(struct rt *rt, const char *group, const char *body);

/* The dead-letter queue: what was delivered too often without being deleted. MAY SUSPEND; does not
 * wait. ERR_QUEUE_EMPTY: there is none, or none that is not in flight. A message received here is
 * invisible to other receivers of dead letters for the visibility timeout. */
enum err rt_dead_receive(struct rt *rt, struct rt_message *message);
/* MAY SUSPEND. Put it back to the end of its group, as new. ERR_QUEUE_STALE_RECEIPT: it was
 * received again meanwhile, or is gone. */
enum err rt_dead_redrive(struct rt *rt, int64_t receipt);
enum err rt_dead_delete(struct rt *rt, int64_t receipt);

/* ---- the cloud ---- */

/* What an effect is done with: who it is for, and the right by which it is done. */
struct rt_claim {
    const char *cluster_id; /* the resource's owner as the database names it */
    const char *job_id;
    int64_t run;   /* tells two executions of one job apart; unique within a process */
    int64_t token; /* fencing token, 0: none is sent */
};

enum rt_cloud_op {
    RT_CLOUD_LOOK, /* what is there; changes nothing, but its token is remembered as any other's */
    RT_CLOUD_CREATE,  /* make one part; ERR_CLOUD_EXISTS when it is there */
    RT_CLOUD_DESTROY, /* remove one part; ERR_CLOUD_ABSENT when it is not there */
    RT_CLOUD_SCALE,   /* set the number of workers */
};

struct rt_cloud_request {
    enum rt_cloud_op op;
    const char *name, *platform, *base_domain; /* the key, as real clouds key it */
    const char *part;                          /* "network", "control-plane", ... */
    int32_t count;                             /* RT_CLOUD_SCALE */
    struct rt_claim claim;
};
struct rt_cloud_reply {
    int32_t part_count;   /* parts present after the call */
    int32_t worker_count; /* RT_CLOUD_LOOK, RT_CLOUD_SCALE */
    int32_t busy_count; /* RT_CLOUD_LOOK: operations still in progress on the resource, anybody's */
};
/* MAY SUSPEND for virtual minutes. ERR_CLOUD_TIMEOUT: it may have happened, or happen yet.
 * ERR_FENCED: refused, nothing was changed. */
enum err rt_cloud_call(struct rt *rt, const struct rt_cloud_request *request,
                       struct rt_cloud_reply *reply);

/* ---- the artifact store ---- */

#define RT_OBJECT_SIZE_MAX 512

struct rt_object {
    int64_t version; /* 1, 2, ... */
    char content[RT_OBJECT_SIZE_MAX];
};
/* MAY SUSPEND. The latest version. ERR_STORE_ABSENT: there is none. ERR_STORE_UNAVAILABLE: try
 * again. *object is zeroed unless ERR_OK. */
enum err rt_store_get(struct rt *rt, const char *key, struct rt_object *object);
/* The same by the right of a claim: its token is remembered as a put's is. ERR_FENCED: refused, the
 * claim's token is older than one already seen for this key. */
enum err rt_store_read(struct rt *rt, const char *key, const struct rt_claim *claim,
                       struct rt_object *object);
/* MAY SUSPEND. Adds a version; both texts are copied. ERR_FENCED: refused, the claim's token is
 * older than one already seen for this key. ERR_STORE_UNAVAILABLE: nothing was written. */
enum err rt_store_put(struct rt *rt, const char *key, const char *content,
                      const struct rt_claim *claim);

/* ---- outside services: what they do cannot be taken back ---- */

struct rt_service_request {
    const char *service; /* "gallery" */
    const char *op;      /* "publish" */
    const char *subject; /* what it is done to: the key of a row */
    const char *key;     /* idempotency key: done once for each; NULL: none is sent */
    const char *content; /* what is sent, for the trace; NULL: nothing */
    int64_t lasts_low_ns, lasts_high_ns; /* how long it takes, drawn between them */
    struct rt_claim claim;               /* cluster_id and job_id: whatever the strategy has */
};
struct rt_service_reply {
    bool repeated; /* its key had taken effect before: nothing was done again */
};
/* MAY SUSPEND. What was accepted takes effect at its end, whether its caller lives or not.
 * ERR_SERVICE_TIMEOUT: it may have happened. ERR_SERVICE_THROTTLED, ERR_SERVICE_REJECTED,
 * ERR_FENCED: it has not, and will not. `reply` may be NULL. */
enum err rt_service_call(struct rt *rt, const struct rt_service_request *request,
                         struct rt_service_reply *reply);
/* MAY SUSPEND. How often request->op was done to request->subject so far, without what is still
 * under way. A token is made known, as by a call. ERR_SERVICE_TIMEOUT: no answer. */
enum err rt_service_look(struct rt *rt, const struct rt_service_request *request,
                         int32_t *done_count);

/* ---- requests from one process to another, as over HTTP ---- */

#define RT_REQUEST_SIZE_MAX 128
#define RT_SUBJECT_SIZE_MAX 64

struct rt_request {
    int64_t number; /* of this request among all of the run */
    char subject[RT_SUBJECT_SIZE_MAX];
    char body[RT_REQUEST_SIZE_MAX];
};
struct rt_answer {
    int status; /* as HTTP has them: 200, 409, ... */
    char body[RT_REQUEST_SIZE_MAX];
};
/* Send a request about `subject` to whoever accepts it, and wait for the answer. MAY SUSPEND. Both
 * texts are copied. ERR_TIMEOUT: no answer within `patience_ns`; the request may be in somebody's
 * hands still. ERR_REQUEST_LOST: the process that had it has died; how far it came nobody knows.
 * *answer is zeroed unless ERR_OK. */
enum err rt_request(struct rt *rt, const char *subject, const char *body, int64_t patience_ns,
                    struct rt_answer *answer);
/* The next request that nobody has accepted yet. MAY SUSPEND for up to `wait_ns`; a fiber that
 * waits here idles, as in rt_idle. ERR_TIMEOUT: none came. */
enum err rt_accept(struct rt *rt, int64_t wait_ns, struct rt_request *request);
/* Answer it, once. Nobody may listen any more. Suspends never. */
void rt_answer(struct rt *rt, const struct rt_request *request, int status, const char *body);

/* ---- metrics and alerts: what a monitoring system sees of this process ---- */

/* Count `add` more of metric{label="value"}; label may be NULL. Suspends never. The monitoring
 * system keeps what it has seen when the process dies. */
void rt_metric_count(struct rt *rt, const char *metric, const char *label, const char *value,
                     int64_t add);
/* One observation of a duration, for a histogram in seconds. Suspends never. */
void rt_metric_observe(struct rt *rt, const char *metric, const char *label, const char *value,
                       int64_t duration_ns);
/* How much was counted of `metric`, over all labels and processes, within the last `window_ns`. */
int64_t rt_metric_sum(struct rt *rt, const char *metric, int64_t window_ns);
/* Tell the operator. `severity` is "warning" or "critical"; `subject` is what it is about. An alert
 * that fires already for this subject is not raised again; rt_alert_clear ends it. Suspends never.
 */
void rt_alert(struct rt *rt, const char *alert, const char *severity, const char *subject);
void rt_alert_clear(struct rt *rt, const char *alert, const char *subject);

/* ---- what happened ---- */

/* Report an event: pairs of key and text ended by NULL, as in
 * rt_emit(rt, "lock.acquired", "cluster", id, "job", job, NULL). Suspends never. */
void rt_emit(struct rt *rt, const char *kind, ...);

/* ---- the workload that the scenario asks for ---- */

/* Lists of entries, as declared by the strategy. Text "" / number 0 when the entry has no such key.
 */
int rt_workload_count(struct rt *rt, const char *list);
const char *rt_workload_text(struct rt *rt, const char *list, int index, const char *key);
int64_t rt_workload_number(struct rt *rt, const char *list, int index, const char *key);

#endif
