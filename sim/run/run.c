#include "sim/run/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/walltext.h"
#include "sim/run/healing.h"
#include "sim/run/internal.h"
#include "sim/run/measured.h"
#include "sim/run/servers.h"

/* When a waiter was parked too late the run is repeated with a patient server. */
#define DEADLOCK_TIMEOUT_MS_PATIENT 5000
#define DEADLOCK_TIMEOUT_MS_QUICK 50
#define REPEAT_COUNT_MAX 3
#define SERVER_SEED_COUNT 1000000

const char *run_outcome_name(enum run_outcome outcome)
{
    static const char *const names[RUN_OUTCOME_COUNT] = {"pass", "violation", "unknown", "diverged",
                                                         "infrastructure"};
    FP_ASSERT(outcome < RUN_OUTCOME_COUNT);
    return names[outcome];
}

void run_counts_add(struct run_counts *sum, const struct run_counts *one)
{
    sum->steps += one->steps;
    sum->virtual_ns += one->virtual_ns;
    sum->statements += one->statements;
    sum->contended += one->contended;
    sum->parked += one->parked;
    sum->deadlocks += one->deadlocks;
    sum->ghosts += one->ghosts;
    sum->gates += one->gates;
    sum->crashes += one->crashes;
    sum->control_queries += one->control_queries;
    sum->connects += one->connects;
    sum->repeats += one->repeats;
    if (one->decisions > sum->decisions)
        sum->decisions = one->decisions;
    if (one->fibers > sum->fibers)
        sum->fibers = one->fibers;
    for (size_t i = 0; i < FP_COUNT(sum->fired); i++)
        sum->fired[i] += one->fired[i];
    for (size_t i = 0; i < FP_COUNT(sum->visited); i++)
        sum->visited[i] += one->visited[i];
}

void run_result_init(struct run_result *result)
{
    memset(result, 0, sizeof *result);
}

void run_result_release(struct run_result *result)
{
    strbuf_release(&result->sentence);
}

/* ---- what a lane keeps ---- */

struct run_lane *run_lane_new(struct pg_lane *pg)
{
    struct run_lane *lane = fp_alloc(sizeof *lane);
    struct queue_config queue_config = queue_config_default();
    struct cloud_config cloud_config = cloud_config_default();
    lane->pg = pg;
    lane->choices = choices_new(0);
    lane->trace = trace_new();
    lane->contexts = context_pool_new();
    lane->queue = queue_new(&queue_config);
    lane->cloud = cloud_new(&cloud_config);
    lane->store = store_new();
    lane->service = service_new();
    lane->metrics = metrics_new();
    lane->reached = tally_new();
    lane->measured = tally_new();
    return lane;
}

void run_lane_free(struct run_lane *lane)
{
    if (!lane)
        return;
    tally_free(lane->reached);
    tally_free(lane->measured);
    metrics_free(lane->metrics);
    service_free(lane->service);
    store_free(lane->store);
    cloud_free(lane->cloud);
    queue_free(lane->queue);
    context_pool_free(lane->contexts);
    trace_free(lane->trace);
    choices_free(lane->choices);
    strbuf_release(&lane->installed);
    free(lane);
}

const struct trace *run_lane_trace(const struct run_lane *lane)
{
    return lane->trace;
}

const struct choices *run_lane_choices(const struct run_lane *lane)
{
    return lane->choices;
}

const struct tally *run_lane_reached(const struct run_lane *lane)
{
    return lane->reached;
}

const struct tally *run_lane_measured(const struct run_lane *lane)
{
    return lane->measured;
}

void run_lane_metrics(const struct run_lane *lane, struct strbuf *out)
{
    metrics_write(lane->metrics, out);
}

static bool may_kill_server(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->fault_count; i++)
        if (scenario->faults[i].kind->kills_server)
            return true;
    return false;
}

/* Two scenarios with the same text here need the same database. */
static void describe_schema(const struct scenario *scenario, const struct pg_schema *schema,
                            struct strbuf *out)
{
    strbuf_printf(out, "%s %d %d %d %d", scenario->strategy->name, schema->standby_count,
                  schema->crashes, schema->toxiproxy, schema->pool_size);
    for (size_t i = 0; i < schema->patch_count; i++)
        strbuf_printf(out, " %s", schema->patches[i]);
    for (size_t i = 0; i < schema->gate_count; i++)
        strbuf_printf(out, " gate %s", schema->gates[i]);
}

