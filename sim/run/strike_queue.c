/* A queue that delivers twice, late, again too early, or nothing. */
#include "sim/run/internal.h"

struct disturbance {
    struct run *run;
    enum queue_error error;
    int64_t receipt;
    int64_t at_ns;
};

void fault_disturb_queue(struct fault_host *host, enum queue_error error, int64_t delay_ns)
{
    static const char *const names[QUEUE_ERROR_COUNT] = {"empty", "late", "duplicate", "early"};
    struct trace *trace = host->run->trace;
    FP_ASSERT(error < QUEUE_ERROR_COUNT);
    fault_event_begin(host, "fault.queue_error");
    trace_text(trace, "kind", names[error]);
    trace_number(trace, "delay_ns", delay_ns);
    trace_end(trace);
    host->struck.queue = true;
    host->struck.queue_error = error;
    host->struck.queue_delay_ns = delay_ns;
}

/* The delivery may be over by then: a strike that comes too late for it has no effect. */
static void disturb(const struct disturbance *disturbance)
{
    struct run *run = disturbance->run;
    int64_t now_ns = sched_now_ns(run->sched);
    bool early = disturbance->error == QUEUE_ERROR_EARLY;
    bool done = early ? queue_expire_visibility(run->lane->queue, now_ns, disturbance->receipt)
                      : queue_duplicate(run->lane->queue, now_ns, disturbance->receipt);
    trace_event(run->trace, early ? "queue.early" : "queue.duplicated", "queue", "done",
                done ? "yes" : "no", NULL);
    receivers_wake(run);
}

static void disturbance_body(void *arg)
{
    const struct disturbance *disturbance = arg;
    fiber_sleep_until(disturbance->run->sched, disturbance->at_ns, true);
    if (disturbance->run->faults_on)
        disturb(disturbance);
}

void delivery_disturb(struct run *run, const struct struck *struck, int64_t receipt)
{
    FP_ASSERT(struck->queue);
    struct disturbance *disturbance = arena_alloc(proc_arena(run->harness), sizeof *disturbance);
    *disturbance = (struct disturbance){.run = run,
                                        .error = struck->queue_error,
                                        .receipt = receipt,
                                        .at_ns = sched_now_ns(run->sched) + struck->queue_delay_ns};
    fiber_spawn(run->sched, run->harness, "queue", disturbance_body, disturbance);
}
