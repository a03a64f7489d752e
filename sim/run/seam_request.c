/* Requests from one process to another: the part of the seam that HTTP has. A request waits until
 * somebody accepts it, and its sender until it is answered. */
#include <stdio.h>
#include <string.h>

#include "sim/run/internal.h"

enum request_state { REQUEST_WAITS, REQUEST_ACCEPTED, REQUEST_ANSWERED, REQUEST_LOST };

struct request {
    struct request *next;
    enum request_state state;
    struct rt_request request;
    struct rt_answer answer;
    struct rt *client; /* who waits for the answer; NULL: nobody does any more */
    struct proc *accepted_by;
};

static void copy_text(char *to, size_t size, const char *text)
{
    FP_ASSERT(strlen(text) < size);
    memcpy(to, text, strlen(text) + 1);
}

/* ---- events ---- */

static void event_begin(struct run *run, const char *kind, const char *who,
                        const struct request *request)
{
    trace_begin(run->trace, kind, who);
    trace_number(run->trace, "number", request->request.number);
    trace_text(run->trace, "subject", request->request.subject);
}

static void report(struct rt *rt, const char *kind, const struct request *request)
{
    event_begin(rt->run, kind, fiber_name(rt->fiber), request);
    trace_text(rt->run->trace, "body", request->request.body);
    trace_end(rt->run->trace);
}

static void report_answer(struct rt *rt, const struct request *request)
{
    char status[16];
    snprintf(status, sizeof status, "%d", request->answer.status);
    event_begin(rt->run, "request.answered", fiber_name(rt->fiber), request);
    trace_text(rt->run->trace, "body", request->request.body);
    trace_text(rt->run->trace, "status", status);
    trace_text(rt->run->trace, "answer", request->answer.body);
    trace_text(rt->run->trace, "heard", request->client ? "yes" : "no");
    trace_end(rt->run->trace);
}

/* ---- the requests of a run ---- */

static struct request *request_add(struct rt *rt, const char *subject, const char *body)
{
    struct run *run = rt->run;
    struct request *request = arena_alloc(proc_arena(run->harness), sizeof *request);
    request->request.number = ++run->request_count;
    copy_text(request->request.subject, sizeof request->request.subject, subject);
    copy_text(request->request.body, sizeof request->request.body, body);
    request->client = rt;
    struct request **at = &run->requests;
    while (*at)
        at = &(*at)->next;
    *at = request;
    return request;
}

static void request_remove(struct run *run, const struct request *request)
{
    struct request **at = &run->requests;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
}

static struct request *first_waiting(const struct run *run)
{
    struct request *request = run->requests;
    while (request && request->state != REQUEST_WAITS)
        request = request->next;
    return request;
}

/* Its end: the client, when there is one, goes on. */
static void request_end(struct run *run, struct request *request, enum request_state state)
{
    request->state = state;
    request_remove(run, request);
    if (request->client && fiber_is_blocked(request->client->fiber))
        fiber_wake(run->sched, request->client->fiber);
}

static void acceptors_wake(struct run *run)
{
    for (struct rt *rt = run->receivers; rt; rt = rt->next_receiver)
        if (rt->accepts && fiber_is_blocked(rt->fiber))
            fiber_wake(run->sched, rt->fiber);
}

void requests_of_dead(struct run *run, const struct proc *proc)
{
    struct request *next;
    for (struct request *request = run->requests; request; request = next) {
        next = request->next;
        if (request->client && request->client->proc == proc)
            request->client = NULL;
        if (request->accepted_by != proc)
            continue;
        event_begin(run, "request.lost", proc_name(proc), request);
        trace_end(run->trace);
        request_end(run, request, REQUEST_LOST);
    }
}

/* ---- the seam ---- */

static void await(struct rt *rt, const struct request *request, int64_t deadline_ns)
{
    struct run *run = rt->run;
    while (request->state < REQUEST_ANSWERED && sched_now_ns(run->sched) < deadline_ns)
        fiber_block_until(run->sched, "waiting for an answer", deadline_ns, false);
}

enum err rt_request(struct rt *rt, const char *subject, const char *body, int64_t patience_ns,
                    struct rt_answer *answer)
{
    struct run *run = rt->run;
    memset(answer, 0, sizeof *answer);
    fiber_yield(run->sched);
    struct request *request = request_add(rt, subject, body);
    report(rt, "request.sent", request);
    acceptors_wake(run);
    await(rt, request, sched_now_ns(run->sched) + patience_ns);
    request->client = NULL;
    if (request->state == REQUEST_ANSWERED)
        *answer = request->answer;
    if (request->state == REQUEST_ANSWERED || request->state == REQUEST_LOST)
        return request->state == REQUEST_ANSWERED ? ERR_OK : ERR_REQUEST_LOST;
    report(rt, "request.given_up", request);
    if (request->state == REQUEST_WAITS)
        request_remove(run, request);
    return ERR_TIMEOUT;
}

enum err rt_accept(struct rt *rt, int64_t wait_ns, struct rt_request *request)
{
    struct run *run = rt->run;
    int64_t deadline_ns = sched_now_ns(run->sched) + wait_ns;
    memset(request, 0, sizeof *request);
    /* Who would find something may find that another was quicker. */
    if (first_waiting(run))
        fiber_yield(run->sched);
    while (!first_waiting(run)) {
        if (sched_now_ns(run->sched) >= deadline_ns)
            return ERR_TIMEOUT;
        rt->accepts = true;
        fiber_block_until(run->sched, "accepting requests", deadline_ns, true);
        rt->accepts = false;
    }
    struct request *accepted = first_waiting(run);
    accepted->state = REQUEST_ACCEPTED;
    accepted->accepted_by = rt->proc;
    *request = accepted->request;
    report(rt, "request.accepted", accepted);
    return ERR_OK;
}

void rt_answer(struct rt *rt, const struct rt_request *request, int status, const char *body)
{
    struct run *run = rt->run;
    struct request *accepted = run->requests;
    while (accepted && accepted->request.number != request->number)
        accepted = accepted->next;
    FP_ASSERT(accepted && accepted->state == REQUEST_ACCEPTED && accepted->accepted_by == rt->proc);
    accepted->answer.status = status;
    copy_text(accepted->answer.body, sizeof accepted->answer.body, body);
    report_answer(rt, accepted);
    request_end(run, accepted, REQUEST_ANSWERED);
}
