/* Clocks that are wrong: those of the actors' machines, and the database's. */
#include "sim/core/walltext.h"
#include "sim/run/healing.h"
#include "sim/run/internal.h"

struct wrong_clock {
    struct machine_clock *clock;
    bool of_database;
    int64_t by_ns;   /* of a step */
    int64_t mono_ns; /* of a drift: how far ahead it was when that began */
};

int64_t db_now_ns(const struct run *run)
{
    return VIRTUAL_EPOCH_NS + clock_wall_ns(&run->db_clock, sched_now_ns(run->sched));
}

/* The invariants judge by the database's clock, so they must know it. */
static void report_db_clock(struct run *run)
{
    const struct machine_clock *clock = &run->db_clock;
    trace_begin(run->trace, "db.clock", "harness");
    trace_number(run->trace, "ahead_ns",
                 clock_wall_ns(clock, sched_now_ns(run->sched)) - sched_now_ns(run->sched));
    trace_number(run->trace, "rate_ppm", clock->rate_ppm);
    trace_end(run->trace);
}

static struct wrong_clock *wrong_clock_of(struct fault_host *host)
{
    struct wrong_clock *wrong = arena_alloc(proc_arena(host->run->harness), sizeof *wrong);
    const struct fault_common *common = host->fault->config;
    wrong->of_database = common->target.kind == TARGET_DATABASE;
    wrong->clock = wrong->of_database ? &host->run->db_clock : &host->actor->clock;
    return wrong;
}

static const char *target_of(const struct fault_host *host, const struct wrong_clock *wrong)
{
    return wrong->of_database ? "database" : host->actor->name;
}

static void begin_event(struct fault_host *host, const struct wrong_clock *wrong)
{
    strbuf_clear(&host->run->scratch);
    strbuf_printf(&host->run->scratch, "fault.%s", host->fault->kind->name);
    fault_event_begin(host, strbuf_str(&host->run->scratch));
    trace_text(host->run->trace, "target", target_of(host, wrong));
}

static void undo_step(struct run *run, void *data)
{
    struct wrong_clock *wrong = data;
    clock_step(wrong->clock, -wrong->by_ns);
    if (wrong->of_database)
        report_db_clock(run);
}

void fault_step_clock(struct fault_host *host, int64_t by_ns)
{
    struct wrong_clock *wrong = wrong_clock_of(host);
    begin_event(host, wrong);
    trace_number(host->run->trace, "by_ns", by_ns);
    trace_end(host->run->trace);
    wrong->by_ns = by_ns;
    clock_step(wrong->clock, by_ns);
    if (wrong->of_database)
        report_db_clock(host->run);
    fault_lasts(host, target_of(host, wrong), undo_step, wrong);
}

/* The date is set right again; the time that has passed on its monotonic clock has passed. */
static void undo_drift(struct run *run, void *data)
{
    struct wrong_clock *wrong = data;
    clock_set_rate(wrong->clock, sched_now_ns(run->sched), 0);
    clock_step(wrong->clock, wrong->mono_ns - wrong->clock->mono_ahead_ns);
    if (wrong->of_database)
        report_db_clock(run);
}

void fault_drift_clock(struct fault_host *host, int64_t rate_ppm)
{
    struct run *run = host->run;
    struct wrong_clock *wrong = wrong_clock_of(host);
    if (wrong->clock->rate_ppm != 0) {
        host->missed = true; /* it drifts already */
        return;
    }
    begin_event(host, wrong);
    trace_number(run->trace, "rate_ppm", rate_ppm);
    trace_end(run->trace);
    wrong->mono_ns = wrong->clock->mono_ahead_ns;
    clock_set_rate(wrong->clock, sched_now_ns(run->sched), rate_ppm);
    if (wrong->of_database)
        report_db_clock(run);
    fault_lasts(host, target_of(host, wrong), undo_drift, wrong);
}
