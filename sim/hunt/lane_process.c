#include "sim/hunt/lane_process.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sim/core/realtime.h"
#include "sim/hunt/cpu.h"
#include "sim/hunt/failure.h"
#include "sim/hunt/record.h"

/* Seeds are handed out in units: changing the scenario costs a new schema, so not one at a time;
 * not too many either, so that the lanes end together. */
#define UNIT_SEED_COUNT 25
/* When there is little time for many, those that should hold come round sooner. */
#define OVERVIEW_UNIT_SEED_COUNT 3

struct lane {
    const struct campaign_options *options;
    const struct scenario *const *scenarios;
    size_t scenario_count;
    struct lane_shared *shared;
    int socket;
    pid_t parent;
    struct pg_server *server;
    struct pg_lane *pg;
    struct run_lane *runs;
    size_t installed;                 /* scenario_count: none */
    struct tally *reached, *measured; /* by the seeds of the installed scenario, not told yet */
    bool failed;
};

uint64_t campaign_seed_count(const struct campaign_options *options,
                             const struct scenario *scenario)
{
    return scenario->is_explicit ? 1 : options->seed_count;
}

enum failure_kind failure_kind_of(const struct scenario *scenario, enum run_outcome outcome,
                                  const struct invariant *invariant)
{
    if (outcome != RUN_VIOLATION)
        return FAILURE_UNKNOWN;
    return scenario_expects(scenario, invariant) ? FAILURE_EXPECTED : FAILURE_UNEXPECTED;
}

char *lane_failure_file(const char *out_dir, const struct scenario *scenario,
                        enum failure_kind kind, uint64_t seed)
{
    return fp_format("%s/failures/%s%s-%llu.jsonl", out_dir, scenario->name,
                     kind == FAILURE_UNKNOWN ? "-unsettled" : "", (unsigned long long)seed);
}

static void tell(struct lane *lane, enum record_kind kind, const char *text)
{
    static struct record record;
    memset(&record, 0, offsetof(struct record, sentence));
    record.kind = kind;
    snprintf(record.sentence, sizeof record.sentence, "%s", text);
    record_send(lane->socket, &record);
}

static void lane_trouble(struct lane *lane, const char *text)
{
    tell(lane, RECORD_TROUBLE, text);
    lane->failed = true;
    lane->shared->stop = true;
}

/* ---- begin and end ---- */

static void tell_ready(struct lane *lane)
{
    struct strbuf text = STRBUF_INIT;
    struct pg_environment environment;
    pg_server_describe(lane->server, &environment);
    record_put_environment(&environment, &text);
    tell(lane, RECORD_READY, strbuf_str(&text));
    strbuf_release(&text);
}

static bool lane_open(struct lane *lane, int index)
{
    struct strbuf why = STRBUF_INIT;
    struct pg_server_options server_options = lane->options->server;
    server_options.cpu = cpu_of_lane(index);
    enum err err = pg_server_start(&server_options, index, &lane->server, &why);
    if (err == ERR_OK)
        err = pg_lane_open(lane->server, &lane->pg, &why);
    if (err == ERR_OK) {
        cpu_pin(server_options.cpu);
        lane->runs = run_lane_new(lane->pg);
        tell_ready(lane);
    } else {
        lane_trouble(lane, strbuf_str(&why));
    }
    strbuf_release(&why);
    return err == ERR_OK;
}

static void lane_close(struct lane *lane)
{
    run_lane_free(lane->runs);
    pg_lane_close(lane->pg);
    pg_server_stop(lane->server);
}

/* A campaign's speed is that of its seeds: nobody begins before everybody is up. */
static void wait_for_others(struct lane *lane)
{
    if (atomic_fetch_sub(&lane->shared->lanes_to_start, 1) == 1)
        lane->shared->first_seed_ns = realtime_ns();
    while (lane->shared->lanes_to_start > 0 && !lane->shared->stop && getppid() == lane->parent)
        realtime_sleep_ns(NS_PER_MS);
}

/* ---- what was reached and measured ---- */

static bool send_tally(struct lane *lane, struct record *record, size_t *size)
{
    record->sentence[*size] = '\0';
    *size = 0;
    return record_send(lane->socket, record);
}

