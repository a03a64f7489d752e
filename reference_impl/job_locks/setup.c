/* The state before the run: clusters in the database, and in the cloud what their status
 * promises. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

/* A FAILED cluster is one whose create broke down after these parts. */
#define FAILED_PART_COUNT 2

static bool has_part(const char *status, int part)
{
    if (strcmp(status, "READY") == 0)
        return true;
    return strcmp(status, "FAILED") == 0 && part < FAILED_PART_COUNT;
}

static void make_parts(struct rt *rt, int index)
{
    const char *status = rt_workload_text(rt, "clusters", index, "status");
    const char *name = rt_workload_text(rt, "clusters", index, "name");

    for (int part = 0; cloud_parts[part] != NULL && has_part(status, part); part++) {
        struct rt_cloud_reply reply = {0};
        struct rt_cloud_request request = {
            .op = RT_CLOUD_CREATE,
            .name = name,
            .platform = rt_workload_text(rt, "clusters", index, "platform"),
            .base_domain = rt_workload_text(rt, "clusters", index, "base_domain"),
            .part = cloud_parts[part],
            .claim = {.cluster_id = name, .job_id = "setup", .run = 1},
        };
        enum err err = rt_cloud_call(rt, &request, &reply);
        FP_ASSERT(err == ERR_OK); /* nothing else runs yet, and nothing fails yet */
    }
}

void job_locks_setup(struct rt *rt)
{
    struct link link = {.label = "setup"};
    int count = rt_workload_count(rt, "clusters");

    enum err err = link_ready(rt, &link);
    FP_ASSERT(err == ERR_OK);
    for (int i = 0; i < count; i++) {
        const char *name = rt_workload_text(rt, "clusters", i, "name");
        err = link_exec(rt, &link, &job_locks_insert_cluster,
                        PARAMS(name, name, rt_workload_text(rt, "clusters", i, "platform"),
                               rt_workload_text(rt, "clusters", i, "base_domain"),
                               rt_workload_text(rt, "clusters", i, "status")),
                        NULL);
        FP_ASSERT(err == ERR_OK);
        make_parts(rt, i);
    }
    link_close(rt, &link);
}
