/* Faults meet the seam: at each point every fault of the scenario may strike. */
#include <string.h>

#include "sim/core/duration.h"
#include "sim/run/healing.h"
#include "sim/run/internal.h"

struct clock_strike {
    struct run *run;
    size_t index; /* of the fault */
};

/* Durations are drawn in so many notches: fine enough to hit any window, coarse enough to shrink.
 */
#define DURATION_NOTCH_COUNT 64

static const struct fault_common *common_of(const struct run *run, size_t index)
{
    return run->scenario->faults[index].config;
}

/* Seed 0 is the run in which it does not strike. */
static int64_t sweep_visit(uint64_t seed)
{
    return seed == 0 || seed > INT64_MAX ? INT64_MAX : (int64_t)seed;
}

/* From a stream of its own: what is on strikes as it would without the others. */
static void draw_swarm(struct run *run)
{
    struct choice_stream *stream = choices_stream(run->lane->choices, "swarm");
    for (size_t i = 0; i < run->scenario->fault_count; i++)
        run->faults[i].off = choice_below(stream, 2) == 0;
}

void faults_begin(struct run *run)
{
    const struct scenario *scenario = run->scenario;
    for (size_t i = 0; i < scenario->fault_count; i++) {
        memset(&run->faults[i], 0, sizeof run->faults[i]);
        run->faults[i].stream = choices_stream(run->lane->choices, scenario->faults[i].stream_name);
        run->faults[i].nth = common_of(run, i)->nth;
    }
    if (scenario->sweeps)
        run->faults[scenario->sweep_index].nth = sweep_visit(run->result->seed);
    if (scenario->swarm)
        draw_swarm(run);
}

