/* The last word on a row: COMPLETED or FAILED, only by the one whose claim is the latest. */
#include "reference_impl/patterns/patterns.h"

static enum err set_status(struct rt *rt, struct work *work, bool succeeded, const char *error,
                           bool *is_ours)
{
    const struct work_kind *kind = work->kind;
    const char *text = succeeded ? "done" : error;
    struct rt_rows rows = {0};
    enum err err;

    if (rt_weak(rt, PATTERNS_WEAK_MONITOR_OVERWRITTEN_BY_LATE_WORKER))
        err = link_exec(rt, work->link, succeeded ? kind->complete_by_id : kind->fail_by_id,
                        PARAMS(text, work->id), &rows);
    else
        err = link_exec(rt, work->link, succeeded ? kind->complete : kind->fail,
                        PARAMS(text, work->id, work->attempt), &rows);
    *is_ours = err == ERR_OK && rows.affected_count == 1;
    return err;
}

/* The parent first, then the item: one order for all. */
static enum err finish_in_transaction(struct rt *rt, struct work *work, bool succeeded,
                                      const char *error, bool *is_ours)
{
    struct link *link = work->link;

    enum err err = link_exec(rt, link, &common_begin, NULL, NULL);
    if (err == ERR_OK)
        err = aggregate_begin(rt, link, work->parent_id);
    if (err == ERR_OK)
        err = set_status(rt, work, succeeded, error, is_ours);
    if (err == ERR_OK && *is_ours)
        err = aggregate_update(rt, link, work->parent_id, succeeded);
    if (err == ERR_OK && *is_ours)
        return link_commit(rt, link);
    link_rollback(rt, link);
    return err;
}

/* update_parent_metrics is a call of its own. Its errors are tried again by the one who increments,
 * as every retry does; and by nobody else. */
static enum err finish_then_count(struct rt *rt, struct work *work, bool succeeded,
                                  const char *error, bool *is_ours)
{
    enum err err = set_status(rt, work, succeeded, error, is_ours);
    if (err != ERR_OK || !*is_ours)
        return err;
    bool retries = rt_weak(rt, PATTERNS_WEAK_AGGREGATE_INCREMENTED_ON_RETRY);
    err = aggregate_update_later(rt, work->link, work->parent_id, succeeded);
    for (int i = 1; i < DB_TRY_COUNT_MAX && err != ERR_OK && retries; i++) {
        rt_sleep(rt, RETRY_NS);
        err = link_ready(rt, work->link);
        if (err == ERR_OK)
            err = aggregate_update_later(rt, work->link, work->parent_id, succeeded);
    }
    if (err != ERR_OK)
        work_emit(rt, "aggregate.failed", work, err_name(err));
    return ERR_OK;
}

enum err work_finish(struct rt *rt, struct work *work, bool succeeded, const char *error,
                     bool *is_ours)
{
    *is_ours = false;
    enum err err = link_ready(rt, work->link);
    if (err != ERR_OK)
        return err;
    if (work->parent_id[0] == '\0')
        return set_status(rt, work, succeeded, error, is_ours);
    if (rt_weak(rt, PATTERNS_WEAK_AGGREGATE_AFTER_COMMIT) ||
        rt_weak(rt, PATTERNS_WEAK_AGGREGATE_INCREMENTED_ON_RETRY))
        return finish_then_count(rt, work, succeeded, error, is_ours);
    return finish_in_transaction(rt, work, succeeded, error, is_ours);
}
