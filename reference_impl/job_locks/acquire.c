/* Taking the lock on a cluster: the algorithm of the document, step by step. */
#include <stdlib.h>
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define FIND_OUT_TRY_COUNT_MAX 1000

/* One attempt. */
struct attempt {
    struct rt *rt;
    struct link *link;
    struct job *job;
    char cluster_status[32];
    bool is_insert_sent; /* from here on the lock may be ours although we never heard of it */
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
                                   ? &job_locks_begin
                                   : &job_locks_begin_serializable;
    return link_exec(attempt->rt, attempt->link, sql, NULL, NULL);
}

static enum err commit(struct attempt *attempt)
{
    if (!is_transactional(attempt->rt))
        return ERR_OK;
    return link_exec(attempt->rt, attempt->link, &job_locks_commit, NULL, NULL);
}

static void leave(struct attempt *attempt)
{
    if (is_transactional(attempt->rt))
        link_rollback(attempt->rt, attempt->link);
}

/* Step 2. */
static enum err read_cluster(struct attempt *attempt)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    struct rt_rows rows = {0};
    const struct rt_sql *sql = rt_weak(rt, JOB_LOCKS_WEAK_UNKEYED_LOCK)
                                   ? &job_locks_select_cluster_unlocked
                                   : &job_locks_select_cluster;

    enum err err = link_exec(rt, attempt->link, sql, PARAMS(job->cluster_id), &rows);
    if (err != ERR_OK)
        return err;
    FP_ASSERT(rows.row_count == 1); /* a message names a cluster, and clusters are never deleted */
    const char *status = rt_cell(&rows, 0, 0);
    FP_ASSERT(strlen(status) < sizeof attempt->cluster_status);
    strcpy(attempt->cluster_status, status);
    job->name = rt_printf(rt, "%s", rt_cell(&rows, 0, 1));
    job->platform = rt_printf(rt, "%s", rt_cell(&rows, 0, 2));
    job->base_domain = rt_printf(rt, "%s", rt_cell(&rows, 0, 3));
    int64_t token_last = strtoll(rt_cell(&rows, 0, 4), NULL, 10);
    job->token = rt_weak(rt, JOB_LOCKS_WEAK_NO_FENCING) ? 0 : token_last + 1;
    return ERR_OK;
}

/* A message may come twice, and long after its job was taken. Only a PENDING job is to be done. */
static enum err read_job(struct attempt *attempt, bool *is_pending)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    struct rt_rows rows = {0};

    *is_pending = false;
    enum err err = link_exec(rt, attempt->link, &job_locks_select_job, PARAMS(job->id), &rows);
    if (err != ERR_OK || rows.row_count == 0)
        return err;
    FP_ASSERT(strcmp(rt_cell(&rows, 0, 3), job->cluster_id) == 0);
    *is_pending = strcmp(rt_cell(&rows, 0, 0), "PENDING") == 0;
    job->rule = job_rule_find(rt_cell(&rows, 0, 1));
    FP_ASSERT(job->rule != NULL); /* the schema knows the same types */
    job->worker_count = (int32_t)strtol(rt_cell(&rows, 0, 2), NULL, 10);
    return ERR_OK;
}

/* Step 4. */
static enum err insert_lock(struct attempt *attempt, bool *is_inserted)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;
    struct rt_rows rows = {0};
    const struct rt_sql *sql = &job_locks_insert_lock;

    *is_inserted = false;
    if (rt_weak(rt, JOB_LOCKS_WEAK_UNKEYED_LOCK)) {
        enum err err =
            link_exec(rt, attempt->link, &job_locks_count_locks, PARAMS(job->cluster_id), &rows);
        if (err != ERR_OK || strcmp(rt_cell(&rows, 0, 0), "0") != 0)
            return err;
        sql = &job_locks_insert_lock_unkeyed;
    }
    attempt->is_insert_sent = true;
    enum err err = link_exec(
        rt, attempt->link, sql,
        PARAMS(job->cluster_id, job->id, rt_instance(rt), job_token_text(rt, job)), &rows);
    *is_inserted = err == ERR_OK && rows.affected_count == 1;
    return err;
}

