/* The life of a lock in the table. */
#include <stdlib.h>
#include <string.h>

#include "reference_impl/instance_lock/instance_lock.h"

static bool is_weak(struct rt *rt, enum instance_lock_weakness weakness)
{
    return rt_weak(rt, (int)weakness);
}

static int64_t lease_age_ns(struct rt *rt, const struct handling *handling)
{
    return mono_since_ns(rt_mono_now(rt), handling->lease_from);
}

bool instance_table_may_live(struct rt *rt, const struct handling *handling)
{
    int64_t age_ns = mono_since_ns(rt_mono_now(rt), handling->lease_asked);
    return age_ns <= LEASE_NS + LEASE_MARGIN_NS;
}

/* It has arrived by now, if it has. A statement that was refused, or never sent, gave nobody a
 * lease. */
static void note_asked(struct rt *rt, struct handling *handling, enum err err)
{
    if (err == ERR_OK || err == ERR_DB_LOST)
        handling->lease_asked = rt_mono_now(rt);
}

/* ---- acquire ---- */

static void take_fence(struct rt *rt, struct handling *handling, const struct rt_rows *rows,
                       int column)
{
    handling->fence = strtoll(rt_cell(rows, 0, column), NULL, 10);
    handling->task = keep_cell(rt, rows, 0, column + 1);
    handling->is_overtaken = strcmp(rt_cell(rows, 0, column + 2), "t") == 0;
    handling->may_be_under_way = handling->is_overtaken;
}

/* The document's statement says nothing of the instance. */
static enum err acquire_as_written(struct rt *rt, struct handling *handling, struct rt_rows *rows)
{
    enum err err = handling_exec(rt, handling, &instance_lock_acquire_as_written,
                                 PARAMS(handling->instance_id, LEASE_TEXT, handling->owner), rows);
    if (err != ERR_OK || rows->row_count == 0)
        return err;
    handling->lock_token = keep_cell(rt, rows, 0, 0);
    if (is_weak(rt, INSTANCE_LOCK_WEAK_NO_FENCING))
        return ERR_OK;
    struct rt_rows counted = {0};
    err = handling_exec(rt, handling, &instance_lock_count_fence, PARAMS(handling->instance_id),
                        &counted);
    if (err == ERR_OK)
        take_fence(rt, handling, &counted, 0);
    return err;
}

static enum err acquire_row(struct rt *rt, struct handling *handling, struct rt_rows *rows)
{
    bool beside_others = is_weak(rt, INSTANCE_LOCK_WEAK_ADVISORY_KEY_SHARED);
    bool by_clock = is_weak(rt, INSTANCE_LOCK_WEAK_RELEASE_BY_CLOCK);
    enum err err =
        beside_others || by_clock
            ? handling_exec(rt, handling, &instance_lock_acquire_weakened,
                            PARAMS(handling->instance_id, LEASE_TEXT, handling->owner,
                                   beside_others ? "t" : "f", by_clock ? "t" : "f"),
                            rows)
            : handling_exec(rt, handling, &instance_lock_acquire,
                            PARAMS(handling->instance_id, LEASE_TEXT, handling->owner), rows);
    if (err != ERR_OK || rows->row_count == 0)
        return err;
    handling->lock_token = keep_cell(rt, rows, 0, 0);
    take_fence(rt, handling, rows, 1);
    return ERR_OK;
}

static enum err acquire_once(struct rt *rt, struct handling *handling, bool *is_refused)
{
    struct rt_rows rows = {0};

    /* The database counts the lease from when the statement arrives, which is later than this. */
    handling->lease_from = rt_mono_now(rt);
    enum err err = is_weak(rt, INSTANCE_LOCK_WEAK_LOCK_AFTER_SNAPSHOT)
                       ? acquire_as_written(rt, handling, &rows)
                       : acquire_row(rt, handling, &rows);
    note_asked(rt, handling, err);
    *is_refused = err == ERR_OK && rows.row_count == 0;
    handling_disconnect(rt, handling);
    return err;
}

