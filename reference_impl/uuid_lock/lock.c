/* The lock in a deviation's row: take it, write down what is about to be done, give it back. Each
 * is one statement that commits by itself. */
#include <stdlib.h>

#include "reference_impl/uuid_lock/uuid_lock.h"

#define MARK_TRY_COUNT_MAX 1000

const char *app_date(struct rt *rt, int64_t ago_ns)
{
    wall_time date = rt_wall_now(rt);
    date.ns -= ago_ns;
    return rt_wall_text(rt, date);
}

/* A client of the database makes a new connection when it has none. */
static enum lock_result run(struct rt *rt, struct link *link, const struct rt_sql *sql,
                            const char *const *params, struct rt_rows *rows)
{
    enum err err = link_ready(rt, link);
    if (err == ERR_OK)
        err = link_exec(rt, link, sql, params, rows);
    if (err != ERR_OK)
        return LOCK_UNKNOWN;
    return rows->row_count > 0 ? LOCK_GOT : LOCK_REFUSED;
}

/* version and upload_seconds, as acquire_lock and mark_publishing return them. */
static void take_row(struct rt *rt, struct execution *execution, const struct rt_rows *rows)
{
    execution->version = keep_cell(rt, rows, 0, 0);
    execution->upload_ns = strtoll(rt_cell(rows, 0, 1), NULL, 10) * NS_PER_S;
}

static const struct rt_sql *acquire_sql(struct rt *rt)
{
    if (rt_weak(rt, UUID_LOCK_WEAK_LOCK_IN_TWO_STATEMENTS))
        return &uuid_lock_acquire_found;
    if (rt_weak(rt, UUID_LOCK_WEAK_LOCK_WITHOUT_NULL_CHECK))
        return &uuid_lock_acquire_lock_anyway;
    if (rt_weak(rt, UUID_LOCK_WEAK_DUE_NOT_CHECKED))
        return &uuid_lock_acquire_lock_any_time;
    return &uuid_lock_acquire_lock;
}

enum lock_result lock_acquire(struct rt *rt, struct link *link, struct execution *execution)
{
    struct rt_rows rows = {0};
    const char *date = rt_weak(rt, UUID_LOCK_WEAK_LOCKED_AT_BY_APP_CLOCK) ? app_date(rt, 0) : NULL;
    enum lock_result result = LOCK_GOT;

    execution->locked_since = rt_mono_now(rt);
    if (rt_weak(rt, UUID_LOCK_WEAK_LOCK_IN_TWO_STATEMENTS))
        result = run(rt, link, &uuid_lock_find_unlocked, PARAMS(execution->id), &rows);
    if (result == LOCK_GOT) {
        result =
            run(rt, link, acquire_sql(rt), PARAMS(execution->id, execution->lock_id, date), &rows);
    }
    if (result != LOCK_GOT)
        return result;
    take_row(rt, execution, &rows);
    rt_metric_observe(rt, METRIC_ACQUISITION, NULL, NULL,
                      mono_since_ns(rt_mono_now(rt), execution->locked_since));
    return LOCK_GOT;
}

/* It may be sent twice, so it is sent until there is an answer. It also answers for an acquisition
 * whose own answer was lost. */
enum lock_result lock_mark(struct rt *rt, struct link *link, struct execution *execution)
{
    for (int i = 0; i < MARK_TRY_COUNT_MAX; i++) {
        struct rt_rows rows = {0};
        enum lock_result result = run(rt, link, &uuid_lock_mark_publishing,
                                      PARAMS(execution->id, execution->lock_id), &rows);
        if (result == LOCK_GOT)
            take_row(rt, execution, &rows);
        if (result != LOCK_UNKNOWN)
            return result;
        rt_sleep(rt, RECONNECT_NS);
    }
    return LOCK_REFUSED;
}

enum lock_result lock_release(struct rt *rt, struct link *link, const struct execution *execution,
                              const char *status)
{
    struct rt_rows rows = {0};
    const char *id = execution->id, *lock_id = execution->lock_id, *version = execution->version;
    bool by_lock_id = !rt_weak(rt, UUID_LOCK_WEAK_RELEASE_WITHOUT_LOCK_ID);
    bool by_version = !rt_weak(rt, UUID_LOCK_WEAK_VERSION_NOT_CHECKED);

    if (by_lock_id && by_version)
        return run(rt, link, &uuid_lock_release_lock, PARAMS(id, lock_id, version, status), &rows);
    if (by_lock_id)
        return run(rt, link, &uuid_lock_release_lock_unversioned, PARAMS(id, lock_id, status),
                   &rows);
    if (by_version)
        return run(rt, link, &uuid_lock_release_version, PARAMS(id, version, status), &rows);
    return run(rt, link, &uuid_lock_release_whatever, PARAMS(id, status), &rows);
}

enum lock_result lock_give_up(struct rt *rt, struct link *link, const struct execution *execution)
{
    struct rt_rows rows = {0};

    return run(rt, link, &uuid_lock_give_up,
               PARAMS(execution->id, execution->lock_id, execution->version), &rows);
}
