/* Where the instance stands: read, and written with the end of the lock. */
#include <inttypes.h>

#include "reference_impl/instance_lock/instance_lock.h"

enum err instance_remembered(struct rt *rt, struct handling *handling, const char **task)
{
    struct rt_rows rows = {0};

    *task = NULL;
    enum err err =
        handling_exec(rt, handling, &instance_lock_select_step, PARAMS(handling->id), &rows);
    if (err == ERR_OK && rows.row_count == 1)
        *task = keep_cell(rt, &rows, 0, 0);
    handling_disconnect(rt, handling);
    return err;
}

enum err instance_read(struct rt *rt, struct handling *handling)
{
    struct rt_rows rows = {0};

    if (handling->task != NULL)
        return ERR_OK;
    enum err err = handling_exec(rt, handling, &instance_lock_select_instance,
                                 PARAMS(handling->instance_id), &rows);
    if (err == ERR_OK) {
        FP_ASSERT(rows.row_count == 1); /* instances are never deleted */
        handling->task = keep_cell(rt, &rows, 0, 0);
    }
    handling_disconnect(rt, handling);
    return err;
}

/* ---- the step ---- */

static int lost(struct handling *handling)
{
    handling->why = "the lock is lost";
    return HTTP_UNAVAILABLE;
}

/* Nothing was written: by an earlier try it was, or the lock is somebody else's. */
static int find_out(struct rt *rt, struct handling *handling)
{
    const char *task = NULL;
    enum err err = instance_remembered(rt, handling, &task);
    if (err != ERR_OK)
        return handling_status_of(err);
    return task != NULL ? HTTP_OK : lost(handling);
}

/* Step and lock end together. True: it is certain what became of it. */
static bool finish_once(struct rt *rt, struct handling *handling, int *status)
{
    const struct rt_sql *sql = rt_weak(rt, INSTANCE_LOCK_WEAK_RELEASE_BY_CLOCK)
                                   ? &instance_lock_finish_by_clock
                                   : &instance_lock_finish;
    struct rt_rows rows = {0};
    enum err err = handling_exec(rt, handling, sql,
                                 PARAMS(handling->instance_id, handling->lock_token,
                                        handling->transition->from, handling->transition->to,
                                        rt_printf(rt, "%" PRId64, handling->fence), handling->id),
                                 &rows);
    bool is_done = err == ERR_OK && rows.affected_count == 1;

    handling_disconnect(rt, handling);
    if (err != ERR_OK) {
        *status = handling_status_of(err);
        return false;
    }
    *status = is_done ? HTTP_OK : find_out(rt, handling);
    return *status == HTTP_OK || handling->why != NULL;
}

/* An answer that is lost is asked for again while the lock may live. */
static int finish(struct rt *rt, struct handling *handling)
{
    int status = HTTP_FAILED;

    for (int i = 0; i < TRY_COUNT_MAX && !finish_once(rt, handling, &status); i++) {
        if (rt_weak(rt, INSTANCE_LOCK_WEAK_LOST_ANSWER_IS_FAILURE) ||
            !instance_table_may_live(rt, handling))
            break;
        rt_sleep(rt, RETRY_PAUSE_NS);
    }
    return status;
}

/* By statements of their own. The lock ends in the endpoint. */
static int write_alone(struct rt *rt, struct handling *handling, const struct rt_sql *sql)
{
    struct rt_rows rows = {0};
    enum err err = handling_exec(rt, handling, sql,
                                 PARAMS(handling->instance_id, handling->transition->from,
                                        handling->transition->to, handling->id),
                                 &rows);
    bool is_done = err == ERR_OK && rows.affected_count == 1;
    handling_disconnect(rt, handling);
    if (err != ERR_OK)
        return handling_status_of(err);
    return is_done ? HTTP_OK : HTTP_CONFLICT;
}

int instance_write(struct rt *rt, struct handling *handling)
{
    bool is_unguarded = rt_weak(rt, INSTANCE_LOCK_WEAK_EXPIRY_IGNORED_ON_RELEASE) &&
                        handling->locking != LOCKING_OPTIMISTIC;
    if (handling->locking == LOCKING_TABLE && !is_unguarded &&
        !rt_weak(rt, INSTANCE_LOCK_WEAK_NO_TOKEN)) {
        int status = finish(rt, handling);
        handling->lock_token = status == HTTP_OK ? NULL : handling->lock_token;
        return status;
    }
    return write_alone(rt, handling,
                       is_unguarded ? &instance_lock_write_step : &instance_lock_write_step_from);
}
