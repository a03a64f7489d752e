/* The service in front: takes the workload's jobs at their times, writes them down and queues
 * them. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define SUBMIT_TRY_COUNT_MAX 1000

enum arrival { ARRIVAL_DUE, ARRIVAL_DONE, ARRIVAL_REFUSED };

struct client {
    struct link link;
    enum arrival *arrivals; /* of the clusters, by their index */
};

/* The index of the first job that is due at or after (at_ns, index); -1: there is none. */
static int next_job(struct rt *rt, int64_t after_ns, int after_index)
{
    int count = rt_workload_count(rt, "jobs");
    int best = -1;
    int64_t best_ns = 0;

    for (int i = 0; i < count; i++) {
        int64_t at_ns = rt_workload_number(rt, "jobs", i, "at");
        bool is_past = at_ns < after_ns || (at_ns == after_ns && i <= after_index);
        if (!is_past && (best < 0 || at_ns < best_ns)) {
            best = i;
            best_ns = at_ns;
        }
    }
    return best;
}

static int cluster_index(struct rt *rt, const char *cluster_id)
{
    int count = rt_workload_count(rt, "clusters");

    for (int i = 0; i < count; i++)
        if (strcmp(rt_workload_text(rt, "clusters", i, "name"), cluster_id) == 0)
            return i;
    FP_ASSERT(!"a job refers to a cluster of the workload");
    return -1;
}

/* A name that is taken is the user's affair; everything else is tried again. */
static enum arrival add_cluster(struct rt *rt, struct client *client, int index)
{
    const char *id = rt_workload_text(rt, "clusters", index, "name");

    for (int i = 0; i < SUBMIT_TRY_COUNT_MAX; i++) {
        enum err err = cluster_insert(rt, &client->link, index);
        if (err == ERR_OK) {
            artifacts_give_config(rt, index);
            rt_emit(rt, "cluster.added", "cluster", id, NULL);
            return ARRIVAL_DONE;
        }
        if (err == ERR_DB_SQL && strcmp(rt_db_sqlstate(client->link.db), "23505") == 0)
            break;
        rt_sleep(rt, RECONNECT_NS);
    }
    rt_emit(rt, "cluster.refused", "cluster", id, NULL);
    return ARRIVAL_REFUSED;
}

static bool has_cluster(struct rt *rt, struct client *client, const char *cluster_id)
{
    int index = cluster_index(rt, cluster_id);
    enum arrival *arrival = &client->arrivals[index];

    if (*arrival == ARRIVAL_DUE)
        *arrival = cluster_comes_later(rt, index) ? add_cluster(rt, client, index) : ARRIVAL_DONE;
    return *arrival == ARRIVAL_DONE;
}

static enum err insert_job(struct rt *rt, struct link *link, int index, const char *id,
                           const char *group)
{
    enum err err = link_ready(rt, link);
    if (err != ERR_OK)
        return err;
    int64_t worker_count = rt_workload_number(rt, "jobs", index, "workers");
    const char *workers = rt_printf(rt, "%" PRId64, worker_count);
    return link_exec(rt, link, &job_locks_insert_job,
                     PARAMS(id, rt_workload_text(rt, "jobs", index, "cluster"),
                            rt_workload_text(rt, "jobs", index, "type"), workers, group),
                     NULL);
}

/* First the row, then the message: a message without a row would be a job that nobody knows. A row
 * without a message is found by the janitor. */
static void submit(struct rt *rt, struct client *client, int index)
{
    const char *id = rt_printf(rt, "j%d", index + 1);
    const char *cluster_id = rt_workload_text(rt, "jobs", index, "cluster");
    bool is_alone = strcmp(rt_workload_text(rt, "jobs", index, "group"), "job") == 0;
    const char *group =
        is_alone ? rt_printf(rt, "job-%s", id) : rt_printf(rt, "cluster-%s", cluster_id);

    if (!has_cluster(rt, client, cluster_id))
        return;
    for (int i = 0; i < SUBMIT_TRY_COUNT_MAX; i++) {
        enum err err = insert_job(rt, &client->link, index, id, group);
        if (err == ERR_OK)
            break;
        rt_emit(rt, "job.not_submitted", "job", id, "error", err_name(err), NULL);
        rt_sleep(rt, RECONNECT_NS);
    }
    rt_queue_send(rt, group, job_message(rt, id, cluster_id));
    rt_emit(rt, "job.submitted", "job", id, "cluster", cluster_id, "type",
            rt_workload_text(rt, "jobs", index, "type"), NULL);
}

void job_locks_client(struct rt *rt)
{
    size_t cluster_count = (size_t)rt_workload_count(rt, "clusters");
    struct client client = {
        .link = {.label = "client"},
        .arrivals = rt_alloc(rt, (cluster_count + 1) * sizeof client.arrivals[0]),
    };
    mono_time start = rt_mono_now(rt);
    int64_t at_ns = -1;

    for (int index = next_job(rt, at_ns, -1); index >= 0; index = next_job(rt, at_ns, index)) {
        at_ns = rt_workload_number(rt, "jobs", index, "at");
        int64_t wait_ns = at_ns - mono_since_ns(rt_mono_now(rt), start);
        if (wait_ns > 0)
            rt_sleep(rt, wait_ns);
        submit(rt, &client, index);
    }
    link_close(rt, &client.link);
}
