/* Taking the lock on a cluster: the algorithm of the document, step by step. */
#include <stdlib.h>
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define FIND_OUT_TRY_COUNT_MAX 1000
#define SERIALIZATION_TRY_COUNT_MAX 3

/* One attempt. */
struct attempt {
    struct rt *rt;
    struct link *link;
    struct link *section;
    struct job *job;
    const char *cluster_status;
    bool is_section_free; /* no worker is within its critical section */
    bool is_pending;      /* the job */
    bool must_wait;       /* an earlier job of its group comes first */
    bool is_insert_sent;  /* from here on the lock may be ours although we never heard of it */
};

static bool is_transactional(struct rt *rt)
{
    return !rt_weak(rt, JOB_LOCKS_WEAK_LOCK_WITHOUT_TRANSACTION);
}

/* Step 1. A plain SELECT can only keep jobs apart, or fail to, when nothing else does. */
static enum err begin(struct attempt *attempt)
{
    if (!is_transactional(attempt->rt))
        return ERR_OK;
    const struct rt_sql *sql = rt_weak(attempt->rt, JOB_LOCKS_WEAK_UNKEYED_LOCK)
                                   ? &common_begin
                                   : &common_begin_serializable;
    return link_exec(attempt->rt, attempt->link, sql, NULL, NULL);
}

static enum err commit(struct attempt *attempt)
{
    if (!is_transactional(attempt->rt))
        return ERR_OK;
    return link_exec(attempt->rt, attempt->link, &common_commit, NULL, NULL);
}

static void leave(struct attempt *attempt)
{
    if (is_transactional(attempt->rt))
        link_rollback(attempt->rt, attempt->link);
}

static const struct rt_sql *select_cluster_sql(struct rt *rt)
{
    if (rt_weak(rt, JOB_LOCKS_WEAK_UNKEYED_LOCK))
        return &job_locks_select_cluster_unlocked;
    if (rt_weak(rt, JOB_LOCKS_WEAK_ADVISORY_LOCK_IN_TRANSACTION))
        return &job_locks_select_cluster_only;
    if (rt_weak(rt, JOB_LOCKS_WEAK_TOKEN_BY_COUNTER_ALONE))
        return &job_locks_select_cluster_counted;
    return &job_locks_select_cluster;
}

static int64_t next_token(struct rt *rt, int64_t token_last)
{
    if (rt_weak(rt, JOB_LOCKS_WEAK_NO_FENCING))
        return 0;
    return rt_weak(rt, JOB_LOCKS_WEAK_TOKEN_DIES_WITH_LOCK) ? 1 : token_last + 1;
}

/* Step 2. */
static enum err read_cluster(struct attempt *attempt)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    struct rt_rows rows = {0};

    const struct rt_sql *sql = select_cluster_sql(rt);
    enum err err = link_exec(rt, attempt->link, sql, PARAMS(job->cluster_id), &rows);
    if (err != ERR_OK)
        return err;
    FP_ASSERT(rows.row_count == 1); /* a message names a cluster, and clusters are never deleted */
    if (attempt->cluster_status == NULL)
        attempt->cluster_status = keep_cell(rt, &rows, 0, 0);
    job->name = keep_cell(rt, &rows, 0, 1);
    job->platform = keep_cell(rt, &rows, 0, 2);
    job->base_domain = keep_cell(rt, &rows, 0, 3);
    attempt->is_section_free = strcmp(rt_cell(&rows, 0, 5), "t") == 0;
    job->token = next_token(rt, strtoll(rt_cell(&rows, 0, 4), NULL, 10));
    return ERR_OK;
}

static enum err read_job(struct attempt *attempt)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, attempt->link, &job_locks_select_job, PARAMS(job->id), &rows);
    if (err != ERR_OK || rows.row_count == 0)
        return err;
    FP_ASSERT(strcmp(rt_cell(&rows, 0, 3), job->cluster_id) == 0);
    attempt->is_pending = strcmp(rt_cell(&rows, 0, 0), "PENDING") == 0;
    attempt->must_wait = strcmp(rt_cell(&rows, 0, 4), "t") == 0;
    job->rule = job_rule_find(rt_cell(&rows, 0, 1));
    FP_ASSERT(job->rule != NULL); /* the schema knows the same types */
    job->worker_count = (int32_t)strtol(rt_cell(&rows, 0, 2), NULL, 10);
    return ERR_OK;
}

const char *lease_end_text(struct rt *rt)
{
    wall_time end = rt_wall_now(rt);
    end.ns += LEASE_NS;
    return rt_wall_text(rt, end);
}

