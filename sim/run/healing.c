#include "sim/run/healing.h"

#include "sim/run/internal.h"

struct healing {
    struct run *run;
    const char *fault, *target;
    int64_t due_ns;
    healing_undo *undo;
    void *data;
    bool done;
    struct fiber *timer; /* NULL: it has none, or it is over */
    struct healing *next;
};

static void end(struct healing *healing)
{
    struct run *run = healing->run;
    if (healing->done)
        return;
    healing->done = true;
    healing->undo(run, healing->data);
    trace_event(run->trace, "fault.healed", "harness", "fault", healing->fault, "target",
                healing->target, NULL);
}

/* A run may come to rest while something is broken: that is no reason to wait. */
static void timer_body(void *arg)
{
    struct healing *healing = arg;
    fiber_block_until(healing->run->sched, "healing", healing->due_ns, true);
    healing->timer = NULL;
    end(healing);
}

static void append(struct run *run, struct healing *healing)
{
    struct healing **at = &run->healings;
    while (*at)
        at = &(*at)->next;
    *at = healing;
}

void healing_begin(struct run *run, const char *fault, const char *target, int64_t duration_ns,
                   healing_undo *undo, void *data)
{
    FP_ASSERT(duration_ns >= 0);
    struct healing *healing = arena_alloc(proc_arena(run->harness), sizeof *healing);
    *healing = (struct healing){.run = run,
                                .fault = fault,
                                .target = target,
                                .due_ns = sched_now_ns(run->sched) + duration_ns,
                                .undo = undo,
                                .data = data};
    append(run, healing);
    if (duration_ns > 0)
        healing->timer = fiber_spawn(run->sched, run->harness, "healing", timer_body, healing);
}

void fault_lasts(struct fault_host *host, const char *target, healing_undo *undo, void *data)
{
    const struct fault_common *common = host->fault->config;
    int64_t duration_ns = fault_draw_duration(host, common->heal_after);
    healing_begin(host->run, host->fault->kind->name, target, duration_ns, undo, data);
}

void healing_end_all(struct run *run)
{
    for (struct healing *healing = run->healings; healing; healing = healing->next) {
        end(healing);
        if (healing->timer && fiber_is_blocked(healing->timer))
            fiber_wake(run->sched, healing->timer);
    }
}
