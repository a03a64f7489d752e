/* The state before the run: clusters in the database, and in the cloud and the artifact store what
 * their status promises. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

/* A FAILED cluster is one whose create broke down after these parts. */
#define FAILED_PART_COUNT 2

static int part_count_of(const char *status)
{
    if (strcmp(status, "READY") == 0)
        return CLOUD_PART_COUNT;
    return strcmp(status, "FAILED") == 0 ? FAILED_PART_COUNT : 0;
}

static void make_parts(struct rt *rt, int index, int part_count)
{
    for (int part = 0; part < part_count; part++) {
        struct rt_cloud_reply reply = {0};
        struct rt_cloud_request request = {
            .op = RT_CLOUD_CREATE,
            .name = cluster_name(rt, index),
            .platform = rt_workload_text(rt, "clusters", index, "platform"),
            .base_domain = rt_workload_text(rt, "clusters", index, "base_domain"),
            .part = cloud_parts[part],
            .claim = {.cluster_id = rt_workload_text(rt, "clusters", index, "name"),
                      .job_id = "setup",
                      .run = 1},
        };
        enum err err = rt_cloud_call(rt, &request, &reply);
        FP_ASSERT(err == ERR_OK); /* nothing else runs yet, and nothing fails yet */
    }
}

void job_locks_setup(struct rt *rt)
{
    struct link link = {.label = "setup"};
    int count = rt_workload_count(rt, "clusters");

    for (int i = 0; i < count; i++) {
        if (cluster_comes_later(rt, i))
            continue;
        enum err err = cluster_insert(rt, &link, i);
        FP_ASSERT(err == ERR_OK); /* a scenario has each name once */
        artifacts_give_config(rt, i);
        int part_count = part_count_of(rt_workload_text(rt, "clusters", i, "status"));
        make_parts(rt, i, part_count);
        if (part_count > 0)
            artifacts_give_snapshot(rt, i);
    }
    link_close(rt, &link);
}
