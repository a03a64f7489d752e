/* Keeping a lock alive, from a fiber and a connection of its own. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

static enum err send_renewal(struct rt *rt, struct link *link, const struct job *job,
                             struct rt_rows *rows)
{
    const char *token = job_token_text(rt, job);

    if (rt_weak(rt, JOB_LOCKS_WEAK_EXPIRY_BY_WORKER_CLOCK)) {
        return link_exec(
            rt, link, &job_locks_renew_lock_until,
            PARAMS(job->cluster_id, job->id, rt_instance(rt), token, lease_end_text(rt)), rows);
    }
    return link_exec(rt, link, &job_locks_renew_lock,
                     PARAMS(job->cluster_id, job->id, rt_instance(rt), token), rows);
}

static enum err renew(struct rt *rt, struct link *link, struct job *job, int *renewed_count)
{
    struct rt_rows rows = {0};

    enum err err = link_ready(rt, link);
    if (err != ERR_OK)
        return err;
    /* Counted from before the renewal is sent: the database's lease cannot end earlier than
     * ours. */
    mono_time sent_at = rt_mono_now(rt);
    err = send_renewal(rt, link, job, &rows);
    *renewed_count = rows.affected_count;
    if (err != ERR_OK || rows.affected_count != 1)
        return err;
    job->lease_from = sent_at;
    if (strcmp(rt_cell(&rows, 0, 0), "t") == 0)
        job_set_stopped(rt, job);
    return ERR_OK;
}

/* One beat. Returns how long to wait until the next. */
static int64_t beat(struct rt *rt, struct link *link, struct job *job)
{
    int renewed_count = 0;
    enum err err = renew(rt, link, job, &renewed_count);

    if (err == ERR_OK && renewed_count == 1) {
        rt_emit(rt, "lock.renewed", "cluster", job->cluster_id, "job", job->id, NULL);
        return HEARTBEAT_INTERVAL_NS;
    }
    rt_emit(rt, "heartbeat.failed", "cluster", job->cluster_id, "job", job->id, "error",
            err == ERR_OK ? "no such lock" : err_name(err), NULL);
    if (rt_weak(rt, JOB_LOCKS_WEAK_HEARTBEAT_LOSS_IGNORED))
        return HEARTBEAT_INTERVAL_NS;
    if (err == ERR_OK && !job->releasing)
        job_set_lost(rt, job, "renewal");
    return HEARTBEAT_RETRY_NS;
}

void heartbeat_body(struct rt *rt, void *arg)
{
    struct job *job = arg;
    struct link link = {.label = "heartbeat"};
    int64_t wait_ns = HEARTBEAT_INTERVAL_NS;

    while (!job->lost && !rt_wait(rt, &job->done, wait_ns))
        wait_ns = beat(rt, &link, job);
    link_close(rt, &link);
}
