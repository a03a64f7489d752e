/* The endpoint /process/next: lock, read, work, write, release. */
#include "reference_impl/instance_lock/instance_lock.h"

static bool is_remembering(struct rt *rt, const struct handling *handling)
{
    return handling->locking == LOCKING_OPTIMISTIC ||
           !rt_weak(rt, INSTANCE_LOCK_WEAK_REQUEST_NOT_REMEMBERED);
}

/* A request that has come before may have been done. 0: it was not. */
static int answer_again(struct rt *rt, struct handling *handling)
{
    const char *task = NULL;

    if (!handling->is_retry || !is_remembering(rt, handling))
        return 0;
    enum err err = instance_remembered(rt, handling, &task);
    if (err != ERR_OK)
        return handling_status_of(err);
    handling->why = task;
    return task != NULL ? HTTP_OK : 0;
}

static int status_of_effects(struct handling *handling, enum err err)
{
    handling->why = err_name(err);
    if (err == ERR_SERVICE_REJECTED)
        return HTTP_REJECTED;
    return err == ERR_FENCED || err == ERR_TIMEOUT ? HTTP_UNAVAILABLE : HTTP_FAILED;
}

/* With the lock, where there is one. */
static int advance(struct rt *rt, struct handling *handling)
{
    int status = answer_again(rt, handling);
    if (status != 0)
        return status;
    enum err err = instance_read(rt, handling);
    if (err != ERR_OK)
        return handling_status_of(err);
    handling->transition = transition_from(handling->task);
    if (handling->transition == NULL)
        return HTTP_ENDED;
    err = instance_work(rt, handling);
    if (err != ERR_OK)
        return status_of_effects(handling, err);
    return instance_write(rt, handling);
}

static void release(struct rt *rt, struct handling *handling)
{
    if (handling->lock_token == NULL)
        return;
    rt_metric_observe(rt, METRIC_LOCK_HELD, NULL, NULL,
                      mono_since_ns(rt_mono_now(rt), handling->lease_from));
    if (handling->locking == LOCKING_TABLE)
        instance_table_release(rt, handling);
    else
        instance_session_release(rt, handling);
}

static int refuse(struct rt *rt, struct handling *handling)
{
    int status = answer_again(rt, handling);
    if (status != 0)
        return status;
    rt_emit(rt, "lock.refused", "instance", handling->instance_id, "request", handling->id, NULL);
    return HTTP_CONFLICT;
}

int process_next(struct rt *rt, struct handling *handling)
{
    int status = HTTP_FAILED;

    if (handling->locking == LOCKING_OPTIMISTIC)
        return advance(rt, handling);
    enum lock_result got = handling->locking == LOCKING_TABLE
                               ? instance_table_acquire(rt, handling, &status)
                               : instance_session_acquire(rt, handling, &status);
    if (got == LOCK_REFUSED)
        return refuse(rt, handling);
    if (got == LOCK_FAILED)
        return status;
    rt_emit(rt, "lock.acquired", "instance", handling->instance_id, "request", handling->id, NULL);
    status = advance(rt, handling);
    release(rt, handling);
    return status;
}
