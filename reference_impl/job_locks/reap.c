/* Taking away a lock whose lease has ended, and with it all that its holder left behind. */
#include <stdlib.h>

#include "reference_impl/job_locks/job_locks.h"

/* What a reaped lock was for. */
struct dead_job {
    const struct job_rule *rule;
    int attempt;
    const char *root_id;
    const char *retry_id; /* NULL: it has had its last try */
};

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
    dead->root_id = keep_cell(rt, &rows, 0, 2);
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

static enum err insert_retry(struct rt *rt, struct link *link, const struct expired_lock *lock,
                             struct dead_job *dead)
{
    if (dead->attempt >= JOB_ATTEMPT_COUNT_MAX)
        return ERR_OK;
    const char *id = rt_printf(rt, "%s.%d", dead->root_id, dead->attempt + 1);
    enum err err = link_exec(rt, link, &job_locks_insert_retry, PARAMS(lock->job_id, id), NULL);
    if (err != ERR_OK)
        return err;
    dead->retry_id = id;
    return ERR_OK;
}

/* The lock is deleted; what belonged to it follows. */
static enum err bury(struct rt *rt, struct link *link, const struct expired_lock *lock,
                     struct dead_job *dead)
{
    enum err err = time_out_job(rt, link, lock, dead);
    if (err == ERR_OK && dead->rule != NULL)
        err = reset_cluster(rt, link, lock, dead);
    if (err == ERR_OK && dead->rule != NULL)
        err = insert_retry(rt, link, lock, dead);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, link, &job_locks_audit_ended,
                     PARAMS(lock->cluster_id, lock->job_id, "lock_reaped"), NULL);
}

/* As the document has it, or all of it in one transaction. */
static bool is_transactional(struct rt *rt)
{
    return !rt_weak(rt, JOB_LOCKS_WEAK_REAP_NOT_ATOMIC);
}

static enum err reap_steps(struct rt *rt, struct link *link, const struct expired_lock *lock,
                           struct dead_job *dead, bool *is_reaped)
{
    struct rt_rows rows = {0};

    bool begun = true;
    enum err err = ERR_OK;
    if (is_transactional(rt))
        err = link_try_begin_on(rt, link, lock->cluster_id, &begun);
    if (err != ERR_OK || !begun)
        return err;
    err = link_exec(rt, link, &job_locks_reap_lock,
                    PARAMS(lock->cluster_id, lock->job_id, lock->locked_by, lock->token), &rows);
    if (err != ERR_OK)
        return err;
    *is_reaped = rows.affected_count == 1;
    if (*is_reaped)
        err = bury(rt, link, lock, dead);
    if (err == ERR_OK && is_transactional(rt))
        err = link_commit(rt, link);
    return err;
}

/* When the answer to the COMMIT is lost the retry's message is not sent here. It is sent when the
 * retry is found to be forgotten. It has a group of its own: in its cluster's it would stand behind
 * the jobs that wait for it. */
enum err reap(struct rt *rt, struct link *link, const struct expired_lock *lock)
{
    struct dead_job dead = {0};
    bool is_reaped = false;

    enum err err = reap_steps(rt, link, lock, &dead, &is_reaped);
    if (err == ERR_DB_SQL)
        link_rollback(rt, link);
    if (err != ERR_OK || !is_reaped)
        return err;
    rt_metric_count(rt, METRIC_STALE_LOCKS, NULL, NULL, 1);
    rt_alert_clear(rt, ALERT_STALE_LOCK, lock->cluster_id);
    rt_alert_clear(rt, ALERT_SLOW_JOB, lock->job_id);
    rt_emit(rt, "lock.reaped", "cluster", lock->cluster_id, "job", lock->job_id, "locked_by",
            lock->locked_by, "retry", dead.retry_id, NULL);
    if (dead.retry_id == NULL)
        return ERR_OK;
    return rt_queue_send(rt, rt_printf(rt, "retry-%s", dead.retry_id),
                         job_message(rt, dead.retry_id, lock->cluster_id));
}