enum err run_lane_install(struct run_lane *lane, const struct scenario *scenario,
                          struct strbuf *why)
{
    const struct strategy *strategy = scenario->strategy;
    lane->measured_for = NULL;
    const char *patches[STRATEGY_WEAKNESS_COUNT_MAX];
    size_t patch_count = 0;
    for (size_t i = 0; i < strategy->weakness_count; i++)
        if ((scenario->weaknesses >> i & 1) && strategy->weaknesses[i].schema_sql)
            patches[patch_count++] = strategy->weaknesses[i].schema_sql;
    struct pg_schema schema = {
        .schema_sql = strategy->schema_sql,
        .patches = patches,
        .patch_count = patch_count,
        .watched = strategy->watched,
        .watched_count = strategy->watched_count,
        .gates = (const char *const *)scenario->gates,
        .gate_count = scenario->gate_count,
        .standby_count = scenario->standby_count,
        .crashes = may_kill_server(scenario),
        .toxiproxy = scenario_uses_toxiproxy(scenario),
        .pool_size = scenario->pool_size,
    };
    struct strbuf wanted = STRBUF_INIT;
    describe_schema(scenario, &schema, &wanted);
    enum err err = ERR_OK;
    if (strcmp(strbuf_str(&wanted), strbuf_str(&lane->installed)) != 0) {
        strbuf_clear(&lane->installed);
        err = pg_lane_install(lane->pg, &schema, why);
        if (err == ERR_OK)
            strbuf_puts(&lane->installed, strbuf_str(&wanted));
    }
    strbuf_release(&wanted);
    return err;
}

/* ---- actors ---- */

void run_trouble(struct run *run, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (run->result->outcome != RUN_INFRASTRUCTURE) {
        run->result->outcome = RUN_INFRASTRUCTURE;
        strbuf_clear(&run->result->sentence);
        strbuf_puts(&run->result->sentence, text);
    }
    sched_stop(run->sched);
}

struct rt *rt_new(struct run *run, struct actor *actor, struct proc *proc)
{
    struct rt *rt = arena_alloc(proc_arena(proc), sizeof *rt);
    rt->run = run;
    rt->actor = actor;
    rt->proc = proc;
    rt->next_receiver = run->receivers;
    run->receivers = rt;
    return rt;
}

/* The process is about to lose its memory: nobody may look for its fibers there any more. */
static void forget_receivers(struct run *run, const struct proc *proc)
{
    for (struct rt **at = &run->receivers; *at;)
        if ((*at)->proc == proc)
            *at = (*at)->next_receiver;
        else
            at = &(*at)->next_receiver;
}

static void actor_body(void *arg)
{
    struct rt *rt = arg;
    rt->actor->role->body(rt);
}

void actor_start(struct actor *actor)
{
    struct run *run = actor->run;
    FP_ASSERT(!actor->proc);
    actor->life_count++;
    if (actor->life_count == 1)
        snprintf(actor->instance, sizeof actor->instance, "%s", actor->name);
    else
        snprintf(actor->instance, sizeof actor->instance, "%s.%d", actor->name, actor->life_count);
    actor->proc = proc_new(run->sched, actor->instance);
    struct rt *rt = rt_new(run, actor, actor->proc);
    rt->fiber = fiber_spawn(run->sched, actor->proc, NULL, actor_body, rt);
    trace_event(run->trace, "actor.started", actor->instance, NULL);
}

static void restart_body(void *arg)
{
    struct actor *actor = arg;
    actor->restarter = NULL;
    actor_start(actor);
}

static void restart_later_body(void *arg)
{
    struct actor *actor = arg;
    struct run *run = actor->run;
    int64_t due_ns = *(int64_t *)fiber_data(sched_current(run->sched));
    fiber_block_until(run->sched, "restarting", due_ns, false);
    restart_body(actor);
}

