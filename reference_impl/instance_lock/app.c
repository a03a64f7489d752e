/* An app: handlers that accept requests to /process/next and answer them, several at a time. */
#include <string.h>

#include "reference_impl/instance_lock/instance_lock.h"

#define HANDLER_COUNT 8
#define ACCEPT_WAIT_NS NS_PER_HOUR

/* What the handlers of one process share. */
struct app {
    int64_t run_count;
};

static enum locking locking_of(struct rt *rt)
{
    static const struct {
        const char *word;
        enum locking locking;
    } words[] = {{"table", LOCKING_TABLE},
                 {"advisory", LOCKING_ADVISORY},
                 {"advisory_wait", LOCKING_ADVISORY_WAIT},
                 {"optimistic", LOCKING_OPTIMISTIC}};

    if (rt_weak(rt, INSTANCE_LOCK_WEAK_SESSION_LOCK_WAITS))
        return LOCKING_ADVISORY_WAIT;
    if (rt_weak(rt, INSTANCE_LOCK_WEAK_SESSION_LOCK))
        return LOCKING_ADVISORY;
    if (rt_workload_count(rt, "apps") == 0)
        return LOCKING_TABLE;
    const char *text = rt_workload_text(rt, "apps", 0, "locking");
    for (size_t i = 0; i < FP_COUNT(words); i++)
        if (strcmp(words[i].word, text) == 0)
            return words[i].locking;
    FP_ASSERT(!"the workload knows the same words");
    return LOCKING_TABLE;
}

/* "r1 2" is the second coming of r1. */
static void read_body(struct rt *rt, struct handling *handling)
{
    const char *body = handling->request.body;
    const char *space = strchr(body, ' ');
    FP_ASSERT(space != NULL);
    handling->id = rt_printf(rt, "%.*s", (int)(space - body), body);
    handling->is_retry = strcmp(space, " 1") != 0;
}

static void count(struct rt *rt, const struct handling *handling, int status)
{
    const char *text = rt_printf(rt, "%d", status);
    rt_metric_count(rt, METRIC_REQUESTS, "status", text, 1);
    rt_metric_count(rt, METRIC_ROUND_TRIPS, "status", text, handling->round_trip_count);
    if (status == HTTP_OK)
        rt_metric_observe(rt, METRIC_CONNECTION_HELD, NULL, NULL, handling->held_ns);
    rt_emit(rt, "request.handled", "request", handling->id, "round_trips",
            rt_printf(rt, "%lld", (long long)handling->round_trip_count), NULL);
}

static void handle(struct rt *rt, struct app *app, struct handling *handling)
{
    handling->run = ++app->run_count;
    handling->began = rt_mono_now(rt);
    handling->locking = locking_of(rt);
    handling->link.label = "request";
    handling->instance_id = handling->request.subject;
    read_body(rt, handling);
    handling->owner = rt_printf(rt, "%s/%lld", rt_instance(rt), (long long)handling->run);
    int status = process_next(rt, handling);
    count(rt, handling, status);
    const char *said = status == HTTP_OK && handling->transition != NULL ? handling->transition->to
                       : handling->why != NULL                           ? handling->why
                                                                         : "";
    rt_answer(rt, &handling->request, status, said);
}

static void handler_body(struct rt *rt, void *arg)
{
    for (;;) {
        struct handling *handling = rt_alloc(rt, sizeof *handling);
        if (rt_accept(rt, ACCEPT_WAIT_NS, &handling->request) == ERR_OK)
            handle(rt, arg, handling);
    }
}

void instance_lock_app(struct rt *rt)
{
    struct app *app = rt_alloc(rt, sizeof *app);
    for (int i = 1; i < HANDLER_COUNT; i++)
        rt_spawn(rt, rt_printf(rt, "handler-%d", i + 1), handler_body, app);
    handler_body(rt, app);
}
