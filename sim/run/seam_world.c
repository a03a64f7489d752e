/* The queue's and the cloud's part of the seam. */
#include <string.h>

#include "sim/run/internal.h"

/* ---- the queue ---- */

/* Something may have become available: whoever waits in a receive looks again. */
static void wake_receivers(struct run *run)
{
    for (struct rt *rt = run->receivers; rt; rt = rt->next_receiver)
        if (rt->receives && fiber_is_blocked(rt->fiber))
            fiber_wake(run->sched, rt->fiber);
}

static void report_message(struct rt *rt, const char *kind, const struct rt_message *message)
{
    struct trace *trace = rt->run->trace;
    trace_begin(trace, kind, fiber_name(rt->fiber));
    trace_text(trace, "group", message->group);
    trace_text(trace, "body", message->body);
    trace_number(trace, "receives", message->receive_count);
    trace_end(trace);
}

static bool receive_now(struct rt *rt, struct rt_message *message)
{
    struct run *run = rt->run;
    int64_t now_ns = sched_now_ns(run->sched);
    int available_count = queue_available(run->lane->queue, now_ns);
    if (available_count == 0)
        return false;
    uint32_t pick = choice_below(run->world_stream, (uint32_t)available_count);
    enum err err = queue_receive_nth(run->lane->queue, now_ns, (int)pick, message);
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
    fiber_yield(run->sched);
    visit_point(rt, POINT_QUEUE_RECEIVE, "receive", NULL);
    int64_t deadline_ns = sched_now_ns(run->sched) + wait_ns;
    while (!receive_now(rt, message)) {
        if (sched_now_ns(run->sched) >= deadline_ns)
            return ERR_QUEUE_EMPTY;
        wait_for_message(rt, deadline_ns);
    }
    report_message(rt, "queue.received", message);
    visit_point(rt, POINT_QUEUE_RECEIVED, "receive", NULL);
    return ERR_OK;
}

static enum err report_queue(struct rt *rt, const char *kind, int64_t receipt, enum err err)
{
    struct trace *trace = rt->run->trace;
    trace_begin(trace, kind, fiber_name(rt->fiber));
    trace_number(trace, "receipt", receipt);
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
    return err;
}

enum err rt_queue_delete(struct rt *rt, int64_t receipt)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    visit_point(rt, POINT_QUEUE_DELETE, "delete", NULL);
    enum err err = queue_delete(run->lane->queue, sched_now_ns(run->sched), receipt);
    wake_receivers(run);
    return report_queue(rt, "queue.deleted", receipt, err);
}

enum err rt_queue_change_visibility(struct rt *rt, int64_t receipt, int64_t visible_in_ns)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    enum err err =
        queue_change_visibility(run->lane->queue, sched_now_ns(run->sched), receipt, visible_in_ns);
    wake_receivers(run);
    return report_queue(rt, "queue.visibility", receipt, err);
}

enum err rt_queue_send(struct rt *rt, const char *group, const char *body)
{
    struct run *run = rt->run;
    fiber_yield(run->sched);
    struct queue_sent sent;
    enum err err = queue_send(run->lane->queue, sched_now_ns(run->sched), group, body, &sent);
    if (err != ERR_OK) {
        run_trouble(run, "the queue is full");
        return err;
    }
    trace_event(run->trace, "queue.sent", fiber_name(rt->fiber), "group", group, "body", body,
                "duplicate", sent.duplicate ? "yes" : "no", NULL);
    wake_receivers(run);
    return ERR_OK;
}

/* ---- the cloud ---- */

static const char *resource_text(struct run *run, const struct rt_cloud_request *request)
{
    strbuf_clear(&run->scratch);
    strbuf_printf(&run->scratch, "%s.%s.%s", request->name, request->platform,
                  request->base_domain);
    return strbuf_str(&run->scratch);
}

static void report_start(struct rt *rt, const struct rt_cloud_request *request, int64_t effect,
                         enum err err)
{
    struct trace *trace = rt->run->trace;
    trace_begin(trace, "effect.start", fiber_name(rt->fiber));
    trace_number(trace, "effect", effect);
    trace_text(trace, "instance", proc_name(rt->proc));
    trace_text(trace, "cluster", request->claim.cluster_id);
    trace_text(trace, "resource", resource_text(rt->run, request));
    trace_text(trace, "op", cloud_op_name(request->op));
    trace_text(trace, "part", request->part);
    trace_text(trace, "job", request->claim.job_id);
    trace_number(trace, "run", request->claim.run);
    trace_number(trace, "token", request->claim.token);
    trace_text(trace, "accepted", err == ERR_OK ? "yes" : "no");
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
}

static void report_end(void *self, const struct cloud_call *call, enum err caller_err)
{
    struct run *run = self;
    (void)caller_err;
    if (call->op == RT_CLOUD_LOOK || run->setting_up)
        return;
    trace_begin(run->trace, "effect.end", "cloud");
    trace_number(run->trace, "effect", call->id);
    trace_text(run->trace, "result", err_name(call->result));
    trace_end(run->trace);
}

/* The cloud's own progress: what it accepted takes effect though its caller may be dead. */
static void cloud_body(void *arg)
{
    struct run *run = arg;
    int64_t end_ns = cloud_next_end_ns(run->lane->cloud);
    if (end_ns < 0)
        return;
    if (end_ns > sched_now_ns(run->sched))
        fiber_sleep_until(run->sched, end_ns, false);
    cloud_advance(run->lane->cloud, sched_now_ns(run->sched));
}

enum err rt_cloud_call(struct rt *rt, const struct rt_cloud_request *request,
                       struct rt_cloud_reply *reply)
{
    struct run *run = rt->run;
    struct cloud_call call;
    struct rt_cloud_reply ignored;
    fiber_yield(run->sched);
    visit_point(rt, POINT_CLOUD_CALL, cloud_op_name(request->op), NULL);
    cloud_on_done(run->lane->cloud, report_end, run);
    enum err err = cloud_begin(run->lane->cloud, sched_now_ns(run->sched), request,
                               proc_name(rt->proc), run->world_stream, CLOUD_FAULT_NONE, &call);
    if (request->op != RT_CLOUD_LOOK && !run->setting_up)
        report_start(rt, request, err == ERR_OK ? call.id : 0, err);
    if (err != ERR_OK) {
        memset(reply, 0, sizeof *reply);
        return err;
    }
    if (call.end_ns > sched_now_ns(run->sched))
        fiber_spawn(run->sched, run->harness, "cloud", cloud_body, run);
    if (call.answer_ns > sched_now_ns(run->sched))
        fiber_sleep_until(run->sched, call.answer_ns, false);
    err =
        cloud_finish(run->lane->cloud, sched_now_ns(run->sched), call.id, reply ? reply : &ignored);
    visit_point(rt, POINT_CLOUD_DONE, cloud_op_name(request->op), NULL);
    return err;
}
