#include "sim/hunt/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/realtime.h"
#include "sim/hunt/campaign.h"
#include "sim/hunt/cpu.h"
#include "sim/hunt/lane_process.h"
#include "sim/hunt/single.h"

#define WATCH_INTERVAL_NS (20 * NS_PER_MS)

/* In memory that the lanes and their parent share. A row is written by the lane that took it. */
struct shared {
    _Atomic size_t next_unit; /* the rows, then the hardened scenarios */
    _Atomic bool stop;
    _Atomic bool has_trouble;
    char trouble[SELFTEST_SENTENCE_SIZE]; /* by the lane that was the first to set it */
    size_t row_count, hardened_count;
    struct selftest_row *rows;
    struct selftest_hardened *hardened;
};

struct lane {
    const struct selftest_options *options;
    struct shared *shared;
    pid_t parent;
    struct single single;
};

/* ---- in a lane ---- */

static void tell_trouble(struct shared *shared, const char *text)
{
    if (!atomic_exchange(&shared->has_trouble, true))
        snprintf(shared->trouble, sizeof shared->trouble, "%s", text);
    shared->stop = true;
}

static bool may_go_on(const struct lane *lane)
{
    return !lane->shared->stop && getppid() == lane->parent;
}

/* False: no more, the environment failed or somebody wants to stop. */
static bool run_seed(struct lane *lane, const struct scenario *scenario, uint64_t seed,
                     struct run_result *result)
{
    if (!may_go_on(lane))
        return false;
    single_run(&lane->single, scenario, seed, NULL, result);
    if (result->outcome == RUN_INFRASTRUCTURE)
        tell_trouble(lane->shared, strbuf_str(&result->sentence));
    return result->outcome != RUN_INFRASTRUCTURE;
}

/* Does this seed break what the scenario says? *going_on as above. */
static bool breaks_expected(struct lane *lane, const struct scenario *scenario, uint64_t seed,
                            bool *going_on)
{
    struct run_result result;
    run_result_init(&result);
    *going_on = run_seed(lane, scenario, seed, &result);
    bool breaks = *going_on && result.outcome == RUN_VIOLATION &&
                  result.invariant == scenario->expect_invariant;
    run_result_release(&result);
    return breaks;
}

static uint64_t first_seed(int try_index)
{
    return 1 + (uint64_t)try_index * SELFTEST_SEED_STRIDE;
}

static bool hunt_once(struct lane *lane, const struct scenario *scenario, int try_index,
                      struct selftest_try *one)
{
    const struct selftest_options *options = lane->options;
    int64_t began_ns = realtime_ns();
    bool going_on = true;
    *one = (struct selftest_try){0};
    while (going_on && !one->caught && one->seed_count < options->seed_count &&
           one->wall_ns <= options->budget_ns) {
        uint64_t seed = first_seed(try_index) + (uint64_t)one->seed_count;
        one->caught = breaks_expected(lane, scenario, seed, &going_on);
        one->seed_count++;
        one->wall_ns = realtime_ns() - began_ns;
    }
    return going_on;
}

static bool hunt(struct lane *lane, struct selftest_row *row)
{
    const struct scenario *scenario = selftest_scenario(row);
    struct strbuf why = STRBUF_INIT;
    bool going_on = single_install(&lane->single, scenario, &why);
    if (!going_on)
        tell_trouble(lane->shared, strbuf_str(&why));
    strbuf_release(&why);
    row->try_count = 0;
    while (going_on && row->try_count < lane->options->try_count) {
        going_on = hunt_once(lane, scenario, row->try_count, &row->tries[row->try_count]);
        row->try_count += going_on;
    }
    return going_on;
}

