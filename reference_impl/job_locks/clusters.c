/* The clusters of the workload: which are there, and under which name. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

bool cluster_comes_later(struct rt *rt, int index)
{
    return strcmp(rt_workload_text(rt, "clusters", index, "appears"), "with_first_job") == 0;
}

const char *cluster_name(struct rt *rt, int index)
{
    const char *called = rt_workload_text(rt, "clusters", index, "called");
    return called[0] != '\0' ? called : rt_workload_text(rt, "clusters", index, "name");
}

enum err cluster_insert(struct rt *rt, struct link *link, int index)
{
    int64_t ttl_s = rt_workload_number(rt, "clusters", index, "ttl") / NS_PER_S;

    enum err err = link_ready(rt, link);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, link, &job_locks_insert_cluster,
                     PARAMS(rt_workload_text(rt, "clusters", index, "name"),
                            cluster_name(rt, index),
                            rt_workload_text(rt, "clusters", index, "platform"),
                            rt_workload_text(rt, "clusters", index, "base_domain"),
                            rt_workload_text(rt, "clusters", index, "status"),
                            ttl_s > 0 ? rt_printf(rt, "%" PRId64, ttl_s) : NULL),
                     NULL);
}
