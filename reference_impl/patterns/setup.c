/* The state before the run: parents, items and tasks of the workload. */
#include <inttypes.h>

#include "reference_impl/patterns/patterns.h"

static void insert(struct rt *rt, struct link *link, const struct rt_sql *sql,
                   const char *const *params)
{
    enum err err = link_exec(rt, link, sql, params, NULL);
    FP_ASSERT(err == ERR_OK); /* a scenario has each name once, and nothing fails yet */
}

static const char *ms_text(struct rt *rt, const char *list, int index, const char *key, int more)
{
    int64_t ms = rt_workload_number(rt, list, index, key) / NS_PER_MS;
    return rt_printf(rt, "%" PRId64, ms + more);
}

static void insert_parents(struct rt *rt, struct link *link)
{
    for (int i = 0; i < rt_workload_count(rt, "parents"); i++)
        insert(rt, link, &patterns_insert_parent,
               PARAMS(rt_workload_text(rt, "parents", i, "name")));
}

static void insert_items(struct rt *rt, struct link *link)
{
    for (int i = 0; i < rt_workload_count(rt, "items"); i++)
        insert(rt, link, &patterns_insert_item,
               PARAMS(rt_workload_text(rt, "items", i, "name"),
                      rt_workload_text(rt, "items", i, "parent"),
                      ms_text(rt, "items", i, "takes", 0), rt_printf(rt, "%d", i)));
}

static void insert_tasks(struct rt *rt, struct link *link)
{
    for (int i = 0; i < rt_workload_count(rt, "tasks"); i++)
        insert(rt, link, &patterns_insert_task,
               PARAMS(rt_workload_text(rt, "tasks", i, "name"), ms_text(rt, "tasks", i, "takes", 0),
                      ms_text(rt, "tasks", i, "at", i)));
}

void patterns_setup(struct rt *rt)
{
    struct link link = {.label = "setup"};

    /* One transaction: a parent is never seen without its numbers. */
    enum err err = link_ready(rt, &link);
    FP_ASSERT(err == ERR_OK);
    insert(rt, &link, &common_begin, NULL);
    insert_parents(rt, &link);
    insert_items(rt, &link);
    insert_tasks(rt, &link);
    for (int i = 0; i < rt_workload_count(rt, "parents"); i++)
        insert(rt, &link, &patterns_recalculate_metrics,
               PARAMS(rt_workload_text(rt, "parents", i, "name")));
    insert(rt, &link, &common_commit, NULL);
    link_close(rt, &link);
}
