/* The service in front: takes the workload's jobs at their times, writes them down and queues
 * them. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define SUBMIT_TRY_COUNT_MAX 1000

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
static void submit(struct rt *rt, struct link *link, int index)
{
    const char *id = rt_printf(rt, "j%d", index + 1);
    const char *cluster_id = rt_workload_text(rt, "jobs", index, "cluster");
    bool is_alone = strcmp(rt_workload_text(rt, "jobs", index, "group"), "job") == 0;
    const char *group =
        is_alone ? rt_printf(rt, "job-%s", id) : rt_printf(rt, "cluster-%s", cluster_id);

    for (int i = 0; i < SUBMIT_TRY_COUNT_MAX; i++) {
        enum err err = insert_job(rt, link, index, id, group);
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
    struct link link = {.label = "client"};
    mono_time start = rt_mono_now(rt);
    int64_t at_ns = -1;

    for (int index = next_job(rt, at_ns, -1); index >= 0; index = next_job(rt, at_ns, index)) {
        at_ns = rt_workload_number(rt, "jobs", index, "at");
        int64_t wait_ns = at_ns - mono_since_ns(rt_mono_now(rt), start);
        if (wait_ns > 0)
            rt_sleep(rt, wait_ns);
        submit(rt, &link, index);
    }
    link_close(rt, &link);
}
