/* The worker: receive a message, take the lock, do the job, give the lock back. */
#include "reference_impl/job_locks/job_locks.h"

#define HELD_BACKOFF_FIRST_NS (5 * NS_PER_MIN)
#define HELD_BACKOFF_MAX_NS (30 * NS_PER_MIN)
#define AGAIN_BACKOFF_NS (10 * NS_PER_S)
#define RESTART_NS NS_PER_MIN

/* The queue gives a message up after three deliveries, so a job that has to wait must not be
 * delivered three times in a row: each time it waits twice as long. */
static int64_t held_backoff_ns(struct rt *rt, int receive_count)
{
    int64_t backoff_ns = HELD_BACKOFF_FIRST_NS;
    if (rt_weak(rt, JOB_LOCKS_WEAK_HELD_MESSAGE_RETRIED_AT_ONCE))
        return 0;
    for (int i = 1; i < receive_count && backoff_ns < HELD_BACKOFF_MAX_NS; i++)
        backoff_ns *= 2;
    return backoff_ns < HELD_BACKOFF_MAX_NS ? backoff_ns : HELD_BACKOFF_MAX_NS;
}

/* ---- one job ---- */

static enum err try_once(struct rt *rt, struct job *job)
{
    enum err err = artifacts_fetch(rt, job);
    if (err == ERR_OK)
        err = job_handle(rt, job);
    return err == ERR_OK ? artifacts_keep(rt, job) : err;
}

/* The handlers are idempotent, so all of it is tried again. The lock is kept meanwhile. */
static enum err work(struct rt *rt, struct job *job)
{
    int64_t backoff_ns = RETRY_BACKOFF_FIRST_NS;

    if (!section_enter(rt, job))
        return ERR_FENCED;
    enum err err = try_once(rt, job);
    for (int i = 1; i < JOB_ATTEMPT_COUNT_MAX && failure_is_transient(err); i++) {
        rt_emit(rt, "job.tried", "job", job->id, "error", failure_code(err), NULL);
        rt_sleep(rt, backoff_ns);
        backoff_ns = 2 * backoff_ns < RETRY_BACKOFF_MAX_NS ? 2 * backoff_ns : RETRY_BACKOFF_MAX_NS;
        err = try_once(rt, job);
    }
    return err;
}

static void finish(struct rt *rt, struct worker *worker, struct job *job, enum err err)
{
    job->error_code = failure_code(err);
    if (!job_release(rt, &worker->link, job, err == ERR_OK))
        return;
    rt_alert_clear(rt, ALERT_SLOW_JOB, job->id);
    rt_emit(rt, "job.finished", "job", job->id, "cluster", job->cluster_id, "error",
            job->error_code, NULL);
}

/* The document kills a process that must stop. What a process can do itself: forget all it has, and
 * begin anew. */
static void stop(struct rt *rt, struct worker *worker, const struct job *job)
{
    rt_emit(rt, "worker.stopped", "job", job->id, "cluster", job->cluster_id, NULL);
    if (link_ready(rt, &worker->link) == ERR_OK)
        link_exec(rt, &worker->link, &job_locks_obey_stop, PARAMS(rt_instance(rt), job->id), NULL);
    link_close(rt, &worker->link);
    link_close(rt, &worker->section);
    rt_sleep(rt, RESTART_NS);
}

/* The lock is ours and the message is gone. Whatever happens now, the heartbeat is told. */
static void run_job(struct rt *rt, struct worker *worker, struct job *job)
{
    job->started = rt_mono_now(rt);
    rt_emit(rt, "job.started", "job", job->id, "cluster", job->cluster_id, "type", job->rule->type,
            NULL);
    rt_spawn(rt, "heartbeat", heartbeat_body, job);
    enum err err = work(rt, job);
    if (err != ERR_FENCED)
        finish(rt, worker, job, err);
    section_leave(rt, job);
    rt_metric_observe(rt, METRIC_JOB_RUNNING, "job_type", job->rule->type,
                      mono_since_ns(rt_mono_now(rt), job->started));
    if (job->lost)
        rt_emit(rt, "job.abandoned", "job", job->id, "cluster", job->cluster_id, NULL);
    rt_raise(rt, &job->done);
    if (job->stopped)
        stop(rt, worker, job);
}

