/* The cloud's part of the seam. */
#include <string.h>

#include "sim/run/internal.h"

static const char *resource_text(struct run *run, const struct rt_cloud_request *request)
{
    strbuf_clear(&run->scratch);
    strbuf_printf(&run->scratch, "%s.%s.%s", request->name, request->platform,
                  request->base_domain);
    return strbuf_str(&run->scratch);
}

/* Of a part that is in the way: whose it is. A part that is still being made has no maker yet. */
static void report_maker(struct run *run, const struct rt_cloud_request *request, enum err err)
{
    int part = cloud_part_find(request->part);
    const struct cloud_resource *resource = cloud_resource_find(
        run->lane->cloud, request->name, request->platform, request->base_domain);
    if (err != ERR_CLOUD_EXISTS || !resource || part < 0 || !resource->parts[part].present)
        return;
    trace_text(run->trace, "made_by", resource->parts[part].by.cluster_id);
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
    report_maker(rt->run, request, err);
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

void seam_cloud_begin(struct run *run)
{
    cloud_on_done(run->lane->cloud, report_end, run);
}

void seam_cloud_end(struct run *run)
{
    cloud_on_done(run->lane->cloud, NULL, NULL);
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

static enum err await_answer(struct rt *rt, const struct cloud_call *call,
                             struct rt_cloud_reply *reply)
{
    struct run *run = rt->run;
    struct rt_cloud_reply ignored;
    if (call->end_ns > sched_now_ns(run->sched))
        fiber_spawn(run->sched, run->harness, "cloud", cloud_body, run);
    if (call->answer_ns > sched_now_ns(run->sched))
        fiber_sleep_until(run->sched, call->answer_ns, false);
    return cloud_finish(run->lane->cloud, sched_now_ns(run->sched), call->id,
                        reply ? reply : &ignored);
}

enum err rt_cloud_call(struct rt *rt, const struct rt_cloud_request *request,
                       struct rt_cloud_reply *reply)
{
    struct run *run = rt->run;
    struct cloud_call call;
    fiber_yield(run->sched);
    struct struck struck = visit_point(rt, POINT_CLOUD_CALL, cloud_op_name(request->op));
    enum err err = cloud_begin(run->lane->cloud, sched_now_ns(run->sched), request,
                               proc_name(rt->proc), run->world_stream, struck.cloud, &call);
    if (request->op != RT_CLOUD_LOOK && !run->setting_up)
        report_start(rt, request, err == ERR_OK ? call.id : 0, err);
    if (err == ERR_INFRASTRUCTURE)
        run_trouble(run, "the cloud is full");
    if (err == ERR_OK)
        err = await_answer(rt, &call, reply);
    else if (reply)
        memset(reply, 0, sizeof *reply);
    visit_point(rt, POINT_CLOUD_DONE, cloud_op_name(request->op));
    return err;
}
