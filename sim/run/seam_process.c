/* Time, processes, signals, events and the workload: the plain part of the seam. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/walltext.h"
#include "sim/run/internal.h"

/* Of the machine on which it runs; the harness's own is right. */
static const struct machine_clock *clock_of(const struct rt *rt)
{
    static const struct machine_clock right;
    return rt->actor ? &rt->actor->clock : &right;
}

mono_time rt_mono_now(struct rt *rt)
{
    return (mono_time){.ns = clock_mono_ns(clock_of(rt), sched_now_ns(rt->run->sched))};
}

wall_time rt_wall_now(struct rt *rt)
{
    int64_t wall_ns = clock_wall_ns(clock_of(rt), sched_now_ns(rt->run->sched));
    return (wall_time){.ns = VIRTUAL_EPOCH_NS + wall_ns};
}

const char *rt_wall_text(struct rt *rt, wall_time wall)
{
    char text[WALLTEXT_SIZE];
    walltext_format(wall.ns, text);
    return arena_strdup(proc_arena(rt->proc), text);
}

static void sleep_for(struct rt *rt, int64_t duration_ns, bool idle)
{
    FP_ASSERT(duration_ns >= 0);
    visit_point(rt, POINT_SLEEP, "sleep");
    int64_t until_ns = sched_now_ns(rt->run->sched) + clock_timer_ns(clock_of(rt), duration_ns);
    fiber_sleep_until(rt->run->sched, until_ns, idle);
    visit_point(rt, POINT_WAKE, "sleep");
}

void rt_sleep(struct rt *rt, int64_t duration_ns)
{
    sleep_for(rt, duration_ns, false);
}

void rt_idle(struct rt *rt, int64_t duration_ns)
{
    sleep_for(rt, duration_ns, true);
}

const char *rt_name(struct rt *rt)
{
    return rt->actor ? rt->actor->name : proc_name(rt->proc);
}

const char *rt_instance(struct rt *rt)
{
    return proc_name(rt->proc);
}

void *rt_alloc(struct rt *rt, size_t size)
{
    return arena_alloc(proc_arena(rt->proc), size);
}

const char *rt_printf(struct rt *rt, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    FP_ASSERT(size >= 0 && (size_t)size < sizeof text);
    return arena_strdup(proc_arena(rt->proc), text);
}

static void spawned_body(void *arg)
{
    struct rt *rt = arg;
    rt->body(rt, rt->arg);
}

void rt_spawn(struct rt *rt, const char *name, void (*body)(struct rt *rt, void *arg), void *arg)
{
    struct rt *child = rt_new(rt->run, rt->actor, rt->proc);
    child->body = body;
    child->arg = arg;
    child->fiber = fiber_spawn(rt->run->sched, rt->proc, name, spawned_body, child);
}

bool rt_weak(struct rt *rt, int weakness)
{
    FP_ASSERT(weakness >= 0 && weakness < STRATEGY_WEAKNESS_COUNT_MAX);
    return rt->run->scenario->weaknesses >> weakness & 1;
}

uint32_t rt_random(struct rt *rt, uint32_t n)
{
    return choice_below(rt->run->workload_stream, n);
}

bool rt_wait(struct rt *rt, struct rt_signal *signal, int64_t timeout_ns)
{
    struct run *run = rt->run;
    FP_ASSERT(!signal->waiter);
    int64_t deadline_ns = sched_now_ns(run->sched) + clock_timer_ns(clock_of(rt), timeout_ns);
    visit_point(rt, POINT_SLEEP, "wait");
    while (!signal->raised && sched_now_ns(run->sched) < deadline_ns) {
        signal->waiter = rt;
        fiber_block_until(run->sched, "waiting for a signal", deadline_ns, false);
        signal->waiter = NULL;
    }
    visit_point(rt, POINT_WAKE, "wait");
    bool raised = signal->raised;
    signal->raised = false;
    return raised;
}

void rt_raise(struct rt *rt, struct rt_signal *signal)
{
    signal->raised = true;
    if (signal->waiter && fiber_is_blocked(signal->waiter->fiber))
        fiber_wake(rt->run->sched, signal->waiter->fiber);
}

void rt_emit(struct rt *rt, const char *kind, ...)
{
    struct trace *trace = rt->run->trace;
    va_list args;
    va_start(args, kind);
    trace_begin(trace, kind, fiber_name(rt->fiber));
    for (const char *key = va_arg(args, const char *); key; key = va_arg(args, const char *))
        trace_text(trace, key, va_arg(args, const char *));
    trace_end(trace);
    va_end(args);
}

int rt_workload_count(struct rt *rt, const char *list)
{
    return workload_count(rt->run->scenario->workload, list);
}

const char *rt_workload_text(struct rt *rt, const char *list, int index, const char *key)
{
    return workload_text(rt->run->scenario->workload, list, index, key);
}

int64_t rt_workload_number(struct rt *rt, const char *list, int index, const char *key)
{
    return workload_number(rt->run->scenario->workload, list, index, key);
}
