/* The operator whom the document calls when a cluster is stuck: looks whether anybody holds it, and
 * marks it as failed when nobody does. */
#include "reference_impl/job_locks/job_locks.h"

#define REPAIR_TRY_COUNT_MAX 1000

static void repair(struct rt *rt, struct link *link, const char *cluster_id)
{
    for (int i = 0; i < REPAIR_TRY_COUNT_MAX; i++) {
        struct rt_rows rows = {0};
        enum err err = link_ready(rt, link);
        if (err == ERR_OK)
            err = link_exec(rt, link, &job_locks_repair_cluster, PARAMS(cluster_id), &rows);
        if (err == ERR_OK) {
            rt_emit(rt, rows.affected_count > 0 ? "cluster.repaired" : "cluster.left_alone",
                    "cluster", cluster_id, NULL);
            return;
        }
        rt_sleep(rt, RECONNECT_NS);
    }
}

/* In the order of the list; a repair whose time has passed is made at once. */
void job_locks_operator(struct rt *rt)
{
    struct link link = {.label = "operator"};
    mono_time start = rt_mono_now(rt);
    int count = rt_workload_count(rt, "repairs");

    for (int i = 0; i < count; i++) {
        int64_t at_ns = rt_workload_number(rt, "repairs", i, "at");
        int64_t wait_ns = at_ns - mono_since_ns(rt_mono_now(rt), start);
        if (wait_ns > 0)
            rt_sleep(rt, wait_ns);
        repair(rt, &link, rt_workload_text(rt, "repairs", i, "cluster"));
    }
    link_close(rt, &link);
}
