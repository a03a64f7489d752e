/* The janitor: every five minutes it looks after what nobody else does, and tells the operator. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

/* A round takes so many at most; the rest waits for the next one. */
#define ROUND_COUNT_MAX 64

/* One row of find_work. */
struct task {
    const char *kind, *cluster_id, *job_id;
    const char *a, *b, *c; /* what they are depends on the kind: see sql/janitor.sql */
};

/* The operator is told first: afterwards there may be nobody left who knows (the answer to a COMMIT
 * is lost, the janitor dies), and when the cluster's row is not to be had there is no afterwards.
 */
static void tell(struct rt *rt, const char *alert, const char *cluster_id)
{
    if (!rt_weak(rt, JOB_LOCKS_WEAK_ALERT_AFTER_COMMIT))
        rt_alert(rt, alert, "critical", cluster_id);
}

static enum err do_stale(struct rt *rt, struct link *link, const struct task *task)
{
    struct expired_lock lock = {task->cluster_id, task->job_id, task->a, task->b};

    rt_alert(rt, ALERT_STALE_LOCK, "warning", task->cluster_id);
    return reap(rt, link, &lock);
}

static enum err do_lockless(struct rt *rt, struct link *link, const struct task *task)
{
    tell(rt, ALERT_LOCK_STATE, task->cluster_id);
    return recover_lockless(rt, link, task->cluster_id, task->job_id);
}

static enum err do_double(struct rt *rt, struct link *link, const struct task *task)
{
    struct double_holders holders = {task->cluster_id, task->job_id, task->a, task->b, task->c};

    tell(rt, ALERT_DOUBLE, task->cluster_id);
    return recover_double(rt, link, &holders);
}

/* A message too many is harmless: a job is done only while it is PENDING. It gets a group of its
 * own: in its cluster's it would stand behind the jobs that wait for it. */
static enum err do_forgotten(struct rt *rt, struct link *link, const struct task *task)
{
    struct rt_rows rows = {0};

    if (rt_weak(rt, JOB_LOCKS_WEAK_FORGOTTEN_JOBS_LEFT))
        return ERR_OK;
    enum err err = link_exec(rt, link, &job_locks_touch_job, PARAMS(task->job_id), &rows);
    if (err != ERR_OK || rows.affected_count == 0)
        return err;
    rt_emit(rt, "job.sent_again", "job", task->job_id, "cluster", task->cluster_id, NULL);
    return rt_queue_send(rt, rt_printf(rt, "again-%s", task->job_id),
                         job_message(rt, task->job_id, task->cluster_id));
}

/* When the answer is lost the job is there and its message is not: it will be found forgotten. */
static enum err do_expired(struct rt *rt, struct link *link, const struct task *task)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &job_locks_insert_ttl_job, PARAMS(task->cluster_id), &rows);
    if (err != ERR_OK || rows.row_count == 0)
        return err;
    const char *job_id = keep_cell(rt, &rows, 0, 0);
    const char *group = rt_printf(rt, "cluster-%s", task->cluster_id);
    rt_emit(rt, "cluster.expired", "cluster", task->cluster_id, "job", job_id, NULL);
    return rt_queue_send(rt, group, job_message(rt, job_id, task->cluster_id));
}

static enum err do_slow(struct rt *rt, struct link *link, const struct task *task)
{
    (void)link;
    rt_alert(rt, ALERT_SLOW_JOB, "critical", task->job_id);
    return ERR_OK;
}

static const struct {
    const char *kind;
    enum err (*act)(struct rt *rt, struct link *link, const struct task *task);
} acts[] = {
    {"stale", do_stale},         {"lockless", do_lockless}, {"double", do_double},
    {"forgotten", do_forgotten}, {"expired", do_expired},   {"slow", do_slow},
};

static enum err act(struct rt *rt, struct link *link, const struct task *task)
{
    for (size_t i = 0; i < FP_COUNT(acts); i++)
        if (strcmp(acts[i].kind, task->kind) == 0)
            return acts[i].act(rt, link, task);
    return ERR_OK;
}

/* *ahead_count: clusters that are still to be destroyed when their time has come. */
static enum err look_after_rows(struct rt *rt, struct link *link, int *ahead_count)
{
    struct task tasks[ROUND_COUNT_MAX];
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &job_locks_find_work, NULL, &rows);
    if (err != ERR_OK)
        return err;
    int count = rows.row_count < ROUND_COUNT_MAX ? rows.row_count : ROUND_COUNT_MAX;
    for (int i = 0; i < count; i++) {
        tasks[i] = (struct task){keep_cell(rt, &rows, i, 0), keep_cell(rt, &rows, i, 1),
                                 keep_cell(rt, &rows, i, 2), keep_cell(rt, &rows, i, 3),
                                 keep_cell(rt, &rows, i, 4), keep_cell(rt, &rows, i, 5)};
        *ahead_count += strcmp(tasks[i].kind, "ahead") == 0;
    }
    /* What the server refuses must not keep the rest from being done. */
    for (int i = 0; i < count && (err == ERR_OK || err == ERR_DB_SQL); i++)
        err = act(rt, link, &tasks[i]);
    return err;
}

/* Whatever fails is found again in the next round. */
void job_locks_janitor(struct rt *rt)
{
    struct link link = {.label = "janitor"};

    for (;;) {
        int ahead_count = 0;
        enum err err = link_ready(rt, &link);
        if (err == ERR_OK)
            err = look_after_rows(rt, &link, &ahead_count);
        if (err == ERR_OK || err == ERR_DB_SQL)
            err = letters_process(rt, &link);
        if (err != ERR_OK)
            rt_emit(rt, "janitor.failed", "error", err_name(err), NULL);
        monitor_round(rt);
        if (ahead_count > 0)
            rt_sleep(rt, JANITOR_INTERVAL_NS);
        else
            rt_idle(rt, JANITOR_INTERVAL_NS);
    }
}