/* ---- messages ---- */

static void take_job(struct rt *rt, struct worker *worker, struct job *job, int64_t receipt)
{
    job->run = ++worker->run_count;
    job->section = &worker->section;
    rt_emit(rt, "lock.acquired", "cluster", job->cluster_id, "job", job->id, "token",
            job_token_text(rt, job), "correlation", job->correlation_id, NULL);
    /* When this fails the message comes again, and is dropped: its job is not PENDING any more. */
    rt_queue_delete(rt, receipt);
    run_job(rt, worker, job);
}

static void drop(struct rt *rt, const char *kind, const struct job *job, int64_t receipt)
{
    rt_emit(rt, kind, "job", job->id, "cluster", job->cluster_id, NULL);
    rt_queue_delete(rt, receipt);
}

static void put_back(struct rt *rt, const char *why, const struct job *job,
                     const struct rt_message *message, int64_t visible_in_ns)
{
    rt_emit(rt, "lock.refused", "cluster", job->cluster_id, "job", job->id, "why", why, NULL);
    monitor_failure(rt, why);
    rt_queue_change_visibility(rt, message->receipt, visible_in_ns);
}

static void process(struct rt *rt, struct worker *worker, const struct rt_message *message)
{
    struct job *job = job_parse(rt, message->body);
    if (job == NULL) {
        rt_emit(rt, "message.unreadable", "body", message->body, NULL);
        rt_queue_delete(rt, message->receipt);
        return;
    }
    rt_emit(rt, "job.received", "job", job->id, "cluster", job->cluster_id, NULL);
    switch (job_acquire(rt, worker, job)) {
    case ACQUIRE_GOT:
        take_job(rt, worker, job, message->receipt);
        return;
    case ACQUIRE_REFUSED:
        drop(rt, "job.refused", job, message->receipt);
        return;
    case ACQUIRE_DUPLICATE:
        drop(rt, "job.duplicate", job, message->receipt);
        return;
    case ACQUIRE_HELD:
        put_back(rt, "held", job, message, held_backoff_ns(rt, message->receive_count));
        return;
    case ACQUIRE_AGAIN:
        put_back(rt, "error", job, message, AGAIN_BACKOFF_NS);
        return;
    }
    FP_ASSERT(!"an acquire result without a case");
}

/* Jobs that run without a lock are the janitor's business; a worker that starts says what it
 * sees. */
static void look_for_lockless_jobs(struct rt *rt, struct link *link)
{
    struct rt_rows rows = {0};

    if (link_ready(rt, link) != ERR_OK ||
        link_exec(rt, link, &job_locks_list_lockless_jobs, NULL, &rows) != ERR_OK)
        return;
    for (int i = 0; i < rows.row_count; i++) {
        rt_emit(rt, "startup.lock_missing", "job", rt_cell(&rows, i, 0), "cluster",
                rt_cell(&rows, i, 1), NULL);
    }
}

void job_locks_worker(struct rt *rt)
{
    struct worker *worker = rt_alloc(rt, sizeof *worker);
    worker->link.label = "job";
    worker->section.label = "section";
    worker->standby.label = "standby";
    worker->standby.is_standby = true;

    look_for_lockless_jobs(rt, &worker->link);
    for (;;) {
        struct rt_message message;
        /* A worker without a database takes no message: another one may have one. */
        if (link_ready(rt, &worker->link) != ERR_OK) {
            rt_idle(rt, RECONNECT_NS);
            continue;
        }
        if (rt_queue_receive(rt, RECEIVE_WAIT_NS, &message) == ERR_OK)
            process(rt, worker, &message);
        else if (rt_weak(rt, JOB_LOCKS_WEAK_QUEUE_TAKEN_FOR_DRAINED))
            return;
    }
}
