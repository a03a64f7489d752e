/* Somebody else in the same database, who uses advisory locks for something else. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/cache_lock/cache_lock.h"

static void hold(struct rt *rt, struct link *link, int index)
{
    const char *key = rt_printf(rt, "%" PRId64, rt_workload_number(rt, "tenants", index, "key"));
    struct rt_rows rows = {0};

    if (link_ready(rt, link) != ERR_OK ||
        link_exec(rt, link, &cache_lock_tenant_lock, PARAMS(key), &rows) != ERR_OK ||
        strcmp(rt_cell(&rows, 0, 0), "t") != 0)
        return;
    rt_sleep(rt, rt_workload_number(rt, "tenants", index, "for"));
    link_exec(rt, link, &cache_lock_tenant_unlock, PARAMS(key), NULL);
}

/* In the order of the list; what is held keeps the next one waiting. */
void cache_lock_tenant(struct rt *rt)
{
    struct link link = {.label = "tenant"};
    mono_time start = rt_mono_now(rt);
    int count = rt_workload_count(rt, "tenants");

    for (int i = 0; i < count; i++) {
        int64_t wait_ns =
            rt_workload_number(rt, "tenants", i, "at") - mono_since_ns(rt_mono_now(rt), start);
        if (wait_ns > 0)
            rt_sleep(rt, wait_ns);
        hold(rt, &link, i);
    }
    link_close(rt, &link);
}
