#include "sim/hunt/exhaustive.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/hunt/failure.h"
#include "sim/hunt/lane_process.h"
#include "sim/hunt/states.h"

struct decisions {
    struct sched_decision *list;
    size_t count, capacity;
};

struct explorer {
    const struct exhaustive_options *options;
    struct single *single;
    struct campaign_scenario *item;
    uint32_t *prefix; /* what the next run decides, before it goes on with 0 */
    size_t prefix_size, prefix_capacity;
    struct decisions decisions; /* of the run */
    int preemption_count;       /* of them */
    struct states *states;
    struct seen {
        uint64_t state;
        int left;
    } * seen; /* by the run, one for each decision that is new */
    size_t seen_count, seen_capacity;
    int64_t run_count;
    int64_t begin_ns;
};

static bool is_preemption(const struct sched_decision *decision, uint32_t pick)
{
    return decision->last_goes_on && pick > 0;
}

static void add_decision(struct decisions *decisions, const struct sched_decision *decision)
{
    if (decisions->count == decisions->capacity) {
        decisions->capacity = decisions->capacity == 0 ? 256 : decisions->capacity * 2;
        decisions->list =
            fp_realloc(decisions->list, decisions->capacity * sizeof decisions->list[0]);
    }
    decisions->list[decisions->count++] = *decision;
}

static void add_seen(struct explorer *explorer, uint64_t state, int left)
{
    if (explorer->seen_count == explorer->seen_capacity) {
        explorer->seen_capacity = explorer->seen_capacity == 0 ? 256 : explorer->seen_capacity * 2;
        explorer->seen =
            fp_realloc(explorer->seen, explorer->seen_capacity * sizeof explorer->seen[0]);
    }
    explorer->seen[explorer->seen_count++] = (struct seen){state, left};
}

static void on_begun(void *self)
{
    struct explorer *explorer = self;
    explorer->decisions.count = 0;
    explorer->preemption_count = 0;
    explorer->seen_count = 0;
}

/* On the way to its first new decision a run only repeats. */
static bool on_decided(void *self, const struct sched_decision *decision, uint64_t state)
{
    struct explorer *explorer = self;
    int left = explorer->options->bound - explorer->preemption_count;
    if (explorer->options->prune && explorer->decisions.count >= explorer->prefix_size) {
        if (states_know(explorer->states, state, left))
            return false;
        add_seen(explorer, state, left);
    }
    explorer->preemption_count += is_preemption(decision, decision->pick);
    add_decision(&explorer->decisions, decision);
    return true;
}

/* ---- one schedule ---- */

static void keep_failure(struct explorer *explorer, const struct run_result *result,
                         struct strbuf *why)
{
    struct campaign_failure *failure = &explorer->item->first_failure;
    const struct scenario *scenario = explorer->item->scenario;
    enum failure_kind kind = failure_kind_of(scenario, result->outcome, result->invariant);
    if (failure->found && failure->kind <= kind)
        return;
    free(failure->sentence);
    free(failure->file);
    *failure = (struct campaign_failure){.found = true,
                                         .kind = kind,
                                         .seed = result->seed,
                                         .invariant = result->invariant,
                                         .step = result->step,
                                         .sentence = fp_strdup(strbuf_str(&result->sentence))};
    if (explorer->options->out_dir == NULL)
        return;
    char *file = lane_failure_file(explorer->options->out_dir, scenario, kind, result->seed);
    if (failure_write(file, scenario, explorer->single->runs, result,
                      pg_lane_server_version(explorer->single->pg), why))
        failure->file = file;
    else
        free(file);
}

static void count_violation(struct campaign_scenario *item, const struct invariant *invariant)
{
    for (size_t i = 0; i < item->scenario->invariant_count; i++)
        if (item->scenario->invariants[i] == invariant)
            item->by_invariant[i]++;
}

static void take_result(struct explorer *explorer, const struct run_result *result,
                        struct strbuf *why)
{
    struct campaign_scenario *item = explorer->item;
    run_counts_add(&item->counts, &result->counts);
    if (result->cut) {
        item->exhaustive.pruned_count++;
        return;
    }
    item->seed_count++;
    item->outcomes[result->outcome]++;
    if (result->outcome == RUN_VIOLATION) {
        count_violation(item, result->invariant);
        keep_failure(explorer, result, why);
    }
}

