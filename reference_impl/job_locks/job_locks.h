/* What the files of this strategy share. README.md says how the design works. */
#ifndef FENCEPOST_JOB_LOCKS_H
#define FENCEPOST_JOB_LOCKS_H

#include "job_locks_sql.h"
#include "reference_impl/common/link.h"
#include "sim/rt.h"

/* Numbers of the document. The lease and the grace of the reaper are also in sql/. */
#define LEASE_NS (60 * NS_PER_MIN)
#define HEARTBEAT_INTERVAL_NS (5 * NS_PER_MIN)
#define RECEIVE_WAIT_NS (20 * NS_PER_S)
#define JANITOR_INTERVAL_NS (5 * NS_PER_MIN)
#define JOB_ATTEMPT_COUNT_MAX 3
#define RETRY_BACKOFF_FIRST_NS (5 * NS_PER_MIN)
#define RETRY_BACKOFF_MAX_NS (30 * NS_PER_MIN)

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

/* The metrics and alerts of the document. */
#define METRIC_ACQUISITION_FAILURES "ocpctl_lock_acquisition_failures_total"
#define METRIC_LOCK_HELD "ocpctl_lock_held_duration_seconds"
#define METRIC_STALE_LOCKS "ocpctl_stale_locks_cleaned_total"
#define METRIC_JOB_RUNNING "ocpctl_jobs_running_duration_seconds"
#define ALERT_STALE_LOCK "StaleLockDetected"
#define ALERT_SLOW_JOB "JobRunningTooLong"
#define ALERT_CONTENTION "HighLockContention"
#define ALERT_DEAD_LETTER "DeadLetterStuck"
#define ALERT_LOCK_STATE "LockStateLost"
#define ALERT_DOUBLE "DuplicateLockHolders"
#define CONTENTION_COUNT_MAX 10
#define CONTENTION_WINDOW_NS NS_PER_MIN
#define STALE_LOCK_NS (5 * NS_PER_MIN)
#define SLOW_JOB_NS (90 * NS_PER_MIN)
#define STUCK_LETTER_NS NS_PER_HOUR
#define LETTER_HIDDEN_NS (10 * NS_PER_MIN) /* the queue's visibility timeout */

/* ---- on_cluster.c: transactions about one cluster ---- */

/* BEGIN, and take the cluster's row. MAY SUSPEND. Errors as rt_db_exec. */
enum err link_begin_on(struct rt *rt, struct link *link, const char *cluster_id);
/* The same for those who wait for nobody. *begun is false when somebody else has the row, and with
 * an error: then there is no transaction. */
enum err link_try_begin_on(struct rt *rt, struct link *link, const char *cluster_id, bool *begun);

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

/* ---- failures.c: what an error means for a job ---- */

/* Is it worth trying again? */
bool failure_is_transient(enum err err);
/* "QUOTA_EXCEEDED"; static. NULL with ERR_OK. */
const char *failure_code(enum err err);

/* ---- job.c: a job in a worker's hands ---- */

