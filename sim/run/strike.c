/* Faults meet the seam: at each point every fault of the scenario may strike. */
#include <string.h>

#include "sim/core/duration.h"
#include "sim/run/internal.h"

/* Durations are drawn in so many notches: fine enough to hit any window, coarse enough to shrink.
 */
#define DURATION_NOTCH_COUNT 64

void faults_begin(struct run *run)
{
    const struct scenario *scenario = run->scenario;
    for (size_t i = 0; i < scenario->fault_count; i++) {
        memset(&run->faults[i], 0, sizeof run->faults[i]);
        run->faults[i].stream = choices_stream(run->lane->choices, scenario->faults[i].stream_name);
    }
}

static bool hits_target(const struct fault_target *target, const struct actor *actor)
{
    switch (target->kind) {
    case TARGET_ANY:
        return actor->role->faultable;
    case TARGET_ROLE:
        return strcmp(target->name, actor->role->name) == 0;
    case TARGET_NAME:
        return strcmp(target->name, actor->name) == 0;
    }
    return false;
}

static bool is_armed(const struct run *run, size_t index, const struct fault_visit *visit,
                     const struct actor *actor)
{
    const struct scenario_fault *fault = &run->scenario->faults[index];
    const struct fault_common *common = fault->config;
    if ((fault_points(fault->kind, fault->config) & POINT_BIT(visit->point)) == 0)
        return false;
    if (common->times > 0 && run->faults[index].strike_count >= common->times)
        return false;
    if (visit->t_ns < common->after_ns ||
        (common->before_ns > 0 && visit->t_ns >= common->before_ns))
        return false;
    return hits_target(&common->target, actor);
}

static bool strikes(struct fault_state *state, const struct fault_common *common)
{
    state->visit_count++;
    if (common->nth > 0)
        return state->visit_count == common->nth;
    return choice_rare(state->stream, 2, common->probability_per_million) == 1;
}

static void strike(struct fault_host *host)
{
    host->state->strike_count++;
    size_t index = (size_t)(host->state - host->run->faults);
    host->run->result->counts.fired[index]++;
    host->fault->kind->strike(host, host->fault->config, host->visit);
}

bool visit_point(struct rt *rt, enum fault_point point, const char *operation, enum drop_how *how)
{
    struct run *run = rt->run;
    if (!run->faults_on || !rt->actor)
        return false;
    struct fault_visit visit = {
        .point = point,
        .actor = rt->actor->name,
        .role = rt->actor->role->name,
        .fiber = fiber_name(rt->fiber),
        .operation = operation,
        .t_ns = sched_now_ns(run->sched),
    };
    bool drop = false;
    for (size_t i = 0; i < run->scenario->fault_count; i++) {
        if (!is_armed(run, i, &visit, rt->actor))
            continue;
        if (!strikes(&run->faults[i], run->scenario->faults[i].config))
            continue;
        struct fault_host host = {.run = run,
                                  .rt = rt,
                                  .state = &run->faults[i],
                                  .fault = &run->scenario->faults[i],
                                  .visit = &visit};
        strike(&host);
        if (host.drop && how) {
            drop = true;
            *how = host.how;
        }
    }
    return drop;
}

static void begin_fault_event(struct fault_host *host, const char *kind)
{
    struct trace *trace = host->run->trace;
    trace_begin(trace, kind, host->visit->fiber);
    trace_text(trace, "point", fault_point_name(host->visit->point));
    trace_text(trace, "operation", host->visit->operation);
}

/* ---- what a fault may do ---- */

void fault_crash(struct fault_host *host, int64_t restart_after_ns)
{
    begin_fault_event(host, "fault.crash");
    trace_number(host->run->trace, "restart_after_ns", restart_after_ns);
    trace_end(host->run->trace);
    host->run->result->counts.crashes++;
    actor_crash(host->rt->actor, restart_after_ns);
}

void fault_pause(struct fault_host *host, int64_t duration_ns)
{
    struct run *run = host->run;
    begin_fault_event(host, "fault.pause");
    trace_number(run->trace, "duration_ns", duration_ns);
    trace_end(run->trace);
    if (host->rt->sending)
        connection_goes_on_alone(host->rt->sending);
    proc_pause(run->sched, host->rt->proc, sched_now_ns(run->sched) + duration_ns);
    trace_event(run->trace, "fault.resumed", host->visit->fiber, NULL);
}

void fault_drop_connection(struct fault_host *host, enum drop_how how)
{
    static const char *const names[] = {"request_lost", "reply_lost", "idle"};
    begin_fault_event(host, "fault.connection_drop");
    trace_text(host->run->trace, "how", names[how]);
    trace_end(host->run->trace);
    host->drop = true;
    host->how = how;
}

uint32_t fault_draw(struct fault_host *host, uint32_t n)
{
    return choice_below(host->state->stream, n);
}

int64_t fault_draw_duration(struct fault_host *host, struct duration_range range)
{
    return choice_range(host->state->stream, range.low_ns, range.high_ns, DURATION_NOTCH_COUNT);
}
