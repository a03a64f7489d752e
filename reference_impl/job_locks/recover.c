/* The document's two disasters: lock state that is lost, and two workers that hold one lock. */
#include "reference_impl/job_locks/job_locks.h"

/* ---- a RUNNING job without a lock ---- */

static enum err lose_job(struct rt *rt, struct link *link, const char *cluster_id,
                         const char *job_id, bool *is_lost)
{
    struct rt_rows rows = {0};

    bool begun = false;
    enum err err = link_try_begin_on(rt, link, cluster_id, &begun);
    if (err != ERR_OK || !begun)
        return err;
    err = link_exec(rt, link, &job_locks_lose_job, PARAMS(job_id), &rows);
    *is_lost = err == ERR_OK && rows.affected_count == 1;
    if (*is_lost)
        err = link_exec(rt, link, &job_locks_fail_cluster, PARAMS(cluster_id), NULL);
    if (*is_lost && err == ERR_OK) {
        err = link_exec(rt, link, &job_locks_audit_ended, PARAMS(cluster_id, job_id, "lock_lost"),
                        NULL);
    }
    return err == ERR_OK ? link_commit(rt, link) : err;
}

enum err recover_lockless(struct rt *rt, struct link *link, const char *cluster_id,
                          const char *job_id)
{
    bool is_lost = false;

    enum err err = lose_job(rt, link, cluster_id, job_id, &is_lost);
    if (err == ERR_DB_SQL)
        link_rollback(rt, link);
    if (err != ERR_OK || !is_lost)
        return err;
    rt_alert_clear(rt, ALERT_SLOW_JOB, job_id);
    if (rt_weak(rt, JOB_LOCKS_WEAK_ALERT_AFTER_COMMIT))
        rt_alert(rt, ALERT_LOCK_STATE, "critical", cluster_id);
    rt_emit(rt, "lock.state_lost", "cluster", cluster_id, "job", job_id, NULL);
    return ERR_OK;
}

/* ---- two workers, one lock ---- */

static enum err request_stops(struct rt *rt, struct link *link,
                              const struct double_holders *holders)
{
    enum err err = link_exec(rt, link, &job_locks_request_stop,
                             PARAMS(holders->worker, holders->job_id), NULL);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, link, &job_locks_request_stop,
                     PARAMS(holders->worker_before, holders->job_id_before), NULL);
}

static enum err end_double(struct rt *rt, struct link *link, const struct double_holders *holders)
{
    enum err err = request_stops(rt, link, holders);
    if (err == ERR_OK) {
        err = link_exec(rt, link, &job_locks_delete_lock_of_cluster, PARAMS(holders->cluster_id),
                        NULL);
    }
    if (err == ERR_OK) {
        err = link_exec(rt, link, &job_locks_fail_double_jobs,
                        PARAMS(holders->job_id, holders->job_id_before), NULL);
    }
    if (err == ERR_OK)
        err = link_exec(rt, link, &job_locks_fail_cluster, PARAMS(holders->cluster_id), NULL);
    return err;
}

static enum err double_steps(struct rt *rt, struct link *link, const struct double_holders *holders,
                             bool *is_handled)
{
    struct rt_rows rows = {0};

    bool begun = false;
    enum err err = link_try_begin_on(rt, link, holders->cluster_id, &begun);
    if (err != ERR_OK || !begun)
        return err;
    err = link_exec(rt, link, &job_locks_audit_double,
                    PARAMS(holders->cluster_id, holders->job_id, holders->worker), &rows);
    *is_handled = err == ERR_OK && rows.affected_count == 1;
    if (*is_handled)
        err = end_double(rt, link, holders);
    return err == ERR_OK ? link_commit(rt, link) : err;
}

enum err recover_double(struct rt *rt, struct link *link, const struct double_holders *holders)
{
    bool is_handled = false;

    enum err err = double_steps(rt, link, holders, &is_handled);
    if (err == ERR_DB_SQL)
        link_rollback(rt, link);
    if (err != ERR_OK || !is_handled)
        return err;
    if (rt_weak(rt, JOB_LOCKS_WEAK_ALERT_AFTER_COMMIT))
        rt_alert(rt, ALERT_DOUBLE, "critical", holders->cluster_id);
    rt_emit(rt, "lock.held_twice", "cluster", holders->cluster_id, "job", holders->job_id, "worker",
            holders->worker, "other_job", holders->job_id_before, "other_worker",
            holders->worker_before, NULL);
    return ERR_OK;
}
