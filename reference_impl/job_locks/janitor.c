/* The janitor: reaps expired locks, and sends the messages of forgotten jobs again. */
#include <stdlib.h>

#include "reference_impl/job_locks/job_locks.h"

/* A round takes so many at most; the rest waits for the next one. */
#define ROUND_COUNT_MAX 64

struct expired_lock {
    const char *cluster_id, *job_id, *locked_by, *token;
};

struct dead_job {
    const struct job_rule *rule;
    int attempt;
    const char *root_id;
    const char *group;
};

struct forgotten_job {
    const char *id, *cluster_id, *group;
};

static const char *keep(struct rt *rt, const struct rt_rows *rows, int row, int column)
{
    return rt_printf(rt, "%s", rt_cell(rows, row, column));
}

static enum err time_out_job(struct rt *rt, struct link *link, const struct expired_lock *lock,
                             struct dead_job *dead)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &job_locks_time_out_job, PARAMS(lock->job_id), &rows);
    if (err != ERR_OK || rows.row_count == 0)
        return err;
    dead->rule = job_rule_find(rt_cell(&rows, 0, 0));
    FP_ASSERT(dead->rule != NULL);
    dead->attempt = (int)strtol(rt_cell(&rows, 0, 1), NULL, 10);
    dead->root_id = keep(rt, &rows, 0, 2);
    dead->group = keep(rt, &rows, 0, 3);
    return ERR_OK;
}

/* Put the cluster where a retry may start, or where it can be destroyed when there is none. */
static enum err reset_cluster(struct rt *rt, struct link *link, const struct expired_lock *lock,
                              const struct dead_job *dead)
{
    if (rt_weak(rt, JOB_LOCKS_WEAK_REAP_LEAVES_CLUSTER))
        return ERR_OK;
    const char *status = dead->attempt < JOB_ATTEMPT_COUNT_MAX ? dead->rule->retry : "FAILED";
    return link_exec(rt, link, &job_locks_reset_cluster,
                     PARAMS(lock->cluster_id, status, dead->rule->during), NULL);
}

/* *retry_id stays NULL when the job has had its last try. */
static enum err insert_retry(struct rt *rt, struct link *link, const struct expired_lock *lock,
                             const struct dead_job *dead, const char **retry_id)
{
    if (dead->attempt >= JOB_ATTEMPT_COUNT_MAX)
        return ERR_OK;
    const char *id = rt_printf(rt, "%s.%d", dead->root_id, dead->attempt + 1);
    enum err err = link_exec(rt, link, &job_locks_insert_retry, PARAMS(lock->job_id, id), NULL);
    if (err == ERR_OK)
        *retry_id = id;
    return err;
}

/* The lock is deleted; what belonged to it follows in the same transaction. */
static enum err bury(struct rt *rt, struct link *link, const struct expired_lock *lock,
                     struct dead_job *dead, const char **retry_id)
{
    enum err err = time_out_job(rt, link, lock, dead);
    if (err == ERR_OK && dead->rule != NULL)
        err = reset_cluster(rt, link, lock, dead);
    if (err == ERR_OK && dead->rule != NULL)
        err = insert_retry(rt, link, lock, dead, retry_id);
    return err == ERR_OK ? link_exec(rt, link, &job_locks_commit, NULL, NULL) : err;
}

static enum err reap_steps(struct rt *rt, struct link *link, const struct expired_lock *lock,
                           struct dead_job *dead, const char **retry_id, bool *is_reaped)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &job_locks_begin, NULL, NULL);
    if (err == ERR_OK)
        err = link_exec(rt, link, &job_locks_lock_cluster, PARAMS(lock->cluster_id), NULL);
    if (err == ERR_OK) {
        err =
            link_exec(rt, link, &job_locks_reap_lock,
                      PARAMS(lock->cluster_id, lock->job_id, lock->locked_by, lock->token), &rows);
    }
    if (err != ERR_OK)
        return err;
    if (rows.affected_count == 0) {
        link_rollback(rt, link);
        return ERR_OK;
    }
    err = bury(rt, link, lock, dead, retry_id);
    *is_reaped = err == ERR_OK;
    return err;
}

/* When the answer to the COMMIT is lost the retry's message is not sent here. It is sent when the
 * retry is found to be forgotten. */
static enum err reap(struct rt *rt, struct link *link, const struct expired_lock *lock)
{
    struct dead_job dead = {0};
    const char *retry_id = NULL;
    bool is_reaped = false;

    enum err err = reap_steps(rt, link, lock, &dead, &retry_id, &is_reaped);
    if (err == ERR_DB_SQL)
        link_rollback(rt, link);
    if (!is_reaped)
        return err;
    rt_emit(rt, "lock.reaped", "cluster", lock->cluster_id, "job", lock->job_id, "locked_by",
            lock->locked_by, "retry", retry_id, NULL);
    if (retry_id != NULL)
        rt_queue_send(rt, dead.group, job_message(rt, retry_id, lock->cluster_id));
    return ERR_OK;
}

static enum err reap_expired(struct rt *rt, struct link *link)
{
    struct expired_lock locks[ROUND_COUNT_MAX];
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &job_locks_list_expired_locks, NULL, &rows);
    if (err != ERR_OK)
        return err;
    int count = rows.row_count < ROUND_COUNT_MAX ? rows.row_count : ROUND_COUNT_MAX;
    for (int i = 0; i < count; i++) {
        locks[i] = (struct expired_lock){keep(rt, &rows, i, 0), keep(rt, &rows, i, 1),
                                         keep(rt, &rows, i, 2), keep(rt, &rows, i, 3)};
    }
    for (int i = 0; i < count && err == ERR_OK; i++)
        err = reap(rt, link, &locks[i]);
    return err;
}

/* A message too many is harmless: a job is done only while it is PENDING. */
static enum err send_again(struct rt *rt, struct link *link, const struct forgotten_job *job)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &job_locks_touch_job, PARAMS(job->id), &rows);
    if (err != ERR_OK || rows.affected_count == 0)
        return err;
    rt_emit(rt, "job.sent_again", "job", job->id, "cluster", job->cluster_id, NULL);
    rt_queue_send(rt, job->group, job_message(rt, job->id, job->cluster_id));
    return ERR_OK;
}

static enum err send_forgotten(struct rt *rt, struct link *link)
{
    struct forgotten_job jobs[ROUND_COUNT_MAX];
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &job_locks_list_forgotten_jobs, NULL, &rows);
    if (err != ERR_OK)
        return err;
    int count = rows.row_count < ROUND_COUNT_MAX ? rows.row_count : ROUND_COUNT_MAX;
    for (int i = 0; i < count; i++) {
        jobs[i] = (struct forgotten_job){keep(rt, &rows, i, 0), keep(rt, &rows, i, 1),
                                         keep(rt, &rows, i, 2)};
    }
    for (int i = 0; i < count && err == ERR_OK; i++)
        err = send_again(rt, link, &jobs[i]);
    return err;
}

/* Whatever fails is found again in the next round. */
void job_locks_janitor(struct rt *rt)
{
    struct link link = {.label = "janitor"};

    for (;;) {
        rt_idle(rt, JANITOR_INTERVAL_NS);
        enum err err = link_ready(rt, &link);
        if (err == ERR_OK)
            err = reap_expired(rt, &link);
        if (err == ERR_OK)
            err = send_forgotten(rt, &link);
        if (err != ERR_OK)
            rt_emit(rt, "janitor.failed", "error", err_name(err), NULL);
    }
}
