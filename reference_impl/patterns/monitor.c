/* Pattern 5: the monitor of what is stuck. */
#include <stdlib.h>

#include "reference_impl/patterns/patterns.h"

#define PARENT_COUNT_MAX 64

/* Back to those who can find out whether it was done. */
static enum err give_back(struct rt *rt, struct link *link, const struct work_kind *kind,
                          const struct rt_sql *sql)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, sql, NULL, &rows);
    for (int i = 0; err == ERR_OK && i < rows.row_count; i++) {
        const char *id = rt_cell(&rows, i, 0);
        rt_metric_count(rt, METRIC_RECOVERED, "kind", kind->name, 1);
        rt_emit(rt, "work.recovered", "kind", kind->name, "id", id, NULL);
        if (strtoll(rt_cell(&rows, i, 1), NULL, 10) >= ATTEMPT_COUNT_ALERT)
            rt_alert(rt, ALERT_KEEPS_COMING_BACK, "warning", id);
    }
    return err;
}

/* What a monitor that fails items would have to do for their parents: all of them, in every round.
 */
static enum err update_parents(struct rt *rt, struct link *link)
{
    const char *ids[PARENT_COUNT_MAX];
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &patterns_list_parents, NULL, &rows);
    int count = err == ERR_OK ? rows.row_count : 0;
    FP_ASSERT(count <= PARENT_COUNT_MAX);
    for (int i = 0; i < count; i++)
        ids[i] = keep_cell(rt, &rows, i, 0);
    for (int i = 0; i < count && err == ERR_OK; i++)
        err = aggregate_update_later(rt, link, ids[i], false);
    return err;
}

static enum err fail_stuck(struct rt *rt, struct link *link)
{
    enum err err = link_exec(rt, link, &patterns_fail_stuck_items, NULL, NULL);
    if (err == ERR_OK)
        err = link_exec(rt, link, &patterns_fail_stuck_tasks, NULL, NULL);
    if (err == ERR_OK && !rt_weak(rt, PATTERNS_WEAK_MONITOR_FORGETS_AGGREGATE))
        err = update_parents(rt, link);
    return err;
}

static enum err look_after(struct rt *rt, struct link *link)
{
    enum err err = link_ready(rt, link);
    if (err != ERR_OK)
        return err;
    if (rt_weak(rt, PATTERNS_WEAK_MONITOR_ONLY_FAILS))
        return fail_stuck(rt, link);
    err = give_back(rt, link, &item_kind, &patterns_return_stuck_items);
    if (err == ERR_OK)
        err = give_back(rt, link, &task_kind, &patterns_return_stuck_tasks);
    return err;
}

/* Whatever fails is found again in the next round. */
void patterns_monitor(struct rt *rt)
{
    struct link link = {.label = "monitor"};

    for (;;) {
        enum err err = look_after(rt, &link);
        if (err != ERR_OK)
            rt_emit(rt, "monitor.failed", "error", err_name(err), NULL);
        rt_idle(rt, MONITOR_INTERVAL_NS);
    }
}