/* The tries once more without the weakness: what breaks now is not its doing. */
static bool hunt_without(struct lane *lane, struct selftest_row *row)
{
    const struct scenario *scenario = selftest_scenario(row);
    size_t index = (size_t)(row->weakness - row->strategy->weaknesses);
    uint64_t others = scenario->weaknesses & ~(UINT64_C(1) << index);
    struct scenario *without = selftest_variant(scenario, others);
    bool going_on = true;
    for (int i = 0; going_on && i < row->try_count; i++) {
        int64_t seed_count = row->tries[i].caught ? row->tries[i].seed_count : 0;
        for (int64_t k = 0; going_on && k < seed_count; k++) {
            uint64_t seed = first_seed(i) + (uint64_t)k;
            row->without_violation_count += breaks_expected(lane, without, seed, &going_on);
            row->without_seed_count += going_on;
        }
    }
    /* What comes next may have its address. */
    lane->single.installed = NULL;
    scenario_free(without);
    return going_on;
}

/* A scenario that catches nothing leaves it to the next. */
static bool work_on_row(struct lane *lane, struct selftest_row *row)
{
    bool going_on = true;
    for (size_t i = 0; going_on && i < row->candidate_count; i++) {
        row->chosen = i;
        going_on = hunt(lane, row);
        if (selftest_stats_of(row).caught_count > 0)
            break;
    }
    if (going_on && row->candidate_count > 0)
        going_on = hunt_without(lane, row);
    return going_on;
}

static void note_alarm(struct selftest_hardened *item, const struct run_result *result)
{
    if (item->violation_count++ > 0)
        return;
    item->seed = result->seed;
    item->invariant = result->invariant;
    snprintf(item->sentence, sizeof item->sentence, "%s", strbuf_str(&result->sentence));
}

static bool work_on_hardened(struct lane *lane, struct selftest_hardened *item)
{
    bool going_on = true;
    while (going_on && item->seed_count < lane->options->try_count) {
        struct run_result result;
        run_result_init(&result);
        going_on = run_seed(lane, item->scenario, 1 + (uint64_t)item->seed_count, &result);
        if (going_on && result.outcome == RUN_VIOLATION)
            note_alarm(item, &result);
        item->unknown_count += going_on && result.outcome == RUN_UNKNOWN;
        item->seed_count += going_on;
        run_result_release(&result);
    }
    return going_on;
}

static void work(struct lane *lane)
{
    struct shared *shared = lane->shared;
    for (bool going_on = true; going_on;) {
        size_t unit = atomic_fetch_add(&shared->next_unit, 1);
        if (unit >= shared->row_count + shared->hardened_count)
            return;
        if (unit < shared->row_count) {
            going_on = work_on_row(lane, &shared->rows[unit]);
            shared->rows[unit].done = going_on;
        } else {
            unit -= shared->row_count;
            going_on = work_on_hardened(lane, &shared->hardened[unit]);
            shared->hardened[unit].done = going_on;
        }
    }
}

static void lane_main(const struct selftest_options *options, struct shared *shared, int index,
                      pid_t parent)
{
    struct lane lane = {.options = options, .shared = shared, .parent = parent};
    struct pg_server_options server = options->server;
    struct strbuf why = STRBUF_INIT;
    lane_process_guard();
    server.cpu = cpu_of_lane(index);
    if (single_join(&lane.single, &server, index, &why)) {
        cpu_pin(server.cpu);
        work(&lane);
    } else {
        tell_trouble(shared, strbuf_str(&why));
    }
    single_close(&lane.single);
    strbuf_release(&why);
}

/* ---- in the parent ---- */

static void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FP_ASSERT(memory != MAP_FAILED);
    return memory;
}

static size_t shared_size(const struct selftest_report *report)
{
    return sizeof(struct shared) + report->row_count * sizeof report->rows[0] +
           report->hardened_count * sizeof report->hardened[0];
}

static struct shared *share_plan(const struct selftest_report *report)
{
    struct shared *shared = share(shared_size(report));
    shared->row_count = report->row_count;
    shared->hardened_count = report->hardened_count;
    shared->rows = (struct selftest_row *)(shared + 1);
    shared->hardened = (struct selftest_hardened *)(shared->rows + report->row_count);
    memcpy(shared->rows, report->rows, report->row_count * sizeof report->rows[0]);
    memcpy(shared->hardened, report->hardened, report->hardened_count * sizeof report->hardened[0]);
    return shared;
}