/* Summed here and told now and then: the parent adds it up, so it does not matter whose it was. */
static void tell_tally(struct lane *lane, size_t scenario_index, enum record_kind kind,
                       struct tally *tally)
{
    static struct record record;
    size_t size = 0;
    memset(&record, 0, offsetof(struct record, sentence));
    record.kind = kind;
    record.scenario_index = (uint32_t)scenario_index;
    for (size_t i = 0; i < tally_size(tally); i++) {
        char line[TALLY_KEY_SIZE_MAX + 32];
        int line_size = snprintf(line, sizeof line, "%lld %s\n", (long long)tally_count(tally, i),
                                 tally_key(tally, i));
        FP_ASSERT(line_size > 0 && (size_t)line_size < sizeof line);
        if (size + (size_t)line_size >= sizeof record.sentence)
            send_tally(lane, &record, &size);
        memcpy(record.sentence + size, line, (size_t)line_size);
        size += (size_t)line_size;
    }
    if (size > 0 && !send_tally(lane, &record, &size))
        lane->failed = true;
    tally_clear(tally);
}

/* ---- seeds ---- */

static bool may_go_on(struct lane *lane)
{
    if (lane->shared->stop || lane->failed || getppid() != lane->parent)
        return false;
    if (lane->options->time_ns > 0 &&
        realtime_ns() - lane->shared->first_seed_ns > lane->options->time_ns) {
        lane->shared->out_of_time = true;
        return false;
    }
    return true;
}

static bool install(struct lane *lane, size_t scenario_index)
{
    if (lane->installed == scenario_index)
        return true;
    struct strbuf why = STRBUF_INIT;
    enum err err = run_lane_install(lane->runs, lane->scenarios[scenario_index], &why);
    if (err != ERR_OK) {
        struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, "%s: the schema does not install: %s",
                      lane->scenarios[scenario_index]->file, strbuf_str(&why));
        lane_trouble(lane, strbuf_str(&text));
        strbuf_release(&text);
    }
    strbuf_release(&why);
    lane->installed = err == ERR_OK ? scenario_index : lane->scenario_count;
    return err == ERR_OK;
}

static bool make_lower(_Atomic uint64_t *lowest, uint64_t seed, uint64_t *former)
{
    *former = *lowest;
    while (seed < *former)
        if (atomic_compare_exchange_weak(lowest, former, seed))
            return true;
    return false;
}

/* Of each kind of failure the lowest seed's file is kept; one that was written before a lower one
 * was known is removed. */
static void keep_failure(struct lane *lane, size_t scenario_index, const struct run_result *result)
{
    uint64_t former;
    const struct scenario *scenario = lane->scenarios[scenario_index];
    const char *out_dir = lane->options->out_dir;
    enum failure_kind kind = failure_kind_of(scenario, result->outcome, result->invariant);
    if (!out_dir ||
        !make_lower(&lane->shared->lowest_failure[scenario_index][kind], result->seed, &former))
        return;
    struct strbuf why = STRBUF_INIT;
    char *file = lane_failure_file(out_dir, scenario, kind, result->seed);
    if (!failure_write(file, scenario, lane->runs, result, pg_server_version(lane->server), &why))
        lane_trouble(lane, strbuf_str(&why));
    free(file);
    strbuf_release(&why);
    if (former == UINT64_MAX)
        return;
    file = lane_failure_file(out_dir, scenario, kind, former);
    unlink(file);
    free(file);
}

/* By scenario and seed alone, so that it does not depend on who runs it. The first seed always is.
 */
static bool wants_recheck(const struct lane *lane, size_t scenario_index, uint64_t seed)
{
    const struct campaign_options *options = lane->options;
    uint64_t mixed = (seed + 1 + scenario_index * 7919) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed ^= mixed >> 32;
    return options->check_determinism || seed == options->first_seed ||
           mixed % 1000000 < options->recheck_per_million;
}

/* Once more, comparing event by event. */
static void recheck(struct lane *lane, const struct scenario *scenario, struct run_result *result)
{
    struct run_result again;
    run_result_init(&again);
    char *lines = fp_strdup(strbuf_str(trace_lines(run_lane_trace(lane->runs))));
    struct run_replay replay = {.lines = lines};
    run_one(lane->runs, scenario, result->seed, &replay, &again);
    if (again.outcome == RUN_DIVERGED || again.hash != result->hash) {
        result->outcome = RUN_DIVERGED;
        result->step = again.step;
        strbuf_clear(&result->sentence);
        strbuf_puts(&result->sentence, strbuf_str(&again.sentence));
    }
    run_result_release(&again);
    free(lines);
}

