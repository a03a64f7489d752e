/* A job in a worker's hands, and whether it may still act. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

const char *job_message(struct rt *rt, const char *job_id, const char *cluster_id)
{
    return rt_printf(rt, "%s %s", job_id, cluster_id);
}

struct job *job_parse(struct rt *rt, const char *body)
{
    const char *space = strchr(body, ' ');
    if (space == NULL || space == body || space[1] == '\0')
        return NULL;
    struct job *job = rt_alloc(rt, sizeof *job);
    job->id = rt_printf(rt, "%.*s", (int)(space - body), body);
    job->cluster_id = rt_printf(rt, "%s", space + 1);
    return job;
}

bool job_may_act(struct rt *rt, struct job *job)
{
    if (job->lost)
        return false;
    if (rt_weak(rt, JOB_LOCKS_WEAK_LEASE_NOT_CHECKED))
        return true;
    if (mono_since_ns(rt_mono_now(rt), job->lease_from) < LEASE_NS - LEASE_MARGIN_NS)
        return true;
    job_set_lost(rt, job, "lease");
    return false;
}

void job_set_lost(struct rt *rt, struct job *job, const char *why)
{
    if (job->lost)
        return;
    job->lost = true;
    rt_emit(rt, "lock.lost", "cluster", job->cluster_id, "job", job->id, "why", why, NULL);
}

void job_set_stopped(struct rt *rt, struct job *job)
{
    job->stopped = true;
    job_set_lost(rt, job, "stopped");
}

const char *job_token_text(struct rt *rt, const struct job *job)
{
    FP_ASSERT(job->token >= 0);
    return rt_printf(rt, "%" PRId64, job->token);
}

struct rt_claim job_claim(const struct job *job)
{
    return (struct rt_claim){job->cluster_id, job->id, job->run, job->token};
}