/* Step 5. */
static enum err start(struct attempt *attempt)
{
    struct rt *rt = attempt->rt;
    struct job *job = attempt->job;

    enum err err = link_exec(rt, attempt->link, &job_locks_start_job, PARAMS(job->id), NULL);
    if (err != ERR_OK)
        return err;
    err = link_exec(rt, attempt->link, &job_locks_start_cluster,
                    PARAMS(job->cluster_id, job->rule->during, job_token_text(rt, job)), NULL);
    if (err != ERR_OK)
        return err;
    return commit(attempt);
}

/* The status does not allow the job, and no other job is about to change it: the job ends here. */
static enum err refuse(struct attempt *attempt)
{
    enum err err = link_exec(attempt->rt, attempt->link, &job_locks_refuse_job,
                             PARAMS(attempt->job->id, "STATE_NOT_ALLOWED"), NULL);
    return err == ERR_OK ? commit(attempt) : err;
}

/* Step 3, and what the document calls LOCK_HELD_BY_OTHER_WORKER. True: go on to take the lock. */
static bool is_status_right(struct attempt *attempt)
{
    if (rt_weak(attempt->rt, JOB_LOCKS_WEAK_NO_STATUS_CHECK))
        return true;
    return job_rule_allows(attempt->job->rule, attempt->cluster_status);
}

static enum err take(struct attempt *attempt, enum acquire_result *result)
{
    bool is_pending = false, is_inserted = false;

    enum err err = begin(attempt);
    if (err == ERR_OK)
        err = read_cluster(attempt);
    if (err == ERR_OK)
        err = read_job(attempt, &is_pending);
    if (err != ERR_OK)
        return err;
    if (!is_pending) {
        leave(attempt);
        *result = ACQUIRE_DUPLICATE;
        return ERR_OK;
    }
    if (!is_status_right(attempt)) {
        if (status_is_in_progress(attempt->cluster_status)) {
            leave(attempt);
            *result = ACQUIRE_HELD;
            return ERR_OK;
        }
        *result = ACQUIRE_REFUSED;
        return refuse(attempt);
    }
    err = insert_lock(attempt, &is_inserted);
    if (err != ERR_OK)
        return err;
    if (!is_inserted) {
        leave(attempt);
        *result = ACQUIRE_HELD;
        return ERR_OK;
    }
    *result = ACQUIRE_GOT;
    return start(attempt);
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
        err = link_exec(rt, link, &job_locks_begin, NULL, NULL);
    if (err == ERR_OK)
        err = link_exec(rt, link, &job_locks_lock_cluster, PARAMS(job->cluster_id), NULL);
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
    if (!attempt->is_insert_sent)
        return ACQUIRE_AGAIN;
    for (int i = 0; i < FIND_OUT_TRY_COUNT_MAX; i++) {
        bool is_ours = false;
        if (look_for_lock(attempt, &is_ours) == ERR_OK)
            return is_ours ? ACQUIRE_GOT : ACQUIRE_AGAIN;
        rt_sleep(attempt->rt, RECONNECT_NS);
    }
    return ACQUIRE_AGAIN;
}

enum acquire_result job_acquire(struct rt *rt, struct link *link, struct job *job)
{
    struct attempt attempt = {.rt = rt, .link = link, .job = job};
    enum acquire_result result = ACQUIRE_AGAIN;

    /* The database counts the lease from the transaction's start, which is later than this. */
    job->lease_from = rt_mono_now(rt);
    enum err err = take(&attempt, &result);
    if (err == ERR_OK)
        return result;
    if (err == ERR_DB_SQL) {
        rt_emit(rt, "lock.error", "cluster", job->cluster_id, "job", job->id, "sqlstate",
                rt_db_sqlstate(link->db), NULL);
        leave(&attempt);
        return ACQUIRE_AGAIN;
    }
    rt_emit(rt, "lock.error", "cluster", job->cluster_id, "job", job->id, "error", err_name(err),
            NULL);
    return find_out(&attempt);
}