/* After a lost answer the lock may be ours. It is asked for again, by the same owner, until there
 * is an answer or until the lock that may be there has expired. */
enum lock_result instance_table_acquire(struct rt *rt, struct handling *handling, int *status)
{
    bool is_refused = false;
    enum err err = acquire_once(rt, handling, &is_refused);
    bool is_unknown = err == ERR_DB_LOST;

    for (int i = 0; i < TRY_COUNT_MAX && err != ERR_OK && is_unknown; i++) {
        if (is_weak(rt, INSTANCE_LOCK_WEAK_LOST_ANSWER_IS_FAILURE) ||
            !instance_table_may_live(rt, handling))
            break;
        rt_sleep(rt, RETRY_PAUSE_NS);
        err = acquire_once(rt, handling, &is_refused);
    }
    if (err != ERR_OK) {
        *status = handling_status_of(err);
        handling->why = err_name(err);
        return LOCK_FAILED;
    }
    return is_refused ? LOCK_REFUSED : LOCK_GOT;
}

/* ---- renew ---- */

/* ERR_FENCED: the lock is somebody else's, or gone. */
static enum err renew(struct rt *rt, struct handling *handling)
{
    struct rt_rows rows = {0};
    mono_time before = rt_mono_now(rt);
    enum err err =
        handling_exec(rt, handling, &instance_lock_renew,
                      PARAMS(handling->instance_id, handling->lock_token, LEASE_TEXT), &rows);
    bool is_ours = err == ERR_OK && rows.affected_count == 1;

    note_asked(rt, handling, err);
    handling_disconnect(rt, handling);
    if (is_ours)
        handling->lease_from = before;
    return err == ERR_OK && !is_ours ? ERR_FENCED : err;
}

bool instance_table_suffices(struct rt *rt, struct handling *handling)
{
    int64_t needed_ns = CALL_NS_MAX + LEASE_MARGIN_NS;

    if (handling->locking != LOCKING_TABLE || is_weak(rt, INSTANCE_LOCK_WEAK_LEASE_NOT_WATCHED))
        return true;
    for (int i = 0; i < TRY_COUNT_MAX && lease_age_ns(rt, handling) + needed_ns > LEASE_NS; i++) {
        if (lease_age_ns(rt, handling) > LEASE_NS)
            return false;
        enum err err = renew(rt, handling);
        if (err == ERR_FENCED)
            return false;
        if (err != ERR_OK)
            rt_sleep(rt, RETRY_PAUSE_NS);
    }
    return lease_age_ns(rt, handling) + needed_ns <= LEASE_NS;
}

/* ---- release ---- */

static enum err release_once(struct rt *rt, struct handling *handling)
{
    const char *unfinished = handling->may_be_under_way ? "t" : "f";
    enum err err;

    if (is_weak(rt, INSTANCE_LOCK_WEAK_NO_TOKEN))
        err = handling_exec(rt, handling, &instance_lock_release_of_instance,
                            PARAMS(handling->instance_id), NULL);
    else if (is_weak(rt, INSTANCE_LOCK_WEAK_RELEASE_BY_CLOCK))
        err = handling_exec(rt, handling, &instance_lock_release_as_written,
                            PARAMS(handling->lock_token), NULL);
    else
        err = handling_exec(rt, handling, &instance_lock_release,
                            PARAMS(handling->instance_id, handling->lock_token, unfinished), NULL);
    handling_disconnect(rt, handling);
    return err;
}

/* Until it is certain, or the lock has expired by itself. */
void instance_table_release(struct rt *rt, struct handling *handling)
{
    for (int i = 0; i < TRY_COUNT_MAX; i++) {
        enum err err = release_once(rt, handling);
        if (err == ERR_OK)
            return;
        rt_emit(rt, "lock.not_released", "instance", handling->instance_id, "error", err_name(err),
                NULL);
        if (is_weak(rt, INSTANCE_LOCK_WEAK_LOST_ANSWER_IS_FAILURE) ||
            !instance_table_may_live(rt, handling))
            return;
        rt_sleep(rt, RETRY_PAUSE_NS);
    }
}
