/* The work of a transition: what it asks of outside services. */
#include "reference_impl/instance_lock/instance_lock.h"

#define CALL_TRY_COUNT_MAX 3

static bool has_keys(struct rt *rt, const struct handling *handling)
{
    return handling->locking == LOCKING_OPTIMISTIC ||
           !rt_weak(rt, INSTANCE_LOCK_WEAK_EFFECTS_WITHOUT_KEY);
}

static int64_t fence_of(struct rt *rt, const struct handling *handling)
{
    return rt_weak(rt, INSTANCE_LOCK_WEAK_NO_FENCING) ? 0 : handling->fence;
}

static int64_t work_ns(struct rt *rt, const struct handling *handling)
{
    return rt_workload_number(rt, "instances", instance_index(handling->instance_id), "work");
}

static struct rt_service_request request_for(struct rt *rt, const struct handling *handling,
                                             const char *op)
{
    int64_t lasts_ns = work_ns(rt, handling);
    return (struct rt_service_request){
        .service = "platform",
        .op = op,
        .subject = handling->instance_id,
        /* Of the work, not of the request: whoever does it again does the same. */
        .key = has_keys(rt, handling)
                   ? rt_printf(rt, "%s/%s/%s", handling->instance_id, handling->task, op)
                   : NULL,
        .lasts_low_ns = lasts_ns / 2,
        .lasts_high_ns = lasts_ns,
        .claim = {.cluster_id = handling->instance_id,
                  .job_id = handling->id,
                  .run = handling->run,
                  .token = fence_of(rt, handling)},
    };
}

/* The first thing that a new owner does when the last one did not come to an end: from the look on
 * nothing of an older token begins, and what has begun is over when the longest call would be. */
static enum err take_over(struct rt *rt, struct handling *handling)
{
    enum err err = ERR_SERVICE_TIMEOUT;
    int32_t done_count;

    if (fence_of(rt, handling) == 0 || !handling->is_overtaken)
        return ERR_OK;
    struct rt_service_request request = request_for(rt, handling, handling->transition->ops[0]);
    for (int i = 0; i < TRY_COUNT_MAX && err == ERR_SERVICE_TIMEOUT; i++) {
        if (handling_is_late(rt, handling))
            return ERR_TIMEOUT;
        err = rt_service_look(rt, &request, &done_count);
        if (err == ERR_SERVICE_TIMEOUT)
            rt_sleep(rt, RETRY_PAUSE_NS);
    }
    if (err == ERR_OK && !rt_weak(rt, INSTANCE_LOCK_WEAK_TAKE_OVER_WITHOUT_WAITING))
        rt_sleep(rt, CALL_NS_MAX);
    handling->may_be_under_way = err != ERR_OK;
    return err;
}

/* A call that was not answered is over when the longest one would be. */
static void see_out(struct rt *rt, mono_time began)
{
    int64_t rest_ns = CALL_NS_MAX - mono_since_ns(rt_mono_now(rt), began);
    if (rest_ns > 0)
        rt_sleep(rt, rest_ns);
}

static enum err call_once(struct rt *rt, struct handling *handling, const char *op)
{
    struct rt_service_request request = request_for(rt, handling, op);
    mono_time began = rt_mono_now(rt);

    handling->may_be_under_way = true;
    enum err err = rt_service_call(rt, &request, NULL);
    if (err == ERR_SERVICE_TIMEOUT && has_keys(rt, handling))
        see_out(rt, began);
    handling->may_be_under_way = false;
    return err;
}

static bool is_worth_another_try(enum err err)
{
    return err == ERR_SERVICE_THROTTLED || err == ERR_SERVICE_TIMEOUT;
}

/* With a key it can be asked for again, whatever became of the last try. */
static enum err do_one(struct rt *rt, struct handling *handling, const char *op)
{
    int try_count = has_keys(rt, handling) ? CALL_TRY_COUNT_MAX : 1;
    enum err err = ERR_TIMEOUT;

    for (int i = 0; i < try_count; i++) {
        if (i > 0)
            rt_sleep(rt, RETRY_PAUSE_NS);
        if (handling_is_late(rt, handling) || !instance_table_suffices(rt, handling))
            return ERR_TIMEOUT;
        err = call_once(rt, handling, op);
        if (!is_worth_another_try(err))
            return err;
    }
    return err;
}

enum err instance_work(struct rt *rt, struct handling *handling)
{
    enum err err = take_over(rt, handling);
    for (int i = 0; err == ERR_OK && handling->transition->ops[i] != NULL; i++)
        err = do_one(rt, handling, handling->transition->ops[i]);
    return err;
}
