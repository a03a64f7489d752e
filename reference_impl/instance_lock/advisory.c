/* The rejected alternative A1: the lock is the session's, and the connection is kept for it. */
#include <string.h>

#include "reference_impl/instance_lock/instance_lock.h"

enum lock_result instance_session_acquire(struct rt *rt, struct handling *handling, int *status)
{
    bool waits = handling->locking == LOCKING_ADVISORY_WAIT;
    struct rt_rows rows = {0};
    enum err err = handling_exec(
        rt, handling, waits ? &instance_lock_lock_session : &instance_lock_try_lock_session,
        PARAMS(handling->instance_id), &rows);
    if (err != ERR_OK) {
        *status = handling_status_of(err);
        handling->why = err_name(err);
        handling_disconnect(rt, handling);
        return LOCK_FAILED;
    }
    if (!waits && strcmp(rt_cell(&rows, 0, 0), "t") != 0) {
        handling_disconnect(rt, handling);
        return LOCK_REFUSED;
    }
    handling->lock_token = "session";
    handling->lease_from = rt_mono_now(rt);
    return LOCK_GOT;
}

void instance_session_release(struct rt *rt, struct handling *handling)
{
    handling_exec(rt, handling, &instance_lock_unlock_session, PARAMS(handling->instance_id), NULL);
    handling->lock_token = NULL;
    handling_disconnect(rt, handling);
}
