/* Pattern 4: a parent's counts, derived from its items. */
#include "reference_impl/patterns/patterns.h"

/* A statement that counts sees what was committed before it began. So whoever counts must first
 * keep everybody else from changing what is counted, and only then begin. */
enum err aggregate_begin(struct rt *rt, struct link *link, const char *parent_id)
{
    if (parent_id[0] == '\0' || rt_weak(rt, PATTERNS_WEAK_AGGREGATE_IN_TWO_STATEMENTS) ||
        rt_weak(rt, PATTERNS_WEAK_AGGREGATE_WITHOUT_PARENT_LOCK))
        return ERR_OK;
    return link_exec(rt, link, &patterns_lock_parent, PARAMS(parent_id), NULL);
}

/* update_parent_metrics, as written. */
static enum err read_then_write(struct rt *rt, struct link *link, const char *parent_id)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &patterns_read_metrics, PARAMS(parent_id), &rows);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, link, &patterns_write_metrics,
                     PARAMS(keep_cell(rt, &rows, 0, 0), keep_cell(rt, &rows, 0, 1),
                            keep_cell(rt, &rows, 0, 2), parent_id),
                     NULL);
}

enum err aggregate_update(struct rt *rt, struct link *link, const char *parent_id, bool succeeded)
{
    if (parent_id[0] == '\0')
        return ERR_OK;
    if (rt_weak(rt, PATTERNS_WEAK_AGGREGATE_INCREMENTED_ON_RETRY))
        return link_exec(rt, link, succeeded ? &patterns_count_completed : &patterns_count_failed,
                         PARAMS(parent_id), NULL);
    if (rt_weak(rt, PATTERNS_WEAK_AGGREGATE_IN_TWO_STATEMENTS))
        return read_then_write(rt, link, parent_id);
    return link_exec(rt, link, &patterns_recalculate_metrics, PARAMS(parent_id), NULL);
}

/* Right by itself, and too late: between the item's commit and this one its worker may die. */
static enum err in_its_own_transaction(struct rt *rt, struct link *link, const char *parent_id,
                                       bool succeeded)
{
    enum err err = link_exec(rt, link, &common_begin, NULL, NULL);
    if (err == ERR_OK)
        err = aggregate_begin(rt, link, parent_id);
    if (err == ERR_OK)
        err = aggregate_update(rt, link, parent_id, succeeded);
    if (err == ERR_OK)
        return link_commit(rt, link);
    link_rollback(rt, link);
    return err;
}

enum err aggregate_update_later(struct rt *rt, struct link *link, const char *parent_id,
                                bool succeeded)
{
    bool is_alone = rt_weak(rt, PATTERNS_WEAK_AGGREGATE_IN_TWO_STATEMENTS) ||
                    rt_weak(rt, PATTERNS_WEAK_AGGREGATE_INCREMENTED_ON_RETRY);

    if (parent_id[0] == '\0')
        return ERR_OK;
    if (is_alone)
        return aggregate_update(rt, link, parent_id, succeeded);
    return in_its_own_transaction(rt, link, parent_id, succeeded);
}
