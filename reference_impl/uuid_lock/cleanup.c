/* The lock cleanup job, every thirty minutes. Locks of those who have not begun to publish are
 * freed when they are an hour old. Of those who have, the gallery is asked. */
#include <string.h>

#include "reference_impl/uuid_lock/uuid_lock.h"

/* One row of list_stale_publishes. */
struct stale {
    struct execution execution;
    bool is_told; /* it is unresolved already */
};

static void free_locks(struct rt *rt, struct link *link, const char *before)
{
    struct rt_rows rows = {0};
    const struct rt_sql *sql = rt_weak(rt, UUID_LOCK_WEAK_CLEANUP_OF_LIVE_PUBLISHER)
                                   ? &uuid_lock_release_all_stale_locks
                                   : &uuid_lock_release_stale_locks;

    if (link_exec(rt, link, sql, PARAMS(before), &rows) != ERR_OK || rows.affected_count == 0)
        return;
    rt_metric_count(rt, METRIC_STALE_LOCKS, NULL, NULL, rows.affected_count);
    rt_emit(rt, "locks.cleaned", "count", rt_printf(rt, "%d", rows.affected_count), NULL);
}

/* It is not there. That is no proof: its publisher may stand still just before the call, or the
 * call may be on its way. So nobody publishes it again, and an operator is told. */
static void leave_to_operator(struct rt *rt, struct link *link, const struct execution *execution)
{
    if (rt_weak(rt, UUID_LOCK_WEAK_ABSENCE_TAKEN_FOR_CERTAIN)) {
        link_exec(rt, link, &uuid_lock_schedule_again,
                  PARAMS(execution->id, execution->lock_id, execution->version), NULL);
        return;
    }
    unresolved_tell(rt, execution->id, execution->version);
    lock_give_up(rt, link, execution);
}

static void resolve(struct rt *rt, struct link *link, const struct stale *stale)
{
    bool is_there = false;

    if (gallery_look(rt, stale->execution.id, &is_there) != ERR_OK)
        return;
    rt_emit(rt, "publish.looked_for", "deviation", stale->execution.id, "lock",
            stale->execution.lock_id, "found", is_there ? "yes" : "no", NULL);
    if (is_there)
        lock_release(rt, link, &stale->execution, "published");
    else if (!stale->is_told)
        leave_to_operator(rt, link, &stale->execution);
}

static void resolve_publishes(struct rt *rt, struct link *link, const char *before)
{
    struct stale stale[LIST_COUNT_MAX];
    struct rt_rows rows = {0};

    if (link_exec(rt, link, &uuid_lock_list_stale_publishes, PARAMS(before), &rows) != ERR_OK)
        return;
    int count = rows.row_count < LIST_COUNT_MAX ? rows.row_count : LIST_COUNT_MAX;
    for (int i = 0; i < count; i++) {
        stale[i] = (struct stale){.execution = {.id = keep_cell(rt, &rows, i, 0),
                                                .lock_id = keep_cell(rt, &rows, i, 1),
                                                .version = keep_cell(rt, &rows, i, 2)},
                                  .is_told = strcmp(rt_cell(&rows, i, 3), "unresolved") == 0};
    }
    for (int i = 0; i < count; i++)
        resolve(rt, link, &stale[i]);
}

/* What was told and is over. A version that has ended never becomes unresolved again. */
static void clear_alerts(struct rt *rt, struct link *link)
{
    struct rt_rows rows = {0};

    if (link_exec(rt, link, &uuid_lock_list_settled, NULL, &rows) != ERR_OK)
        return;
    for (int i = 0; i < rows.row_count; i++)
        unresolved_clear(rt, rt_cell(&rows, i, 0), rt_cell(&rows, i, 1));
}

static void clean(struct rt *rt, struct link *link)
{
    const char *before =
        rt_weak(rt, UUID_LOCK_WEAK_CLEANUP_BY_APP_CLOCK) ? app_date(rt, LOCK_TIMEOUT_NS) : NULL;

    free_locks(rt, link, before);
    resolve_publishes(rt, link, before);
    clear_alerts(rt, link);
}

/* setInterval: the first round comes after the first interval. Whatever fails is found again. */
void uuid_lock_cleanup(struct rt *rt)
{
    struct link link = {.label = "cleanup"};

    for (;;) {
        rt_idle(rt, CLEANUP_INTERVAL_NS);
        if (link_ready(rt, &link) == ERR_OK)
            clean(rt, &link);
    }
}