void actor_crash(struct actor *actor, int64_t restart_after_ns)
{
    struct run *run = actor->run;
    struct proc *proc = actor->proc;
    FP_ASSERT(proc);
    actor->proc = NULL;
    forget_receivers(run, proc);
    connections_of_dead(run, proc);
    requests_of_dead(run, proc);
    if (restart_after_ns >= 0) {
        int64_t *due_ns = arena_alloc(proc_arena(run->harness), sizeof *due_ns);
        *due_ns = sched_now_ns(run->sched) + restart_after_ns;
        actor->restarter =
            fiber_spawn(run->sched, run->harness, "restart", restart_later_body, actor);
        fiber_set_data(actor->restarter, due_ns);
    }
    proc_crash(run->sched, proc);
}

static void start_actors(struct run *run)
{
    const struct strategy *strategy = run->scenario->strategy;
    for (size_t r = 0; r < strategy->role_count; r++) {
        const struct role *role = &strategy->roles[r];
        for (int n = 1; n <= run->scenario->role_counts[r]; n++) {
            FP_ASSERT(run->actor_count < RUN_ACTOR_COUNT_MAX);
            struct actor *actor = &run->actors[run->actor_count++];
            actor->run = run;
            actor->role = role;
            if (role->topology)
                snprintf(actor->name, sizeof actor->name, "%s-%d", role->name, n);
            else
                snprintf(actor->name, sizeof actor->name, "%s", role->name);
            actor_start(actor);
        }
    }
}

/* Everything that was broken works again; what was killed for good comes back too. */
static void heal(struct run *run)
{
    run->faults_on = false;
    healing_end_all(run);
    sched_set_slowness(run->sched, 0);
    proc_resume_all(run->sched);
    for (int i = 0; i < run->actor_count; i++) {
        struct actor *actor = &run->actors[i];
        if (actor->proc)
            continue;
        if (!actor->restarter)
            actor->restarter =
                fiber_spawn(run->sched, run->harness, "restart", restart_body, actor);
        else if (fiber_is_blocked(actor->restarter))
            fiber_wake(run->sched, actor->restarter);
    }
    trace_event(run->trace, "healed", "harness", NULL);
}

/* ---- steps ---- */

static void on_event(void *self, const struct event *event)
{
    const struct run *run = self;
    tally_event(run->lane->reached, run->scenario->strategy, event);
}

static void on_step_begin(void *self, int64_t step, int64_t t_ns)
{
    struct run *run = self;
    trace_set_now(run->trace, step, t_ns);
}

static bool on_step_end(void *self)
{
    struct run *run = self;
    if (run->result->outcome == RUN_INFRASTRUCTURE)
        return false;
    if (pg_lane_settle(run->lane->pg) != ERR_OK) {
        run_trouble(run, "%s", pg_lane_trouble(run->lane->pg));
        return false;
    }
    connections_wake(run);
    if (pg_lane_spoilt(run->lane->pg) || trace_diverged(run->trace)->found)
        return false;
    return !checks_first(run->checks, VERDICT_FAIL, NULL);
}

static bool on_decided(void *self, const struct sched_decision *decision)
{
    struct run *run = self;
    uint64_t state = sched_hash(run->sched) + history_hash(run->history);
    run->result->cut = !run->watch->decided(run->watch->self, decision, state);
    return !run->result->cut;
}

static bool on_all_idle(void *self)
{
    return !run_is_at_rest(self);
}

/* ---- the phases ---- */

static void setup_body(void *arg)
{
    struct rt *rt = arg;
    rt->run->scenario->strategy->setup(rt);
}

static void set_up(struct run *run)
{
    struct proc *proc = proc_new(run->sched, "setup");
    struct rt *rt = rt_new(run, NULL, proc);
    run->setting_up = true;
    cloud_set_instant(run->lane->cloud, true);
    rt->fiber = fiber_spawn(run->sched, proc, NULL, setup_body, rt);
    enum sched_end end = sched_run(run->sched, INT64_MAX, run->scenario->step_count_max);
    run->setting_up = false;
    cloud_set_instant(run->lane->cloud, false);
    forget_receivers(run, proc);
    if (end == SCHED_STEPS_OUT)
        run_trouble(run, "the strategy's setup does not end");
}