static uint32_t invariant_index(const struct scenario *scenario, const struct invariant *invariant)
{
    for (size_t i = 0; i < scenario->invariant_count; i++)
        if (scenario->invariants[i] == invariant)
            return (uint32_t)i;
    return 0;
}

static void run_seed(struct lane *lane, size_t scenario_index, uint64_t seed)
{
    static struct record record;
    const struct scenario *scenario = lane->scenarios[scenario_index];
    struct run_result result;
    run_result_init(&result);
    run_one(lane->runs, scenario, seed, NULL, &result);
    tally_add_all(lane->reached, run_lane_reached(lane->runs));
    if (result.outcome == RUN_VIOLATION && result.invariant == scenario->expect_invariant)
        lane->shared->found[scenario_index] = true;
    tally_add_all(lane->measured, run_lane_measured(lane->runs));
    if (result.outcome == RUN_VIOLATION || result.outcome == RUN_UNKNOWN)
        keep_failure(lane, scenario_index, &result);
    bool checked =
        wants_recheck(lane, scenario_index, seed) && result.outcome != RUN_INFRASTRUCTURE;
    if (checked)
        recheck(lane, scenario, &result);
    record = (struct record){.kind = RECORD_RUN,
                             .scenario_index = (uint32_t)scenario_index,
                             .seed = seed,
                             .hash = result.hash,
                             .outcome = result.outcome,
                             .invariant_index = invariant_index(scenario, result.invariant),
                             .step = result.step,
                             .checked = checked,
                             .counts = result.counts};
    snprintf(record.sentence, sizeof record.sentence, "%s", strbuf_str(&result.sentence));
    if (!record_send(lane->socket, &record))
        lane->failed = true;
    run_result_release(&result);
}

static uint64_t unit_size(const struct campaign_options *options, const struct scenario *scenario)
{
    bool sooner = options->overview && scenario->expect == EXPECT_PASS;
    return sooner ? OVERVIEW_UNIT_SEED_COUNT : UNIT_SEED_COUNT;
}

static bool is_found(const struct lane *lane, size_t scenario_index)
{
    return lane->options->overview && lane->shared->found[scenario_index]; /* by whichever lane */
}

static void work(struct lane *lane)
{
    const struct campaign_options *options = lane->options;
    uint64_t least = options->overview ? OVERVIEW_UNIT_SEED_COUNT : UNIT_SEED_COUNT;
    uint64_t units_per_scenario = (options->seed_count + least - 1) / least;
    uint64_t unit_count = units_per_scenario * lane->scenario_count;
    while (may_go_on(lane)) {
        uint64_t unit = atomic_fetch_add(&lane->shared->next_unit, 1);
        if (unit >= unit_count)
            return;
        /* Every scenario gets its first seeds before any gets its second lot. */
        size_t scenario_index = (size_t)(unit % lane->scenario_count);
        const struct scenario *scenario = lane->scenarios[scenario_index];
        uint64_t size = unit_size(options, scenario);
        uint64_t first = unit / lane->scenario_count * size;
        uint64_t seed_count = campaign_seed_count(options, scenario);
        if (first >= seed_count || is_found(lane, scenario_index))
            continue;
        if (!install(lane, scenario_index))
            return;
        for (uint64_t i = first; i < first + size && i < seed_count; i++)
            if (may_go_on(lane) && !is_found(lane, scenario_index))
                run_seed(lane, scenario_index, options->first_seed + i);
        tell_tally(lane, scenario_index, RECORD_REACHED, lane->reached);
        tell_tally(lane, scenario_index, RECORD_MEASURED, lane->measured);
    }
}

/* The parent hears of an interrupt and says so; a terminal tells everybody at once. */
void lane_process_guard(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void lane_process(const struct campaign_options *options, const struct scenario *const *scenarios,
                  size_t scenario_count, struct lane_shared *shared, int index, int socket)
{
    struct lane lane = {.options = options,
                        .scenarios = scenarios,
                        .scenario_count = scenario_count,
                        .shared = shared,
                        .socket = socket,
                        .parent = getppid(),
                        .installed = scenario_count,
                        .reached = tally_new(),
                        .measured = tally_new()};
    lane_process_guard();
    if (lane_open(&lane, index)) {
        wait_for_others(&lane);
        work(&lane);
    }
    lane_close(&lane);
    tally_free(lane.reached);
    tally_free(lane.measured);
    close(socket);
}