/* False: the environment failed. */
static bool run_schedule(struct explorer *explorer, struct strbuf *why)
{
    struct run_result result;
    struct replay_stream stream = {"schedule", explorer->prefix, explorer->prefix_size};
    struct run_watch watch = {explorer, on_begun, on_decided};
    struct run_replay replay = {
        .streams = &stream, .stream_count = 1, .zero_others = true, .watch = &watch};
    run_result_init(&result);
    single_run(explorer->single, explorer->item->scenario, (uint64_t)++explorer->run_count, &replay,
               &result);
    bool good = result.outcome != RUN_INFRASTRUCTURE;
    if (good) {
        for (size_t i = 0; i < explorer->seen_count; i++)
            states_add(explorer->states, explorer->seen[i].state, explorer->seen[i].left);
        take_result(explorer, &result, why);
    } else {
        strbuf_puts(why, strbuf_str(&result.sentence));
    }
    run_result_release(&result);
    return good && why->size == 0;
}

/* ---- from one to the next ---- */

static uint32_t alternative_count(const struct explorer *explorer, size_t index,
                                  int preemptions_before)
{
    const struct sched_decision *decision = &explorer->decisions.list[index];
    bool allowed = !decision->last_goes_on || preemptions_before < explorer->options->bound;
    return allowed ? decision->candidate_count - 1 - decision->pick : 0;
}

/* The last decision with an alternative is made otherwise. Also counts how many had one. False:
 * there is none. */
static bool next_prefix(struct explorer *explorer)
{
    int preemption_count = 0;
    size_t found = SIZE_MAX;
    explorer->item->exhaustive.open_count = 0;
    for (size_t i = 0; i < explorer->decisions.count; i++) {
        const struct sched_decision *decision = &explorer->decisions.list[i];
        if (alternative_count(explorer, i, preemption_count) > 0) {
            explorer->item->exhaustive.open_count++;
            found = i;
        }
        preemption_count += is_preemption(decision, decision->pick);
    }
    if (found == SIZE_MAX)
        return false;
    if (found + 1 > explorer->prefix_capacity) {
        explorer->prefix_capacity = 2 * (found + 1);
        explorer->prefix =
            fp_realloc(explorer->prefix, explorer->prefix_capacity * sizeof explorer->prefix[0]);
    }
    for (size_t i = 0; i <= found; i++)
        explorer->prefix[i] = explorer->decisions.list[i].pick;
    explorer->prefix[found]++;
    explorer->prefix_size = found + 1;
    return true;
}

static bool is_over(const struct explorer *explorer)
{
    const struct exhaustive_options *options = explorer->options;
    if (options->interrupted != NULL && *options->interrupted)
        return true;
    return options->time_ns > 0 && realtime_ns() - explorer->begin_ns > options->time_ns;
}

static void tell(const struct explorer *explorer)
{
    int64_t elapsed_ns = realtime_ns() - explorer->begin_ns;
    struct campaign_progress progress = {
        .done_count = explorer->run_count,
        .expected_count = explorer->item->outcomes[RUN_VIOLATION],
        .elapsed_ns = elapsed_ns,
        .left_ns = -1,
        .seeds_per_s = elapsed_ns > 0
                           ? (double)explorer->run_count * (double)NS_PER_S / (double)elapsed_ns
                           : 0,
        .scenario = explorer->item->scenario->name};
    if (explorer->options->watch != NULL)
        explorer->options->watch(explorer->options->watch_self, &progress);
}

bool exhaustive_run(struct single *single, const struct exhaustive_options *options,
                    struct campaign_scenario *item, struct strbuf *why)
{
    struct explorer explorer = {.options = options,
                                .single = single,
                                .item = item,
                                .states = states_new(EXHAUSTIVE_STATE_COUNT_MAX),
                                .begin_ns = realtime_ns()};
    bool good = true, more = true;
    item->exhaustive.is_used = true;
    item->exhaustive.bound = options->bound;
    while (good && more && !is_over(&explorer)) {
        good = run_schedule(&explorer, why);
        more = good && next_prefix(&explorer);
        tell(&explorer);
    }
    item->exhaustive.complete = good && !more;
    item->exhaustive.state_count = (int64_t)states_count(explorer.states);
    campaign_judge(item);
    states_free(explorer.states);
    free(explorer.prefix);
    free(explorer.decisions.list);
    free(explorer.seen);
    return good;
}