static bool is_over(const struct run *run)
{
    return run->result->cut || run->result->outcome != RUN_PASS || pg_lane_spoilt(run->lane->pg) ||
           trace_diverged(run->trace)->found || checks_first(run->checks, VERDICT_FAIL, NULL);
}

static const char *sched_end_text(enum sched_end end)
{
    switch (end) {
    case SCHED_TIME_OUT:
        return "did not come to rest within the settle time";
    case SCHED_STEPS_OUT:
        return "did not come to rest within the step limit";
    case SCHED_DEAD:
        return "waits for ever";
    case SCHED_STOPPED:
        break;
    }
    return "was stopped";
}

/* What is there of one resource, and for whom each part was made. */
static void report_resource(struct run *run, const struct cloud_resource *resource)
{
    strbuf_clear(&run->scratch);
    strbuf_printf(&run->scratch, "%s.%s.%s", resource->name, resource->platform,
                  resource->base_domain);
    trace_begin(run->trace, "world.resource", "cloud");
    trace_text(run->trace, "resource", strbuf_str(&run->scratch));
    for (int part = 0; part < CLOUD_PART_COUNT; part++)
        if (resource->parts[part].present)
            trace_text(run->trace, cloud_part_name(part), resource->parts[part].by.cluster_id);
    trace_end(run->trace);
}

/* What is in the cloud at the end, whoever made it and whenever: what the setup made has no events
 * of its own. */
static void report_world(struct run *run)
{
    const struct cloud *cloud = run->lane->cloud;
    for (int i = 0; i < cloud_resource_count(cloud); i++)
        if (cloud_present_count(cloud_resource(cloud, i)) > 0)
            report_resource(run, cloud_resource(cloud, i));
}

static void report_advisory_lock(void *self, const char *const *cells, int column_count)
{
    struct run *run = self;
    FP_ASSERT(column_count == 1);
    trace_event(run->trace, "world.advisory_lock", "database", "key", cells[0], NULL);
}

/* Advisory locks that a session still holds. The keys of the harness's own gates are left out. */
static void report_advisory_locks(struct run *run)
{
    if (!run->scenario->strategy->advisory_locks)
        return;
    enum err err = pg_lane_query(
        run->lane->pg,
        "SELECT CASE objsubid WHEN 1 THEN ((classid::bigint << 32) | objid::bigint)::text "
        "ELSE classid::text || '/' || objid::text END "
        "FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE locktype = 'advisory' AND granted AND datname = current_database() "
        "AND NOT (objsubid = 2 AND classid = 1717923696) ORDER BY objsubid, classid, objid, mode",
        report_advisory_lock, run);
    if (err != ERR_OK)
        run_trouble(run, "%s", pg_lane_trouble(run->lane->pg));
}

/* The last word of the invariants. Without rest it is for those that judge by what stays undone, so
 * it is only asked when the system had all the time that the scenario gives it. */
static void end_checks(struct run *run, bool at_rest)
{
    struct check_end end = {
        .last = {.step = sched_step(run->sched), .t_ns = sched_now_ns(run->sched)},
        .at_rest = at_rest};
    report_world(run);
    report_advisory_locks(run);
    trace_event(run->trace, at_rest ? "rest" : "unsettled", "harness", NULL);
    checks_end(run->checks, &end);
}

static void give_up(struct run *run, enum sched_end end)
{
    struct strbuf pending = STRBUF_INIT;
    describe_pending(run, &pending);
    run->unsettled = sched_end_text(end);
    run->result->outcome = RUN_UNKNOWN;
    run->result->step = sched_step(run->sched);
    strbuf_printf(&run->result->sentence, "%s; pending: %s", run->unsettled, strbuf_str(&pending));
    strbuf_release(&pending);
}

static void play(struct run *run)
{
    const struct scenario *scenario = run->scenario;
    set_up(run);
    if (is_over(run))
        return;
    start_actors(run);
    run->faults_on = true;
    faults_start_clock(run);
    sched_set_slowness(run->sched, scenario->slowness_per_million);
    sched_run(run->sched, scenario->chaos_ns, scenario->step_count_max);
    if (is_over(run))
        return;
    heal(run);
    enum sched_end end =
        sched_run(run->sched, scenario->chaos_ns + scenario->settle_ns, scenario->step_count_max);
    if (is_over(run))
        return;
    if (end != SCHED_STOPPED)
        give_up(run, end);
    if (end != SCHED_STEPS_OUT)
        end_checks(run, end == SCHED_STOPPED);
}

