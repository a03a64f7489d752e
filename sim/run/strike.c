/* Faults meet the seam: at each point every fault of the scenario may strike. */
#include <string.h>

#include "sim/core/duration.h"
#include "sim/run/internal.h"

struct clock_strike {
    struct run *run;
    size_t index; /* of the fault */
    int64_t at_ns;
};

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

static int64_t strikes_at_ns(const struct scenario_fault *fault)
{
    return fault->kind->at_ns ? fault->kind->at_ns(fault->config) : -1;
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
    if (strikes_at_ns(fault) >= 0)
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

/* Counted first, since a crash does not come back. */
static void strike(struct fault_host *host)
{
    int64_t *fired = &host->run->result->counts.fired[host->state - host->run->faults];
    host->state->strike_count++;
    (*fired)++;
    host->fault->kind->strike(host, host->fault->config, host->visit);
    if (!host->missed)
        return;
    host->state->strike_count--;
    (*fired)--;
}

struct struck visit_point(struct rt *rt, enum fault_point point, const char *operation)
{
    struct run *run = rt->run;
    struct struck all = {0};
    if (!run->faults_on || !rt->actor)
        return all;
    struct fault_visit visit = {
        .point = point,
        .actor = rt->actor->name,
        .role = rt->actor->role->name,
        .fiber = fiber_name(rt->fiber),
        .operation = operation,
        .t_ns = sched_now_ns(run->sched),
    };
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
        all.drop |= host.struck.drop;
        all.store |= host.struck.store;
        if (all.cloud == CLOUD_FAULT_NONE)
            all.cloud = host.struck.cloud;
    }
    return all;
}

/* ---- by the clock ---- */

static void clock_strike_body(void *arg)
{
    const struct clock_strike *planned = arg;
    struct run *run = planned->run;
    fiber_sleep_until(run->sched, planned->at_ns, false);
    if (!run->faults_on)
        return;
    struct fault_visit visit = {.point = FAULT_POINT_COUNT,
                                .actor = "harness",
                                .role = "harness",
                                .fiber = "harness",
                                .operation = "clock",
                                .t_ns = sched_now_ns(run->sched)};
    struct fault_host host = {.run = run,
                              .state = &run->faults[planned->index],
                              .fault = &run->scenario->faults[planned->index],
                              .visit = &visit};
    strike(&host);
}

void faults_start_clock(struct run *run)
{
    for (size_t i = 0; i < run->scenario->fault_count; i++) {
        int64_t at_ns = strikes_at_ns(&run->scenario->faults[i]);
        if (at_ns < 0)
            continue;
        struct clock_strike *planned = arena_alloc(proc_arena(run->harness), sizeof *planned);
        *planned = (struct clock_strike){.run = run, .index = i, .at_ns = at_ns};
        fiber_spawn(run->sched, run->harness, "fault", clock_strike_body, planned);
    }
}

/* ---- events ---- */

static const char *point_text(enum fault_point point)
{
    return point < FAULT_POINT_COUNT ? fault_point_name(point) : "clock";
}

static void begin_fault_event(struct fault_host *host, const char *kind)
{
    struct trace *trace = host->run->trace;
    trace_begin(trace, kind, host->visit->fiber);
    trace_text(trace, "point", point_text(host->visit->point));
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

static void report_drop(struct fault_host *host, enum drop_how how)
{
    static const char *const names[] = {"request_lost", "reply_lost", "idle"};
    begin_fault_event(host, "fault.connection_drop");
    trace_text(host->run->trace, "how", names[how]);
    trace_end(host->run->trace);
}

/* At the end of a statement it is that statement's connection. Elsewhere it is one of those that
 * the process has open and does not use just now. */
static void drop_idle(struct fault_host *host)
{
    struct run *run = host->run;
    int count = connections_idle_count(run, host->rt->proc);
    if (count == 0) {
        host->missed = true;
        return;
    }
    int index = (int)fault_draw(host, (uint32_t)count);
    report_drop(host, DROP_IDLE);
    connections_cut_idle(run, host->rt->proc, index);
}

void fault_drop_connection(struct fault_host *host, enum drop_how how)
{
    enum fault_point point = host->visit->point;
    if (how == DROP_IDLE && point != POINT_DB_DONE && point != POINT_DB_COMMITTED) {
        drop_idle(host);
        return;
    }
    report_drop(host, how);
    host->struck.drop = true;
}

void fault_fail_cloud(struct fault_host *host, enum cloud_error error)
{
    static const struct {
        enum cloud_fault fault;
        const char *name;
    } errors[CLOUD_ERROR_COUNT] = {
        [CLOUD_ERROR_THROTTLED] = {CLOUD_FAULT_THROTTLED, "throttled"},
        [CLOUD_ERROR_REQUEST_LOST] = {CLOUD_FAULT_REQUEST_LOST, "request_lost"},
        [CLOUD_ERROR_REPLY_LOST] = {CLOUD_FAULT_REPLY_LOST, "reply_lost"},
        [CLOUD_ERROR_QUOTA] = {CLOUD_FAULT_QUOTA, "quota"},
        [CLOUD_ERROR_CREDENTIALS] = {CLOUD_FAULT_CREDENTIALS, "credentials"},
    };
    FP_ASSERT(host->visit->point == POINT_CLOUD_CALL);
    FP_ASSERT(error < CLOUD_ERROR_COUNT);
    begin_fault_event(host, "fault.cloud_error");
    trace_text(host->run->trace, "kind", errors[error].name);
    trace_end(host->run->trace);
    host->struck.cloud = errors[error].fault;
}

void fault_fail_store(struct fault_host *host)
{
    FP_ASSERT(host->visit->point == POINT_STORE_CALL);
    begin_fault_event(host, "fault.store_error");
    trace_end(host->run->trace);
    host->struck.store = true;
}

void fault_lose_locks(struct fault_host *host, bool one)
{
    struct run *run = host->run;
    int count = lock_rows_count(run);
    if (count == 0) {
        host->missed = true;
        return;
    }
    int index = one ? (int)fault_draw(host, (uint32_t)count) : -1;
    begin_fault_event(host, "fault.lock_state_loss");
    trace_number(run->trace, "rows", one ? 1 : count);
    trace_end(run->trace);
    lock_rows_lose(run, "harness", index);
}

uint32_t fault_draw(struct fault_host *host, uint32_t n)
{
    return choice_below(host->state->stream, n);
}

int64_t fault_draw_duration(struct fault_host *host, struct duration_range range)
{
    return choice_range(host->state->stream, range.low_ns, range.high_ns, DURATION_NOTCH_COUNT);
}