static void take_back(struct selftest_report *report, struct shared *shared)
{
    memcpy(report->rows, shared->rows, report->row_count * sizeof report->rows[0]);
    memcpy(report->hardened, shared->hardened, report->hardened_count * sizeof report->hardened[0]);
    if (shared->has_trouble)
        strbuf_puts(&report->trouble, shared->trouble);
    munmap(shared, shared_size(report));
}

static void tell_row(const struct selftest_row *row, selftest_watch *watch, void *self)
{
    char text[256];
    struct selftest_stats stats = selftest_stats_of(row);
    if (row->candidate_count == 0)
        snprintf(text, sizeof text, "%s: no scenario", row->weakness->name);
    else
        snprintf(text, sizeof text, "%s: caught in %d of %d tries", row->weakness->name,
                 stats.caught_count, row->try_count);
    watch(self, text);
}

/* From the shared memory: a row that is done does not change any more. */
static void tell_done(const struct shared *shared, bool *told, selftest_watch *watch, void *self)
{
    for (size_t i = 0; watch && i < shared->row_count; i++) {
        if (told[i] || !shared->rows[i].done)
            continue;
        told[i] = true;
        tell_row(&shared->rows[i], watch, self);
    }
}

static void note_end(struct shared *shared, int index, int status)
{
    char text[96];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    snprintf(text, sizeof text, "lane %d ended with %s %d", index + 1,
             WIFSIGNALED(status) ? "signal" : "exit code",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    tell_trouble(shared, text);
}

/* How many have ended; those are 0 from then on. */
static int collect(struct shared *shared, pid_t *lanes, int lane_count)
{
    int ended_count = 0;
    for (int i = 0; i < lane_count; i++) {
        int status = 0;
        if (lanes[i] == 0 || waitpid(lanes[i], &status, WNOHANG) == 0)
            continue;
        note_end(shared, i, status);
        lanes[i] = 0;
        ended_count++;
    }
    return ended_count;
}

static int start_lanes(const struct selftest_options *options, struct shared *shared, pid_t *lanes)
{
    pid_t parent = getpid();
    for (int i = 0; i < options->lane_count; i++) {
        lanes[i] = fork();
        if (lanes[i] == 0) {
            lane_main(options, shared, i, parent);
            _exit(0);
        }
        if (lanes[i] < 0) {
            tell_trouble(shared, "a lane could not be started");
            return i;
        }
    }
    return options->lane_count;
}

static void run_lanes(const struct selftest_options *options, struct shared *shared,
                      selftest_watch *watch, void *self, const volatile bool *interrupted)
{
    pid_t lanes[CAMPAIGN_LANE_COUNT_MAX];
    bool *told = fp_alloc((shared->row_count + 1) * sizeof told[0]);
    int lane_count = start_lanes(options, shared, lanes);
    for (int left_count = lane_count; left_count > 0;) {
        realtime_sleep_ns(WATCH_INTERVAL_NS);
        if (interrupted && *interrupted)
            shared->stop = true;
        left_count -= collect(shared, lanes, lane_count);
        tell_done(shared, told, watch, self);
    }
    free(told);
}

void selftest_run(struct selftest_report *report, const struct selftest_options *options,
                  selftest_watch *watch, void *self, const volatile bool *interrupted)
{
    FP_ASSERT(options->try_count > 0 && options->try_count <= SELFTEST_TRY_COUNT_MAX);
    FP_ASSERT(options->seed_count > 0 && options->seed_count <= SELFTEST_SEED_STRIDE);
    FP_ASSERT(options->lane_count > 0 && options->lane_count <= CAMPAIGN_LANE_COUNT_MAX);
    struct shared *shared = share_plan(report);
    int64_t began_ns = realtime_ns();
    pg_remove_leftovers(&options->server);
    if (pg_template_make(&options->server, &report->trouble) == ERR_OK)
        run_lanes(options, shared, watch, self, interrupted);
    pg_template_remove();
    take_back(report, shared);
    report->lane_count = options->lane_count;
    report->wall_ns = realtime_ns() - began_ns;
    report->interrupted = interrupted && *interrupted;
}
