/* What the jobs do. Every handler may find that it, or one before it, has done part of it
 * already. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define DESTROY_ROUND_COUNT_MAX 3

/* A call that timed out may still be under way, so the cloud is asked at the end whether all of it
 * is there. */
static enum err create(struct rt *rt, struct job *job)
{
    struct rt_cloud_reply reply = {0};

    for (int i = 0; i < CLOUD_PART_COUNT; i++) {
        enum err err = cloud_do(rt, job, RT_CLOUD_CREATE, cloud_parts[i], 0, NULL);
        /* The name is this cluster's alone, so what exists was made by an earlier try. */
        if (err != ERR_OK && err != ERR_CLOUD_EXISTS)
            return err;
    }
    enum err err = cloud_wait_still(rt, job, &reply);
    if (err != ERR_OK)
        return err;
    return reply.part_count == CLOUD_PART_COUNT ? ERR_OK : ERR_CLOUD_TIMEOUT;
}

static bool is_part_gone(struct rt *rt, enum err err)
{
    if (err == ERR_CLOUD_TIMEOUT)
        return rt_weak(rt, JOB_LOCKS_WEAK_TIMEOUT_TAKEN_FOR_DONE);
    return err == ERR_OK || err == ERR_CLOUD_ABSENT;
}

static enum err destroy_parts(struct rt *rt, struct job *job)
{
    for (int i = CLOUD_PART_COUNT - 1; i >= 0; i--) {
        enum err err = cloud_do(rt, job, RT_CLOUD_DESTROY, cloud_parts[i], 0, NULL);
        if (!is_part_gone(rt, err))
            return err;
    }
    return ERR_OK;
}

/* A create that timed out may still happen behind our back, so the cloud is asked at the end. */
static enum err destroy(struct rt *rt, struct job *job)
{
    if (rt_weak(rt, JOB_LOCKS_WEAK_TIMEOUT_TAKEN_FOR_DONE))
        return destroy_parts(rt, job);
    for (int i = 0; i < DESTROY_ROUND_COUNT_MAX; i++) {
        struct rt_cloud_reply reply = {0};
        enum err err = destroy_parts(rt, job);
        if (err == ERR_OK)
            err = cloud_wait_still(rt, job, &reply);
        if (err == ERR_CLOUD_ABSENT || (err == ERR_OK && reply.part_count == 0))
            return ERR_OK;
        if (err != ERR_OK)
            return err;
    }
    return ERR_CLOUD_EXISTS;
}

static enum err scale(struct rt *rt, struct job *job)
{
    struct rt_cloud_reply reply = {0};

    enum err err = cloud_do(rt, job, RT_CLOUD_LOOK, "", 0, &reply);
    if (err != ERR_OK || reply.worker_count == job->worker_count)
        return err;
    return cloud_do(rt, job, RT_CLOUD_SCALE, "workers", job->worker_count, NULL);
}

static const struct {
    const char *type;
    enum err (*handle)(struct rt *rt, struct job *job);
} handlers[] = {
    {"CREATE", create},
    {"DESTROY", destroy},
    {"JANITOR_DESTROY", destroy},
    {"SCALE_WORKERS", scale},
};

enum err job_handle(struct rt *rt, struct job *job)
{
    enum err err = cloud_take_over(rt, job);
    if (err != ERR_OK && err != ERR_CLOUD_ABSENT)
        return err;
    for (size_t i = 0; i < FP_COUNT(handlers); i++)
        if (strcmp(handlers[i].type, job->rule->type) == 0)
            return handlers[i].handle(rt, job);
    FP_ASSERT(!"a rule without a handler");
    return ERR_INFRASTRUCTURE;
}