/* ---- one run ---- */

static void take_counts(struct run *run)
{
    const struct pg_lane_counts *pg = pg_lane_counts(run->lane->pg);
    struct run_counts *counts = &run->result->counts;
    counts->steps = sched_step(run->sched);
    counts->virtual_ns = sched_now_ns(run->sched);
    counts->decisions = sched_decision_count(run->sched);
    counts->fibers = sched_fiber_count_most(run->sched);
    counts->statements = pg->statements;
    counts->parked = pg->parked;
    counts->deadlocks = pg->deadlocks;
    counts->gates = pg->gates;
    counts->control_queries = pg->control_queries;
    counts->connects = pg->connects;
}

static void put_finding(struct run *run, const struct finding *finding)
{
    struct run_result *result = run->result;
    result->step = finding->step;
    snprintf(result->kind, sizeof result->kind, "%s", finding->kind);
    strbuf_clear(&result->sentence);
    strbuf_puts(&result->sentence, finding->sentence);
    if (run->unsettled)
        strbuf_printf(&result->sentence, "; the run %s", run->unsettled);
}

static void conclude(struct run *run)
{
    struct run_result *result = run->result;
    take_counts(run);
    result->hash = trace_hash(run->trace);
    trace_expect_end(run->trace);
    const struct trace_difference *difference = trace_diverged(run->trace);
    if (result->outcome == RUN_INFRASTRUCTURE)
        return;
    if (difference->found) {
        result->outcome = RUN_DIVERGED;
        result->step = difference->step;
        strbuf_clear(&result->sentence);
        strbuf_printf(&result->sentence, "recorded: %s\nhappened: %s",
                      difference->recorded ? difference->recorded : "(nothing more)",
                      difference->happened ? difference->happened : "(nothing more)");
        return;
    }
    const struct finding *failure = checks_first(run->checks, VERDICT_FAIL, &result->invariant);
    const struct finding *unknown = checks_first(run->checks, VERDICT_UNKNOWN, NULL);
    if (!failure && (!unknown || result->outcome != RUN_PASS))
        return;
    put_finding(run, failure ? failure : unknown);
    result->outcome = failure ? RUN_VIOLATION : RUN_UNKNOWN;
}

static void feed_back(struct choices *choices, const struct run_replay *replay)
{
    for (size_t i = 0; i < replay->stream_count; i++)
        choices_replay(choices, replay->streams[i].name, replay->streams[i].values,
                       replay->streams[i].value_count);
    if (replay->zero_others)
        choices_zero_others(choices);
}

/* Of a scenario that is written out: nothing is left to the seed. */
static void feed_given(struct choices *choices, const struct scenario *scenario)
{
    if (!scenario->is_explicit)
        return;
    for (size_t i = 0; i < scenario->stream_count; i++)
        choices_replay(choices, scenario->streams[i].name, scenario->streams[i].values,
                       scenario->streams[i].value_count);
    choices_zero_others(choices);
}