bool fault_targets(const struct fault_target *target, const struct actor *actor)
{
    switch (target->kind) {
    case TARGET_ANY:
    case TARGET_DATABASE: /* whoever comes by only says when */
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
    if (run->faults[index].off || common->at_ns >= 0 || sched_step(run->sched) < common->step)
        return false;
    if (common->times > 0 && run->faults[index].strike_count >= common->times)
        return false;
    if (visit->t_ns < common->after_ns ||
        (common->before_ns > 0 && visit->t_ns >= common->before_ns))
        return false;
    return fault_targets(&common->target, actor) && fault_wants(common, visit);
}

static bool strikes(struct run *run, size_t index)
{
    struct fault_state *state = &run->faults[index];
    const struct fault_common *common = common_of(run, index);
    state->visit_count++;
    run->result->counts.visited[index]++;
    if (state->nth > 0)
        return state->visit_count == state->nth;
    if (common->step > 0)
        return true;
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

static struct struck visit_with(struct rt *rt, struct rt_db *db, struct fault_visit *visit)
{
    struct run *run = rt->run;
    struct struck all = {0};
    if (!run->faults_on || !rt->actor)
        return all;
    visit->actor = rt->actor->name;
    visit->role = rt->actor->role->name;
    visit->fiber = fiber_name(rt->fiber);
    visit->t_ns = sched_now_ns(run->sched);
    for (size_t i = 0; i < run->scenario->fault_count; i++) {
        if (!is_armed(run, i, visit, rt->actor) || !strikes(run, i))
            continue;
        struct fault_host host = {.run = run,
                                  .rt = rt,
                                  .actor = rt->actor,
                                  .db = db,
                                  .state = &run->faults[i],
                                  .fault = &run->scenario->faults[i],
                                  .visit = visit};
        strike(&host);
        if (host.struck.drop && !all.drop)
            all.via = host.struck.via;
        all.drop |= host.struck.drop;
        all.store |= host.struck.store;
        if (host.struck.queue) {
            all.queue = true;
            all.queue_error = host.struck.queue_error;
            all.queue_delay_ns = host.struck.queue_delay_ns;
        }
        if (all.cloud == CLOUD_FAULT_NONE)
            all.cloud = host.struck.cloud;
        if (all.service == SERVICE_FAULT_NONE)
            all.service = host.struck.service;
    }
    return all;
}

struct struck visit_point(struct rt *rt, enum fault_point point, const char *operation)
{
    struct fault_visit visit = {.point = point, .operation = operation};
    return visit_with(rt, NULL, &visit);
}

struct struck visit_statement(struct rt *rt, struct rt_db *db, enum fault_point point)
{
    struct fault_visit visit = {.point = point,
                                .operation = db->sql->name,
                                .transaction = db->transaction_size > 0 ? db->transaction : NULL,
                                .transaction_size = db->transaction_size};
    return visit_with(rt, db, &visit);
}

/* ---- by the clock ---- */

static bool acts_on_actor(const struct scenario_fault *fault)
{
    const struct fault_common *common = fault->config;
    return !fault->kind->of_environment && common->target.kind != TARGET_DATABASE;
}

/* One of the targets that are alive just now; NULL: there is none. */
static struct actor *draw_target(struct fault_host *host)
{
    struct run *run = host->run;
    const struct fault_common *common = host->fault->config;
    struct actor *able[RUN_ACTOR_COUNT_MAX];
    uint32_t count = 0;
    for (int i = 0; i < run->actor_count; i++)
        if (run->actors[i].proc && fault_targets(&common->target, &run->actors[i]))
            able[count++] = &run->actors[i];
    return count > 0 ? able[fault_draw(host, count)] : NULL;
}

static void clock_strike_body(void *arg)
{
    const struct clock_strike *planned = arg;
    struct run *run = planned->run;
    fiber_sleep_until(run->sched, common_of(run, planned->index)->at_ns, false);
    if (!run->faults_on)
        return;
    struct fault_visit visit = {.point = POINT_CLOCK,
                                .actor = "harness",
                                .role = "harness",
                                .fiber = "harness",
                                .operation = "clock",
                                .t_ns = sched_now_ns(run->sched)};
    struct fault_host host = {.run = run,
                              .state = &run->faults[planned->index],
                              .fault = &run->scenario->faults[planned->index],
                              .visit = &visit};
    run->result->counts.visited[planned->index]++;
    if (acts_on_actor(host.fault)) {
        host.actor = draw_target(&host);
        if (!host.actor)
            return;
        visit.actor = host.actor->name;
        visit.role = host.actor->role->name;
        visit.fiber = host.actor->instance;
    }
    strike(&host);
}

static void report_swarm(struct run *run)
{
    strbuf_clear(&run->scratch);
    for (size_t i = 0; i < run->scenario->fault_count; i++)
        if (!run->faults[i].off)
            strbuf_printf(&run->scratch, "%s%zu %s", run->scratch.size > 0 ? ", " : "", i,
                          run->scenario->faults[i].kind->name);
    trace_event(run->trace, "swarm", "harness", "faults", strbuf_str(&run->scratch), NULL);
}

void faults_start_clock(struct run *run)
{
    if (run->scenario->swarm)
        report_swarm(run);
    for (size_t i = 0; i < run->scenario->fault_count; i++) {
        if (common_of(run, i)->at_ns < 0 || run->faults[i].off)
            continue;
        struct clock_strike *planned = arena_alloc(proc_arena(run->harness), sizeof *planned);
        *planned = (struct clock_strike){.run = run, .index = i};
        fiber_spawn(run->sched, run->harness, "fault", clock_strike_body, planned);
    }
}

/* ---- events ---- */

void fault_event_begin(struct fault_host *host, const char *kind)
{
    struct trace *trace = host->run->trace;
    trace_begin(trace, kind, host->visit->fiber);
    trace_text(trace, "point", fault_point_name(host->visit->point));
    trace_text(trace, "operation", host->visit->operation);
}

/* ---- what a fault may do ---- */

void fault_crash(struct fault_host *host, int64_t restart_after_ns)
{
    fault_event_begin(host, "fault.crash");
    trace_number(host->run->trace, "restart_after_ns", restart_after_ns);
    trace_end(host->run->trace);
    host->run->result->counts.crashes++;
    actor_crash(host->actor, restart_after_ns);
}

static void say_resumed(struct run *run, void *data)
{
    trace_event(run->trace, "fault.resumed", data, NULL);
}

/* A process that others stop has nothing on its way that would have to go on alone. */
static void pause_other(struct fault_host *host, int64_t duration_ns)
{
    struct run *run = host->run;
    proc_pause(run->sched, host->actor->proc, sched_now_ns(run->sched) + duration_ns);
    healing_begin(run, "pause", host->actor->instance, duration_ns, say_resumed,
                  host->actor->instance);
}

void fault_pause(struct fault_host *host, int64_t duration_ns)
{
    struct run *run = host->run;
    fault_event_begin(host, "fault.pause");
    trace_number(run->trace, "duration_ns", duration_ns);
    trace_end(run->trace);
    if (!host->rt) {
        pause_other(host, duration_ns);
        return;
    }
    if (host->rt->sending)
        connection_goes_on_alone(host->rt->sending);
    proc_pause(run->sched, host->rt->proc, sched_now_ns(run->sched) + duration_ns);
    trace_event(run->trace, "fault.resumed", host->visit->fiber, NULL);
}

static void report_drop(struct fault_host *host, enum drop_how how)
{
    static const char *const names[] = {"request_lost", "reply_lost", "idle"};
    fault_event_begin(host, "fault.connection_drop");
    trace_text(host->run->trace, "how", names[how]);
    trace_end(host->run->trace);
}

/* At the end of a statement it is that statement's connection. Elsewhere it is one of those that
 * the process has open and does not use just now; by the clock, one of those too that wait. */
static void drop_any(struct fault_host *host, enum fault_via via)
{
    struct run *run = host->run;
    bool waiting = host->visit->point == POINT_CLOCK;
    int count = connections_count(run, host->actor->proc, waiting);
    if (count == 0) {
        host->missed = true;
        return;
    }
    int index = (int)fault_draw(host, (uint32_t)count);
    struct rt_db *db = connections_nth(run, host->actor->proc, waiting, index);
    report_drop(host, db->in_flight ? DROP_REPLY_LOST : DROP_IDLE);
    connection_cut(db, via);
}

void fault_drop_connection(struct fault_host *host, enum drop_how how, enum fault_via via)
{
    enum fault_point point = host->visit->point;
    if (how == DROP_IDLE && point != POINT_DB_DONE && point != POINT_DB_COMMITTED) {
        drop_any(host, via);
        return;
    }
    report_drop(host, how);
    host->struck.drop = true;
    host->struck.via = via;
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
        [CLOUD_ERROR_HALF_DONE] = {CLOUD_FAULT_HALF_DONE, "half_done"},
    };
    FP_ASSERT(host->visit->point == POINT_CLOUD_CALL);
    FP_ASSERT(error < CLOUD_ERROR_COUNT && error != CLOUD_ERROR_ANY);
    if (error == CLOUD_ERROR_HALF_DONE &&
        strcmp(host->visit->operation, cloud_op_name(RT_CLOUD_LOOK)) == 0) {
        host->missed = true;
        return;
    }
    fault_event_begin(host, "fault.cloud_error");
    trace_text(host->run->trace, "kind", errors[error].name);
    trace_end(host->run->trace);
    host->struck.cloud = errors[error].fault;
}

void fault_fail_store(struct fault_host *host)
{
    FP_ASSERT(host->visit->point == POINT_STORE_CALL);
    fault_event_begin(host, "fault.store_error");
    trace_end(host->run->trace);
    host->struck.store = true;
}

void fault_fail_service(struct fault_host *host, enum service_error error)
{
    static const struct {
        enum service_fault fault;
        const char *name;
    } errors[SERVICE_ERROR_COUNT] = {
        [SERVICE_ERROR_THROTTLED] = {SERVICE_FAULT_THROTTLED, "throttled"},
        [SERVICE_ERROR_REQUEST_LOST] = {SERVICE_FAULT_REQUEST_LOST, "request_lost"},
        [SERVICE_ERROR_REPLY_LOST] = {SERVICE_FAULT_REPLY_LOST, "reply_lost"},
        [SERVICE_ERROR_REJECTED] = {SERVICE_FAULT_REJECTED, "rejected"},
    };
    FP_ASSERT(host->visit->point == POINT_SERVICE_CALL);
    FP_ASSERT(error < SERVICE_ERROR_ANY);
    fault_event_begin(host, "fault.service_error");
    trace_text(host->run->trace, "kind", errors[error].name);
    trace_end(host->run->trace);
    host->struck.service = errors[error].fault;
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
    fault_event_begin(host, "fault.lock_state_loss");
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
