/* The queue's part of the seam, and that of its dead letters. */
#include <string.h>

#include "sim/run/internal.h"

/* Something may have become available: whoever waits in a receive looks again. */
void receivers_wake(struct run *run)
{
    for (struct rt *rt = run->receivers; rt; rt = rt->next_receiver)
        if (rt->receives && fiber_is_blocked(rt->fiber))
            fiber_wake(run->sched, rt->fiber);
}

/* ---- events ---- */

static void report_message(struct rt *rt, const char *kind, const struct rt_message *message)
{
    struct trace *trace = rt->run->trace;
    trace_begin(trace, kind, fiber_name(rt->fiber));
    trace_text(trace, "group", message->group);
    trace_text(trace, "body", message->body);
    trace_number(trace, "receives", message->receive_count);
    trace_end(trace);
}

static enum err report_receipt(struct rt *rt, const char *kind, int64_t receipt, enum err err)
{
    struct trace *trace = rt->run->trace;
    trace_begin(trace, kind, fiber_name(rt->fiber));
    trace_number(trace, "receipt", receipt);
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
    return err;
}

/* A message goes away though nobody asked for it. */
static void report_loss(void *self, enum queue_loss loss, const struct queue_view *message)
{
    static const char *const kinds[] = {"queue.dead", "queue.expired", "dead.expired"};
    struct run *run = self;
    FP_ASSERT((size_t)loss < FP_COUNT(kinds));
    trace_begin(run->trace, kinds[loss], "queue");
    trace_text(run->trace, "group", message->group);
    trace_text(run->trace, "body", message->body);
    trace_number(run->trace, "receives", message->receive_count);
    trace_end(run->trace);
}

void seam_queue_begin(struct run *run)
{
    queue_on_loss(run->lane->queue, report_loss, run);
}

void seam_queue_end(struct run *run)
{
    queue_on_loss(run->lane->queue, NULL, NULL);
}

/* ---- receiving ---- */

/* Which of the groups that have something comes first is the world's choice. */
static bool receive_now(struct rt *rt, struct queue *queue, struct rt_message *message)
{
    struct run *run = rt->run;
    int64_t now_ns = sched_now_ns(run->sched);
    int available_count = queue_available(queue, now_ns);
    if (available_count == 0)
        return false;
    uint32_t pick = choice_below(run->world_stream, (uint32_t)available_count);
    enum err err = queue_receive_nth(queue, now_ns, (int)pick, message);
    FP_ASSERT(err == ERR_OK);
    return true;
}

static void wait_for_message(struct rt *rt, int64_t deadline_ns)
{
    struct run *run = rt->run;
    int64_t next_ns = queue_next_change_ns(run->lane->queue, sched_now_ns(run->sched));
    int64_t until_ns = next_ns >= 0 && next_ns < deadline_ns ? next_ns : deadline_ns;
    rt->receives = true;
    fiber_block_until(run->sched, "receiving", until_ns, true);
    rt->receives = false;
}

enum err rt_queue_receive(struct rt *rt, int64_t wait_ns, struct rt_message *message)
{
    struct run *run = rt->run;
    memset(message, 0, sizeof *message);
    /* Who finds nothing waits, and that is its scheduling point. Who would find something may find
     * that another was quicker. */
    if (wait_ns == 0 || queue_available(run->lane->queue, sched_now_ns(run->sched)) > 0)
        fiber_yield(run->sched);
    struct struck struck = visit_point(rt, POINT_QUEUE_RECEIVE, "receive");
    int64_t deadline_ns = sched_now_ns(run->sched) + wait_ns;
    if (struck.queue) {
        fiber_sleep_until(run->sched, deadline_ns, true);
        return ERR_QUEUE_EMPTY;
    }
    while (!receive_now(rt, run->lane->queue, message)) {
        if (sched_now_ns(run->sched) >= deadline_ns)
            return ERR_QUEUE_EMPTY;
        wait_for_message(rt, deadline_ns);
    }
    report_message(rt, "queue.received", message);
    struck = visit_point(rt, POINT_QUEUE_RECEIVED, "receive");
    if (struck.queue)
        delivery_disturb(run, &struck, message->receipt);
    return ERR_OK;
}

/* ---- what a receiver does with it ---- */

enum err rt_queue_delete(struct rt *rt, int64_t receipt)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    visit_point(rt, POINT_QUEUE_DELETE, "delete");
    enum err err = queue_delete(run->lane->queue, sched_now_ns(run->sched), receipt);
    receivers_wake(run);
    report_receipt(rt, "queue.deleted", receipt, err);
    visit_point(rt, POINT_QUEUE_DELETED, "delete");
    return err;
}

enum err rt_queue_change_visibility(struct rt *rt, int64_t receipt, int64_t visible_in_ns)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    visit_point(rt, POINT_QUEUE_VISIBILITY, "visibility");
    enum err err =
        queue_change_visibility(run->lane->queue, sched_now_ns(run->sched), receipt, visible_in_ns);
    receivers_wake(run);
    return report_receipt(rt, "queue.visibility", receipt, err);
}

enum err rt_queue_send(struct rt *rt, const char *group, const char *body)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    struct struck struck = visit_point(rt, POINT_QUEUE_SEND, "send");
    struct queue_sent sent;
    enum err err = queue_send(run->lane->queue, sched_now_ns(run->sched), group, body, &sent);
    if (err != ERR_OK) {
        run_trouble(run, "the queue is full");
        return err;
    }
    trace_event(run->trace, "queue.sent", fiber_name(rt->fiber), "group", group, "body", body,
                "duplicate", sent.duplicate ? "yes" : "no", NULL);
    if (struck.queue && !sent.duplicate)
        queue_delay_message(run->lane->queue, sched_now_ns(run->sched), sent.id,
                            struck.queue_delay_ns);
    receivers_wake(run);
    visit_point(rt, POINT_QUEUE_SENT, "send");
    return ERR_OK;
}

/* ---- dead letters ---- */

enum err rt_dead_receive(struct rt *rt, struct rt_message *message)
{
    struct run *run = rt->run;
    memset(message, 0, sizeof *message);
    fiber_yield(run->sched);
    if (!receive_now(rt, queue_dead(run->lane->queue), message))
        return ERR_QUEUE_EMPTY;
    report_message(rt, "dead.received", message);
    visit_point(rt, POINT_DEAD_RECEIVED, "receive");
    return ERR_OK;
}

enum err rt_dead_redrive(struct rt *rt, int64_t receipt)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    visit_point(rt, POINT_DEAD_SETTLE, "redrive");
    enum err err = queue_redrive_delivery(run->lane->queue, sched_now_ns(run->sched), receipt);
    receivers_wake(run);
    return report_receipt(rt, "dead.redriven", receipt, err);
}

enum err rt_dead_delete(struct rt *rt, int64_t receipt)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    visit_point(rt, POINT_DEAD_SETTLE, "delete");
    enum err err = queue_delete(queue_dead(run->lane->queue), sched_now_ns(run->sched), receipt);
    return report_receipt(rt, "dead.deleted", receipt, err);
}