/* Lives in the process's memory, shared by the job's fiber and its heartbeat. */
struct job {
    const char *id;
    const char *cluster_id;
    const char *name, *platform, *base_domain;
    const struct job_rule *rule;
    int32_t worker_count; /* SCALE_WORKERS */
    int64_t run;
    int64_t token;              /* 0: none */
    const char *correlation_id; /* of the lock, in the audit log */
    struct link *section;       /* the connection that holds the critical section; see section.c */
    mono_time lease_from;       /* before the last successful renewal was sent */
    mono_time started;
    bool lost;      /* somebody else may own the cluster: no more effects */
    bool stopped;   /* lost because it was told to end */
    bool releasing; /* a lock that is gone now may be gone by our own hand */
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
/* It was told to end. */
void job_set_stopped(struct rt *rt, struct job *job);
const char *job_token_text(struct rt *rt, const struct job *job);
struct rt_claim job_claim(const struct job *job);

/* ---- section.c: the critical section, by an advisory lock of the database ---- */

/* Wait for it, and then hold it. MAY SUSPEND, for as long as another has it. False: the job has
 * lost its lock meanwhile. */
bool section_enter(struct rt *rt, struct job *job);
/* Before an effect: is it still ours? When it was lost it is waited for again. MAY SUSPEND. False:
 * the job is lost, or is told to end. */
bool section_check(struct rt *rt, struct job *job);
void section_leave(struct rt *rt, struct job *job);

/* ---- acquire.c ---- */

/* What a worker's process has. */
struct worker {
    struct link link;    /* locks and statuses */
    struct link section; /* the advisory lock, which belongs to a session */
    struct link standby; /* status_read_from_standby */
    int64_t run_count;
};

enum acquire_result {
    ACQUIRE_GOT,
    ACQUIRE_HELD,      /* another job has the cluster, or comes first: later */
    ACQUIRE_REFUSED,   /* the status of the cluster does not allow it; the job has FAILED */
    ACQUIRE_DUPLICATE, /* the job was taken before */
    ACQUIRE_AGAIN,     /* something went wrong, nothing was taken: soon */
};
/* Take the lock on the job's cluster. MAY SUSPEND. On ACQUIRE_GOT the job has its token and
 * lease. */
enum acquire_result job_acquire(struct rt *rt, struct worker *worker, struct job *job);
/* The end of a lease that begins now, by this machine's own clock. */
const char *lease_end_text(struct rt *rt);

/* ---- heartbeat.c ---- */

/* The body of the fiber that keeps a lock alive; `arg` is the job. Ends when job->done is
 * raised, or when the lock is lost. */
void heartbeat_body(struct rt *rt, void *arg);

/* ---- release.c ---- */

/* Give the lock back and write down how it ended. MAY SUSPEND, for as long as the database is away.
 * False: the lock was lost, nothing was written. */
bool job_release(struct rt *rt, struct link *link, struct job *job, bool succeeded);

/* ---- cloud.c ---- */

#define CLOUD_PART_COUNT 5
extern const char *const cloud_parts[CLOUD_PART_COUNT]; /* in the order of their making */

/* One call for this job. MAY SUSPEND. ERR_FENCED: the lock is lost, job->lost is set. Others as
 * rt_cloud_call. `reply` may be NULL. */
enum err cloud_do(struct rt *rt, struct job *job, enum rt_cloud_op op, const char *part,
                  int32_t count, struct rt_cloud_reply *reply);
/* Look until nothing is in progress, anybody's. Errors as cloud_do; ERR_CLOUD_TIMEOUT: somebody's
 * operation does not end. */
enum err cloud_wait_still(struct rt *rt, struct job *job, struct rt_cloud_reply *reply);
/* Before the first effect: make the token known, and wait until nobody's operation is in
 * progress. */
enum err cloud_take_over(struct rt *rt, struct job *job);

/* ---- artifacts.c: a cluster's files in the artifact store ---- */

/* What the job works from. ERR_STORE_ABSENT: a CREATE without a usable install-config.
 * ERR_STORE_UNAVAILABLE: try again. ERR_FENCED: the lock is lost. */
enum err artifacts_fetch(struct rt *rt, struct job *job);
/* The snapshot of the install-dir after the job. Errors as artifacts_fetch. */
enum err artifacts_keep(struct rt *rt, struct job *job);
/* What a user gives: the configuration of an entry of the workload's clusters, and the snapshot of
 * a cluster that exists already. */
void artifacts_give_config(struct rt *rt, int index);
void artifacts_give_snapshot(struct rt *rt, int index);

/* ---- handlers.c ---- */

/* Do what the job is for. ERR_OK: done. ERR_FENCED: the lock is lost. Else the job has failed. */
enum err job_handle(struct rt *rt, struct job *job);

/* ---- clusters.c: the clusters of the workload ---- */

/* Write one down. MAY SUSPEND. ERR_DB_SQL, 23505: its name is taken. */
enum err cluster_insert(struct rt *rt, struct link *link, int index);
/* Does it come with its first job, and not at the start? */
bool cluster_comes_later(struct rt *rt, int index);
/* The name that it has in the cloud. */
const char *cluster_name(struct rt *rt, int index);

/* ---- reap.c, recover.c, letters.c: what the janitor does. Errors as rt_db_exec; all is found
 * again in the next round ---- */

struct expired_lock {
    const char *cluster_id, *job_id, *locked_by, *token;
};
enum err reap(struct rt *rt, struct link *link, const struct expired_lock *lock);

/* A RUNNING job that holds no lock. */
enum err recover_lockless(struct rt *rt, struct link *link, const char *cluster_id,
                          const char *job_id);

/* Two that hold one cluster's lock. */
struct double_holders {
    const char *cluster_id;
    const char *job_id, *worker;
    const char *job_id_before, *worker_before;
};
enum err recover_double(struct rt *rt, struct link *link, const struct double_holders *holders);

/* Look at the dead letters: what can be done is put back, what is over is thrown away. */
enum err letters_process(struct rt *rt, struct link *link);

/* ---- monitor.c ---- */

/* A delivery did not get its lock. Suspends never. */
void monitor_failure(struct rt *rt, const char *reason);
/* With each round of the janitor: what is over is cleared. Suspends never. */
void monitor_round(struct rt *rt);

/* ---- actors, one file each ---- */
void job_locks_worker(struct rt *rt);
void job_locks_janitor(struct rt *rt);
void job_locks_client(struct rt *rt);
void job_locks_operator(struct rt *rt);
void job_locks_setup(struct rt *rt);

#endif
