/* What the files of this strategy share. README.md says how the design works. */
#ifndef FENCEPOST_JOB_LOCKS_H
#define FENCEPOST_JOB_LOCKS_H

#include "job_locks_sql.h"
#include "sim/rt.h"

/* Numbers of the document. The lease and the grace of the reaper are also in sql/. */
#define LEASE_NS (60 * NS_PER_MIN)
#define HEARTBEAT_INTERVAL_NS (5 * NS_PER_MIN)
#define RECEIVE_WAIT_NS (20 * NS_PER_S)
#define JANITOR_INTERVAL_NS (5 * NS_PER_MIN)
#define JOB_ATTEMPT_COUNT_MAX 3

/* A worker begins nothing any more this long before its lease can have ended. A call that it has
 * begun may last longer; cloud_take_over is there for that. */
#define LEASE_MARGIN_NS (10 * NS_PER_MIN)
#define HEARTBEAT_RETRY_NS (30 * NS_PER_S)
#define RECONNECT_NS (10 * NS_PER_S)

enum job_locks_weakness {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql) JOB_LOCKS_WEAK_##id,
#include "reference_impl/job_locks/weaknesses.def"
#undef WEAKNESS
};

#define PARAMS(...) ((const char *const[]){__VA_ARGS__})

/* ---- link.c: one connection that can be made anew ---- */

struct link {
    const char *label;
    struct rt_db *db; /* NULL: there is none */
};

/* Make sure that there is a connection. MAY SUSPEND. ERR_DB_UNREACHABLE: there is none. Only at
 * the start of something: in the middle of a transaction a new connection would be another
 * transaction. */
enum err link_ready(struct rt *rt, struct link *link);
/* As rt_db_exec. Without a connection ERR_DB_LOST. */
enum err link_exec(struct rt *rt, struct link *link, const struct rt_sql *sql,
                   const char *const *params, struct rt_rows *rows);
/* Leave the transaction, whatever happened: by ROLLBACK, or by giving up the connection. MAY
 * SUSPEND. */
void link_rollback(struct rt *rt, struct link *link);
void link_close(struct rt *rt, struct link *link);

/* ---- rules.c: what each type of job needs and makes of its cluster ---- */

struct job_rule {
    const char *type;
    const char *from[2]; /* statuses in which it may start; the second may be NULL */
    const char *during;
    const char *done;
    const char *retry; /* where the reaper puts the cluster so that a retry may start */
};
/* NULL: no such type. */
const struct job_rule *job_rule_find(const char *type);
bool job_rule_allows(const struct job_rule *rule, const char *status);
/* Does some job hold a cluster of this status? */
bool status_is_in_progress(const char *status);

/* ---- job.c: a job in a worker's hands ---- */

/* Lives in the process's memory, shared by the job's fiber and its heartbeat. */
struct job {
    const char *id;
    const char *cluster_id;
    const char *name, *platform, *base_domain;
    const struct job_rule *rule;
    int32_t worker_count; /* SCALE_WORKERS */
    int64_t run;
    int64_t token;        /* 0: none */
    mono_time lease_from; /* before the last successful renewal was sent */
    bool lost;            /* somebody else may own the cluster: no more effects */
    bool releasing;       /* a lock that is gone now may be gone by our own hand */
    struct rt_signal done;
    const char *error_code; /* of a job that failed; NULL: none */
};

/* "j1 demo": the body of a job's message. Lives until the process ends. */
const char *job_message(struct rt *rt, const char *job_id, const char *cluster_id);
/* A job from a message's body. NULL: it is not one. */
struct job *job_parse(struct rt *rt, const char *body);
/* May this job still have effects? Says no, and says so once, when the lock is lost or may be. */
bool job_may_act(struct rt *rt, struct job *job);
void job_set_lost(struct rt *rt, struct job *job, const char *why);
const char *job_token_text(struct rt *rt, const struct job *job);

/* ---- acquire.c ---- */

enum acquire_result {
    ACQUIRE_GOT,
    ACQUIRE_HELD,      /* another job has the cluster: later */
    ACQUIRE_REFUSED,   /* the status of the cluster does not allow it; the job has FAILED */
    ACQUIRE_DUPLICATE, /* the job was taken before */
    ACQUIRE_AGAIN,     /* something went wrong, nothing was taken: soon */
};
/* Take the lock on the job's cluster. MAY SUSPEND. On ACQUIRE_GOT the job has its token and
 * lease. */
enum acquire_result job_acquire(struct rt *rt, struct link *link, struct job *job);

/* ---- heartbeat.c ---- */

/* The body of the fiber that keeps a lock alive; `arg` is the job. Ends when job->done is
 * raised, or when the lock is lost. */
void heartbeat_body(struct rt *rt, void *arg);

/* ---- release.c ---- */

/* Give the lock back and write down how it ended. MAY SUSPEND, for as long as the database is away.
 * False: the lock was lost, nothing was written. */
bool job_release(struct rt *rt, struct link *link, struct job *job, bool succeeded);

/* ---- cloud.c ---- */

extern const char *const cloud_parts[]; /* in the order of their making, ended by NULL */

/* One call for this job, tried again when the cloud asks for it. MAY SUSPEND.
 * ERR_FENCED: the lock is lost, job->lost is set. Others as rt_cloud_call. `reply` may be NULL. */
enum err cloud_do(struct rt *rt, struct job *job, enum rt_cloud_op op, const char *part,
                  int32_t count, struct rt_cloud_reply *reply);
/* Before the first effect: make the token known, and wait until nobody's operation is in progress.
 * Errors as cloud_do; ERR_CLOUD_TIMEOUT: somebody's operation does not end. */
enum err cloud_take_over(struct rt *rt, struct job *job);

/* ---- handlers.c ---- */

/* Do what the job is for. ERR_OK: done. ERR_FENCED: the lock is lost. Else the job has failed. */
enum err job_handle(struct rt *rt, struct job *job);

/* ---- actors, one file each ---- */
void job_locks_worker(struct rt *rt);
void job_locks_janitor(struct rt *rt);
void job_locks_client(struct rt *rt);
void job_locks_operator(struct rt *rt);
void job_locks_setup(struct rt *rt);

#endif
