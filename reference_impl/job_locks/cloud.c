/* Calls to the cloud on behalf of a job: always with its claim, never without asking first. */
#include "reference_impl/job_locks/job_locks.h"

#define CALL_TRY_COUNT_MAX 3
#define CALL_BACKOFF_FIRST_NS (5 * NS_PER_MIN)
#define BUSY_LOOK_COUNT_MAX 240
#define BUSY_WAIT_NS (30 * NS_PER_S)

const char *const cloud_parts[] = {"network", "dns", "control-plane", "workers", "ingress", NULL};

static enum err call(struct rt *rt, struct job *job, const struct rt_cloud_request *request,
                     struct rt_cloud_reply *reply)
{
    if (!job_may_act(rt, job))
        return ERR_FENCED;
    enum err err = rt_cloud_call(rt, request, reply);
    if (err == ERR_FENCED)
        job_set_lost(rt, job, "fenced");
    return err;
}

static bool is_transient(enum err err)
{
    return err == ERR_CLOUD_THROTTLED || err == ERR_CLOUD_TIMEOUT;
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
        .claim = {job->cluster_id, job->id, job->run, job->token},
    };
    int64_t backoff_ns = CALL_BACKOFF_FIRST_NS;
    enum err err = call(rt, job, &request, reply ? reply : &ignored);

    for (int i = 1; i < CALL_TRY_COUNT_MAX && is_transient(err); i++) {
        rt_sleep(rt, backoff_ns);
        backoff_ns *= 2;
        err = call(rt, job, &request, reply ? reply : &ignored);
    }
    return err;
}

/* Two things must be true before the first effect. An owner from before must not begin anything any
 * more: the cloud has seen our token. And what it has begun must have ended. */
enum err cloud_take_over(struct rt *rt, struct job *job)
{
    if (job->token == 0)
        return ERR_OK;
    for (int i = 0; i < BUSY_LOOK_COUNT_MAX; i++) {
        struct rt_cloud_reply reply = {0};
        enum err err = cloud_do(rt, job, RT_CLOUD_LOOK, "", 0, &reply);
        if (err != ERR_OK || reply.busy_count == 0)
            return err;
        rt_sleep(rt, BUSY_WAIT_NS);
    }
    return ERR_CLOUD_TIMEOUT;
}
