/* The part of the seam that outside services have. */
#include <stdio.h>
#include <string.h>

#include "sim/run/internal.h"

/* After the numbers of the cloud and of the artifact store. */
#define EFFECT_FIRST ((int64_t)1 << 32)

static void put_resource(struct trace *trace, const char *service, const char *subject)
{
    char resource[WORLD_NAME_SIZE_MAX + WORLD_ID_SIZE_MAX + 2];
    snprintf(resource, sizeof resource, "%s:%s", service, subject);
    trace_text(trace, "resource", resource);
}

static void report_start(struct rt *rt, const struct rt_service_request *request, int64_t effect,
                         enum err err)
{
    struct trace *trace = rt->run->trace;
    trace_begin(trace, "effect.start", fiber_name(rt->fiber));
    trace_number(trace, "effect", effect);
    trace_text(trace, "instance", proc_name(rt->proc));
    trace_text(trace, "cluster", request->claim.cluster_id);
    put_resource(trace, request->service, request->subject);
    trace_text(trace, "op", request->op);
    trace_text(trace, "part", request->subject);
    if (request->key != NULL)
        trace_text(trace, "key", request->key);
    if (request->content != NULL)
        trace_text(trace, "content", request->content);
    trace_text(trace, "job", request->claim.job_id);
    trace_number(trace, "run", request->claim.run);
    trace_number(trace, "token", request->claim.token);
    trace_text(trace, "accepted", err == ERR_OK ? "yes" : "no");
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
}

/* Says by itself what was done to whom: nothing of the start need be remembered to judge it. */
static void report_end(void *self, const struct service_call *call)
{
    struct run *run = self;
    trace_begin(run->trace, "effect.end", "service");
    trace_number(run->trace, "effect", EFFECT_FIRST + call->id);
    put_resource(run->trace, call->service, call->subject);
    trace_text(run->trace, "op", call->op);
    trace_text(run->trace, "service", call->service);
    trace_text(run->trace, "subject", call->subject);
    trace_text(run->trace, "instance", call->by.instance);
    trace_text(run->trace, "job", call->by.job_id);
    trace_text(run->trace, "repeated", call->repeated ? "yes" : "no");
    trace_text(run->trace, "result", err_name(call->result));
    trace_end(run->trace);
}

void seam_service_begin(struct run *run)
{
    service_on_done(run->lane->service, report_end, run);
}

void seam_service_end(struct run *run)
{
    service_on_done(run->lane->service, NULL, NULL);
}

/* The service's own progress: what it accepted takes effect though its caller may be dead. */
static void service_body(void *arg)
{
    struct run *run = arg;
    int64_t end_ns = service_next_end_ns(run->lane->service);
    if (end_ns < 0)
        return;
    if (end_ns > sched_now_ns(run->sched))
        fiber_sleep_until(run->sched, end_ns, false);
    service_advance(run->lane->service, sched_now_ns(run->sched));
}

static enum err await_answer(struct rt *rt, const struct service_call *call,
                             struct rt_service_reply *reply)
{
    struct run *run = rt->run;
    struct rt_service_reply ignored;
    if (call->end_ns > sched_now_ns(run->sched))
        fiber_spawn(run->sched, run->harness, "service", service_body, run);
    if (call->answer_ns > sched_now_ns(run->sched))
        fiber_sleep_until(run->sched, call->answer_ns, false);
    return service_finish(run->lane->service, sched_now_ns(run->sched), call->id,
                          reply != NULL ? reply : &ignored);
}

enum err rt_service_call(struct rt *rt, const struct rt_service_request *request,
                         struct rt_service_reply *reply)
{
    struct run *run = rt->run;
    struct service_call call;
    FP_ASSERT(!run->setting_up);
    fiber_yield(run->sched);
    struct struck struck = visit_point(rt, POINT_SERVICE_CALL, request->op);
    enum err err = service_begin(run->lane->service, sched_now_ns(run->sched), request,
                                 proc_name(rt->proc), run->world_stream, struck.service, &call);
    /* What never arrives is accepted by nobody, whatever its caller will learn. */
    bool is_lost = err == ERR_OK && call.fault == SERVICE_FAULT_REQUEST_LOST;
    report_start(rt, request, err == ERR_OK ? EFFECT_FIRST + call.id : 0,
                 is_lost ? ERR_SERVICE_TIMEOUT : err);
    if (err == ERR_INFRASTRUCTURE)
        run_trouble(run, "the service has seen too many calls");
    if (err == ERR_OK)
        err = await_answer(rt, &call, reply);
    else if (reply != NULL)
        memset(reply, 0, sizeof *reply);
    visit_point(rt, POINT_SERVICE_DONE, request->op);
    return err;
}

enum err rt_service_look(struct rt *rt, const struct rt_service_request *request,
                         int32_t *done_count)
{
    struct run *run = rt->run;
    struct trace *trace = run->trace;
    *done_count = 0;
    fiber_yield(run->sched);
    struct struck struck = visit_point(rt, POINT_SERVICE_CALL, "look");
    enum err err =
        struck.service != SERVICE_FAULT_NONE
            ? ERR_SERVICE_TIMEOUT
            : service_look(run->lane->service, sched_now_ns(run->sched), request, done_count);
    trace_begin(trace, "service.look", fiber_name(rt->fiber));
    put_resource(trace, request->service, request->subject);
    trace_text(trace, "op", request->op);
    trace_number(trace, "done", *done_count);
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
    visit_point(rt, POINT_SERVICE_DONE, "look");
    return err;
}
