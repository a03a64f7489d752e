/* Calls to the cloud on behalf of a job: always with its claim, never without asking first. */
#include "reference_impl/job_locks/job_locks.h"

#define BUSY_LOOK_COUNT_MAX 240
#define BUSY_WAIT_NS (30 * NS_PER_S)

const char *const cloud_parts[CLOUD_PART_COUNT] = {"network", "dns", "control-plane", "workers",
                                                   "ingress"};

/* A look changes nothing, so it needs no section around it. */
static bool may_call(struct rt *rt, struct job *job, enum rt_cloud_op op)
{
    return op == RT_CLOUD_LOOK ? job_may_act(rt, job) : section_check(rt, job);
}

enum err cloud_do(struct rt *rt, struct job *job, enum rt_cloud_op op, const char *part,
                  int32_t count, struct rt_cloud_reply *reply)
{
    struct rt_cloud_reply ignored = {0};
    struct rt_cloud_request request = {
        .op = op,
        .name = job->name,
        .platform = job->platform,
        .base_domain = job->base_domain,
        .part = part,
        .count = count,
        .claim = job_claim(job),
    };

    if (!may_call(rt, job, op))
        return ERR_FENCED;
    enum err err = rt_cloud_call(rt, &request, reply ? reply : &ignored);
    if (err == ERR_FENCED)
        job_set_lost(rt, job, "fenced");
    return err;
}

enum err cloud_wait_still(struct rt *rt, struct job *job, struct rt_cloud_reply *reply)
{
    for (int i = 0; i < BUSY_LOOK_COUNT_MAX; i++) {
        enum err err = cloud_do(rt, job, RT_CLOUD_LOOK, "", 0, reply);
        if (err != ERR_OK || reply->busy_count == 0)
            return err;
        rt_sleep(rt, BUSY_WAIT_NS);
    }
    return ERR_CLOUD_TIMEOUT;
}

/* Two things must be true before the first effect. An owner from before must not begin anything any
 * more: the cloud has seen our token. And what it has begun must have ended. */
enum err cloud_take_over(struct rt *rt, struct job *job)
{
    struct rt_cloud_reply reply = {0};

    if (job->token == 0)
        return ERR_OK;
    if (rt_weak(rt, JOB_LOCKS_WEAK_TAKE_OVER_WITHOUT_WAITING))
        return cloud_do(rt, job, RT_CLOUD_LOOK, "", 0, &reply);
    return cloud_wait_still(rt, job, &reply);
}
