/* Keeping a lock alive, from a fiber and a connection of its own. */
#include "reference_impl/job_locks/job_locks.h"

static enum err renew(struct rt *rt, struct link *link, struct job *job, int *renewed_count)
{
    struct rt_rows rows = {0};

    enum err err = link_ready(rt, link);
    if (err != ERR_OK)
        return err;
    /* Counted from before the renewal is sent: the database's lease cannot end earlier than
     * ours. */
    mono_time sent_at = rt_mono_now(rt);
    err = link_exec(rt, link, &job_locks_renew_lock,
                    PARAMS(job->cluster_id, job->id, rt_instance(rt), job_token_text(rt, job)),
                    &rows);
    *renewed_count = rows.affected_count;
    if (err == ERR_OK && rows.affected_count == 1)
        job->lease_from = sent_at;
    return err;
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