/* Step 4. */
static enum err insert_lock(struct attempt *attempt, struct rt_rows *rows)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    const char *token = job_token_text(rt, job);

    attempt->is_insert_sent = true;
    if (rt_weak(rt, JOB_LOCKS_WEAK_EXPIRY_BY_WORKER_CLOCK)) {
        return link_exec(
            rt, attempt->link, &job_locks_insert_lock_until,
            PARAMS(job->cluster_id, job->id, rt_instance(rt), token, lease_end_text(rt)), rows);
    }
    const struct rt_sql *sql = rt_weak(rt, JOB_LOCKS_WEAK_UNKEYED_LOCK)
                                   ? &job_locks_insert_lock_unkeyed
                                   : &job_locks_insert_lock;
    return link_exec(rt, attempt->link, sql,
                     PARAMS(job->cluster_id, job->id, rt_instance(rt), token), rows);
}

/* Without a key only a look before the INSERT keeps two jobs apart. */
static enum err is_locked(struct attempt *attempt, bool *locked)
{
    struct rt_rows rows = {0};

    *locked = false;
    if (!rt_weak(attempt->rt, JOB_LOCKS_WEAK_UNKEYED_LOCK))
        return ERR_OK;
    enum err err = link_exec(attempt->rt, attempt->link, &job_locks_count_locks,
                             PARAMS(attempt->job->cluster_id), &rows);
    *locked = err == ERR_OK && strcmp(rt_cell(&rows, 0, 0), "0") != 0;
    return err;
}

static enum err audit(struct attempt *attempt)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    struct rt_rows rows = {0};

    enum err err = link_exec(
        rt, attempt->link, &job_locks_audit_acquired,
        PARAMS(job->cluster_id, job->id, rt_instance(rt), job_token_text(rt, job)), &rows);
    if (err == ERR_OK)
        job->correlation_id = keep_cell(rt, &rows, 0, 0);
    return err;
}

/* The two connections are one to the worker and two to the server, which therefore cannot see a
 * deadlock that goes through both. */
static enum err wait_for_section(struct attempt *attempt)
{
    struct rt *rt = attempt->rt;

    if (!rt_weak(rt, JOB_LOCKS_WEAK_ADVISORY_LOCK_IN_TRANSACTION))
        return ERR_OK;
    enum err err = link_ready(rt, attempt->section);
    if (err == ERR_OK) {
        err = link_exec(rt, attempt->section, &job_locks_enter_section_of_session,
                        PARAMS(attempt->job->cluster_id), NULL);
    }
    link_close(rt, attempt->section);
    return err;
}

static enum err start_job(struct attempt *attempt)
{
    return link_exec(attempt->rt, attempt->link, &job_locks_start_job, PARAMS(attempt->job->id),
                     NULL);
}

/* Step 5. */
static enum err start(struct attempt *attempt)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    bool is_job_last = rt_weak(rt, JOB_LOCKS_WEAK_JOB_STARTED_AFTER_COMMIT);

    enum err err = wait_for_section(attempt);
    if (err == ERR_OK && !is_job_last)
        err = start_job(attempt);
    if (err == ERR_OK) {
        err = link_exec(rt, attempt->link, &job_locks_start_cluster,
                        PARAMS(job->cluster_id, job->rule->during, job_token_text(rt, job)), NULL);
    }
    if (err == ERR_OK)
        err = audit(attempt);
    if (err == ERR_OK)
        err = commit(attempt);
    return err == ERR_OK && is_job_last ? start_job(attempt) : err;
}

/* The status does not allow the job, and no other job is about to change it: the job ends here. */
static enum err refuse(struct attempt *attempt)
{
    enum err err = link_exec(attempt->rt, attempt->link, &job_locks_end_pending_job,
                             PARAMS(attempt->job->id, "STATE_NOT_ALLOWED"), NULL);
    return err == ERR_OK ? commit(attempt) : err;
}

static bool is_status_right(const struct attempt *attempt)
{
    if (rt_weak(attempt->rt, JOB_LOCKS_WEAK_NO_STATUS_CHECK))
        return true;
    return job_rule_allows(attempt->job->rule, attempt->cluster_status);
}

/* What stands in the way of the job; ACQUIRE_GOT: nothing does. */
static enum acquire_result judge(const struct attempt *attempt)
{
    struct rt *rt = attempt->rt;

    /* A message may come twice, and long after its job was taken. */
    if (!attempt->is_pending && !rt_weak(rt, JOB_LOCKS_WEAK_REDELIVERED_JOB_RUNS_AGAIN))
        return ACQUIRE_DUPLICATE;
    if (attempt->must_wait && !rt_weak(rt, JOB_LOCKS_WEAK_ORDER_LEFT_TO_QUEUE))
        return ACQUIRE_HELD;
    /* Step 3. */
    if (is_status_right(attempt))
        return attempt->is_section_free || rt_weak(rt, JOB_LOCKS_WEAK_ADVISORY_LOCK_IN_TRANSACTION)
                   ? ACQUIRE_GOT
                   : ACQUIRE_HELD;
    if (status_is_in_progress(attempt->cluster_status) ||
        rt_weak(rt, JOB_LOCKS_WEAK_REFUSED_JOB_LEFT_PENDING))
        return ACQUIRE_HELD;
    return ACQUIRE_REFUSED;
}

/* Nothing stands in the way but perhaps a lock. */
static enum err take_lock(struct attempt *attempt, enum acquire_result *result)
{
    struct rt_rows rows = {0};
    bool locked = false;

