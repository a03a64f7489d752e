/* A cluster's files in the artifact store: the configuration that its user gives, and the snapshot
 * of the install-dir that every job works from and leaves behind. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

static const char *config_key(struct rt *rt, const char *cluster_id)
{
    return rt_printf(rt, "%s/install-config.yaml", cluster_id);
}

static const char *snapshot_key(struct rt *rt, const char *cluster_id)
{
    return rt_printf(rt, "%s/install-dir", cluster_id);
}

static enum err fetch_config(struct rt *rt, const struct job *job)
{
    struct rt_object config = {0};

    enum err err = rt_store_get(rt, config_key(rt, job->cluster_id), &config);
    if (err != ERR_OK)
        return err;
    return strcmp(config.content, "valid") == 0 ? ERR_OK : ERR_STORE_ABSENT;
}

/* Without a snapshot a job works from the cluster's name, under which the cloud knows all of it:
 * the worker that made the cluster may have died before it left one. */
enum err artifacts_fetch(struct rt *rt, struct job *job)
{
    struct rt_object snapshot = {0};

    if (!job_may_act(rt, job))
        return ERR_FENCED;
    if (strcmp(job->rule->type, "CREATE") == 0) {
        enum err err = fetch_config(rt, job);
        if (err != ERR_OK)
            return err;
    }
    enum err err = rt_store_get(rt, snapshot_key(rt, job->cluster_id), &snapshot);
    return err == ERR_STORE_ABSENT ? ERR_OK : err;
}

enum err artifacts_keep(struct rt *rt, struct job *job)
{
    struct rt_claim claim = job_claim(job);

    if (!section_check(rt, job))
        return ERR_FENCED;
    enum err err = rt_store_put(rt, snapshot_key(rt, job->cluster_id),
                                rt_printf(rt, "%s by %s", job->rule->done, job->id), &claim);
    if (err == ERR_FENCED)
        job_set_lost(rt, job, "fenced");
    return err;
}

static void give(struct rt *rt, int index, const char *key, const char *content)
{
    const char *cluster_id = rt_workload_text(rt, "clusters", index, "name");
    struct rt_claim claim = {.cluster_id = cluster_id, .job_id = rt_name(rt), .run = 1};

    while (rt_store_put(rt, key, content, &claim) != ERR_OK)
        rt_sleep(rt, RECONNECT_NS);
}

void artifacts_give_config(struct rt *rt, int index)
{
    const char *cluster_id = rt_workload_text(rt, "clusters", index, "name");

    give(rt, index, config_key(rt, cluster_id), rt_workload_text(rt, "clusters", index, "config"));
}

void artifacts_give_snapshot(struct rt *rt, int index)
{
    const char *cluster_id = rt_workload_text(rt, "clusters", index, "name");

    give(rt, index, snapshot_key(rt, cluster_id), "as of before");
}
