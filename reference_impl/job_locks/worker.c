/* The worker: receive a message, take the lock, do the job, give the lock back. */
#include "reference_impl/job_locks/job_locks.h"

#define HELD_BACKOFF_FIRST_NS (5 * NS_PER_MIN)
#define HELD_BACKOFF_MAX_NS (30 * NS_PER_MIN)
#define AGAIN_BACKOFF_NS (10 * NS_PER_S)

struct worker {
    struct link link;
    int64_t run_count;
};

/* The queue gives a message up after three deliveries, so a job that has to wait must not be
 * delivered three times in a row: each time it waits twice as long. */
static int64_t held_backoff_ns(int receive_count)
{
    int64_t backoff_ns = HELD_BACKOFF_FIRST_NS;
    for (int i = 1; i < receive_count && backoff_ns < HELD_BACKOFF_MAX_NS; i++)
        backoff_ns *= 2;
    return backoff_ns < HELD_BACKOFF_MAX_NS ? backoff_ns : HELD_BACKOFF_MAX_NS;
}

static void start_heartbeat(struct rt *rt, struct job *job)
{
    rt_spawn(rt, "heartbeat", heartbeat_body, job);
}

/* The lock is ours and the message is gone. Whatever happens now, the heartbeat is told. */
static void run_job(struct rt *rt, struct worker *worker, struct job *job)
{
    rt_emit(rt, "job.started", "job", job->id, "cluster", job->cluster_id, "type", job->rule->type,
            NULL);
    start_heartbeat(rt, job);
    enum err err = job_handle(rt, job);
    if (err != ERR_FENCED) {
        job->error_code = err == ERR_OK ? NULL : err_name(err);
        if (job_release(rt, &worker->link, job, err == ERR_OK)) {
            rt_emit(rt, "job.finished", "job", job->id, "cluster", job->cluster_id, "error",
                    job->error_code, NULL);
        }
    }
    if (job->lost)
        rt_emit(rt, "job.abandoned", "job", job->id, "cluster", job->cluster_id, NULL);
    rt_raise(rt, &job->done);
}

static void take_job(struct rt *rt, struct worker *worker, struct job *job, int64_t receipt)
{
    job->run = ++worker->run_count;
    rt_emit(rt, "lock.acquired", "cluster", job->cluster_id, "job", job->id, "token",
            job_token_text(rt, job), NULL);
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
    switch (job_acquire(rt, &worker->link, job)) {
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
        put_back(rt, "held", job, message, held_backoff_ns(message->receive_count));
        return;
    case ACQUIRE_AGAIN:
        put_back(rt, "error", job, message, AGAIN_BACKOFF_NS);
        return;
    }
    FP_ASSERT(!"an acquire result without a case");
}

void job_locks_worker(struct rt *rt)
{
    struct worker *worker = rt_alloc(rt, sizeof *worker);
    worker->link.label = "job";

    for (;;) {
        struct rt_message message;
        /* A worker without a database takes no message: another one may have one. */
        if (link_ready(rt, &worker->link) != ERR_OK) {
            rt_idle(rt, RECONNECT_NS);
            continue;
        }
        if (rt_queue_receive(rt, RECEIVE_WAIT_NS, &message) == ERR_OK)
            process(rt, worker, &message);
    }
}