static void prepare(struct run *run, const struct run_replay *replay)
{
    struct run_lane *lane = run->lane;
    struct queue_config queue_config = queue_config_default();
    struct cloud_config cloud_config = cloud_config_default();
    trace_reset(lane->trace);
    queue_reset(lane->queue, &queue_config);
    cloud_reset(lane->cloud, &cloud_config);
    store_reset(lane->store);
    service_reset(lane->service);
    if (replay && replay->lines)
        trace_expect(lane->trace, replay->lines);
    struct sched_hooks hooks = {
        .self = run, .step_begin = on_step_begin, .step_end = on_step_end, .all_idle = on_all_idle};
    if (replay && replay->watch) {
        run->watch = replay->watch;
        run->history = fp_alloc(sizeof *run->history);
        hooks.decided = on_decided;
        run->watch->begun(run->watch->self);
    }
    run->sched = sched_new(lane->contexts, lane->choices, &hooks);
    if (run->scenario->pct_depth > 0)
        sched_set_pct(run->sched, lane->choices, (uint32_t)run->scenario->pct_depth,
                      lane->decision_count);
    run->trace = lane->trace;
    run->workload_stream = choices_stream(lane->choices, "workload");
    run->world_stream = choices_stream(lane->choices, "world");
    seam_queue_begin(run);
    seam_cloud_begin(run);
    seam_service_begin(run);
    seam_monitor_begin(run);
    faults_begin(run);
    struct check_setup setup = {.strategy = run->scenario->strategy,
                                .db_epoch_ns = VIRTUAL_EPOCH_NS};
    run->checks = checks_new(run->scenario->invariants, run->scenario->invariant_count, &setup);
    trace_observe(lane->trace, checks_event, run->checks);
    tally_clear(lane->reached);
    tally_clear(lane->measured);
    trace_observe(lane->trace, on_event, run);
    if (run->history)
        trace_observe(lane->trace, history_event, run->history);
    run->harness = proc_new(run->sched, "harness");
    run->servers = servers_new();
}

static void run_attempt(struct run_lane *lane, const struct scenario *scenario, uint64_t seed,
                        const struct run_replay *replay, struct run_result *result)
{
    struct run run = {.lane = lane, .scenario = scenario, .result = result};
    /* The runs of a sweep are all of one schedule; the seed says where the fault strikes. */
    choices_reset(lane->choices, scenario->sweeps ? 0 : seed);
    feed_given(lane->choices, scenario);
    if (replay)
        feed_back(lane->choices, replay);
    /* What random() and gen_random_uuid() give in the server is a choice as any other: recorded, it
     * makes the same run again whatever the seed. */
    uint32_t server_seed = choice_below(choices_stream(lane->choices, "server"), SERVER_SEED_COUNT);
    if (pg_lane_slate(lane->pg, server_seed, &result->sentence) != ERR_OK) {
        result->outcome = RUN_INFRASTRUCTURE;
        return;
    }
    prepare(&run, replay);
    play(&run);
    conclude(&run);
    tally_kinds(lane->reached, lane->trace);
    measured_take(scenario->strategy, lane->metrics, lane->service, lane->measured);
    seam_service_end(&run);
    seam_cloud_end(&run);
    seam_queue_end(&run);
    sched_free(run.sched);
    connections_free(&run);
    servers_free(run.servers);
    checks_free(run.checks);
    strbuf_release(&run.scratch);
    free(run.history);
}

/* How many decisions the changes of priority are to be spread over: as many as a run had in which
 * all of them were drawn. By the scenario alone, so that it is the same for whoever runs a seed. */
static void measure_decisions(struct run_lane *lane, const struct scenario *scenario)
{
    struct scenario drawn = *scenario;
    struct run_result result;
    if (lane->measured_for == scenario)
        return;
    drawn.pct_depth = 0;
    run_result_init(&result);
    run_one(lane, &drawn, 0, NULL, &result);
    lane->decision_count = (uint32_t)result.counts.decisions;
    lane->measured_for = scenario;
    run_result_release(&result);
}

void run_one(struct run_lane *lane, const struct scenario *scenario, uint64_t seed,
             const struct run_replay *replay, struct run_result *result)
{
    /* Decisions that are fed back are not made by priority. */
    if (scenario->pct_depth > 0 && (replay == NULL || replay->stream_count == 0))
        measure_decisions(lane, scenario);
    for (int repeat = 0; repeat <= REPEAT_COUNT_MAX; repeat++) {
        run_result_release(result);
        run_result_init(result);
        result->seed = seed;
        run_attempt(lane, scenario, seed, replay, result);
        result->counts.repeats = repeat;
        if (!pg_lane_spoilt(lane->pg)) {
            if (repeat > 0)
                pg_lane_set_deadlock_timeout(lane->pg, DEADLOCK_TIMEOUT_MS_QUICK);
            return;
        }
        strbuf_clear(&result->sentence);
        strbuf_puts(&result->sentence, pg_lane_trouble(lane->pg));
        pg_lane_set_deadlock_timeout(lane->pg, DEADLOCK_TIMEOUT_MS_PATIENT);
    }
    result->outcome = RUN_INFRASTRUCTURE;
}