    enum err err = is_locked(attempt, &locked);
    if (err == ERR_OK && !locked)
        err = insert_lock(attempt, &rows);
    if (err != ERR_OK)
        return err;
    if (rows.affected_count == 1)
        return start(attempt);
    leave(attempt);
    *result = ACQUIRE_HELD;
    return ERR_OK;
}

static enum err take(struct attempt *attempt, enum acquire_result *result)
{
    enum err err = begin(attempt);
    if (err == ERR_OK)
        err = read_cluster(attempt);
    if (err == ERR_OK)
        err = read_job(attempt);
    if (err != ERR_OK)
        return err;
    *result = judge(attempt);
    if (*result == ACQUIRE_GOT)
        return take_lock(attempt, result);
    if (*result == ACQUIRE_REFUSED)
        return refuse(attempt);
    leave(attempt);
    return ERR_OK;
}

/* Wait for the lost transaction to end (it has the cluster's row), then look for its lock. */
static enum err look_for_lock(struct attempt *attempt, bool *is_ours)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    struct link *link = attempt->link;
    struct rt_rows rows = {0};

    enum err err = link_ready(rt, link);
    if (err == ERR_OK)
        err = link_begin_on(rt, link, job->cluster_id);
    if (err == ERR_OK) {
        err = link_exec(rt, link, &job_locks_find_lock,
                        PARAMS(job->cluster_id, job->id, rt_instance(rt), job_token_text(rt, job)),
                        &rows);
    }
    *is_ours = err == ERR_OK && rows.row_count == 1;
    if (err != ERR_DB_UNREACHABLE)
        link_rollback(rt, link);
    return err;
}

/* The connection went, and with it the answer. Whether the lock is ours can only be read. */
static enum acquire_result find_out(struct attempt *attempt)
{
    if (!attempt->is_insert_sent ||
        rt_weak(attempt->rt, JOB_LOCKS_WEAK_LOST_COMMIT_TAKEN_FOR_FAILURE))
        return ACQUIRE_AGAIN;
    for (int i = 0; i < FIND_OUT_TRY_COUNT_MAX; i++) {
        bool is_ours = false;
        if (look_for_lock(attempt, &is_ours) == ERR_OK)
            return is_ours ? ACQUIRE_GOT : ACQUIRE_AGAIN;
        rt_sleep(attempt->rt, RECONNECT_NS);
    }
    return ACQUIRE_AGAIN;
}

/* Before the transaction, from another server: whatever it says may be of the past. */
static enum err read_standby(struct attempt *attempt, struct link *standby)
{
    struct rt_rows rows = {0};

    enum err err = link_ready(attempt->rt, standby);
    if (err == ERR_OK) {
        err = link_exec(attempt->rt, standby, &job_locks_select_status,
                        PARAMS(attempt->job->cluster_id), &rows);
    }
    if (err == ERR_OK && rows.row_count == 0)
        return ERR_DB_UNREACHABLE; /* it has not heard of the cluster yet */
    if (err == ERR_OK)
        attempt->cluster_status = keep_cell(attempt->rt, &rows, 0, 0);
    return err;
}

static enum acquire_result acquire_once(struct rt *rt, struct worker *worker, struct job *job,
                                        bool *is_serialization_failure)
{
    struct attempt attempt = {
        .rt = rt, .link = &worker->link, .section = &worker->section, .job = job};
    enum acquire_result result = ACQUIRE_AGAIN;

    *is_serialization_failure = false;
    if (rt_weak(rt, JOB_LOCKS_WEAK_STATUS_READ_FROM_STANDBY) &&
        read_standby(&attempt, &worker->standby) != ERR_OK)
        return ACQUIRE_AGAIN;
    /* The database counts the lease from the transaction's start, which is later than this. */
    job->lease_from = rt_mono_now(rt);
    enum err err = take(&attempt, &result);
    if (err == ERR_OK)
        return result;
    if (err != ERR_DB_SQL) {
        rt_emit(rt, "lock.error", "cluster", job->cluster_id, "job", job->id, "error",
                err_name(err), NULL);
        return find_out(&attempt);
    }
    const char *sqlstate = rt_db_sqlstate(worker->link.db);
    *is_serialization_failure = strcmp(sqlstate, "40001") == 0;
    rt_emit(rt, "lock.error", "cluster", job->cluster_id, "job", job->id, "sqlstate", sqlstate,
            NULL);
    leave(&attempt);
    return ACQUIRE_AGAIN;
}

/* A serialization failure says that the same transaction may succeed now. */
enum acquire_result job_acquire(struct rt *rt, struct worker *worker, struct job *job)
{
    enum acquire_result result = ACQUIRE_AGAIN;
    bool is_serialization_failure = true;

    for (int i = 0; i < SERIALIZATION_TRY_COUNT_MAX && is_serialization_failure; i++)
        result = acquire_once(rt, worker, job, &is_serialization_failure);
    return result;
}
