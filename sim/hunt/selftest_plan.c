/* Which scenario is to catch which weakness, and what came of it. No run is made here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/hunt/median.h"
#include "sim/hunt/selftest.h"

/* ---- the scenarios of a weakness ---- */

/* A document as written is a set that nobody chose for this weakness. */
static bool names_its_weaknesses(const struct scenario *scenario)
{
    return strncmp(scenario->variant, "weak: ", 6) == 0;
}

static bool may_catch(const struct scenario *scenario, const struct strategy *strategy,
                      size_t weakness_index)
{
    return scenario->strategy == strategy && names_its_weaknesses(scenario) &&
           (scenario->weaknesses >> weakness_index & 1) != 0 &&
           scenario->expect == EXPECT_VIOLATION &&
           strcmp(scenario->expect_invariant->name, strategy->weaknesses[weakness_index].breaks) ==
               0;
}

/* "no-fencing" is named after no_fencing. */
static bool is_named_after(const struct scenario *scenario, const struct weakness *weakness)
{
    size_t size = strlen(weakness->name);
    if (strlen(scenario->name) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (scenario->name[i] != (weakness->name[i] == '_' ? '-' : weakness->name[i]))
            return false;
    return true;
}

/* First those that bear its name, then those with the fewest other weaknesses, then by name. */
static bool is_better(const struct scenario *left, const struct scenario *right,
                      const struct weakness *weakness)
{
    bool left_named = is_named_after(left, weakness), right_named = is_named_after(right, weakness);
    int left_count = __builtin_popcountll(left->weaknesses);
    int right_count = __builtin_popcountll(right->weaknesses);
    if (left_named != right_named)
        return left_named;
    if (left_count != right_count)
        return left_count < right_count;
    return strcmp(left->name, right->name) < 0;
}

/* Keeps them in order; the worst goes when there are too many. */
static void add_candidate(struct selftest_row *row, const struct scenario *scenario)
{
    size_t at = row->candidate_count;
    while (at > 0 && is_better(scenario, row->candidates[at - 1], row->weakness))
        at--;
    if (at == SELFTEST_CANDIDATE_COUNT_MAX)
        return;
    if (row->candidate_count < SELFTEST_CANDIDATE_COUNT_MAX)
        row->candidate_count++;
    for (size_t i = row->candidate_count - 1; i > at; i--)
        row->candidates[i] = row->candidates[i - 1];
    row->candidates[at] = scenario;
}

/* ---- the plan ---- */

struct plan {
    const struct selftest_wish *wish;
    const struct scenario *const *scenarios;
    size_t scenario_count;
    struct selftest_report *report;
};

static bool is_wanted(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count == 0;
}

static void plan_row(struct plan *plan, const struct strategy *strategy, size_t weakness_index)
{
    struct selftest_report *report = plan->report;
    report->rows = fp_realloc(report->rows, (report->row_count + 1) * sizeof report->rows[0]);
    struct selftest_row *row = &report->rows[report->row_count++];
    memset(row, 0, sizeof *row);
    row->strategy = strategy;
    row->weakness = &strategy->weaknesses[weakness_index];
    for (size_t i = 0; i < plan->scenario_count; i++)
        if (may_catch(plan->scenarios[i], strategy, weakness_index))
            add_candidate(row, plan->scenarios[i]);
}

static bool is_candidate(const struct selftest_report *report, const struct scenario *scenario)
{
    for (size_t i = 0; i < report->row_count; i++)
        for (size_t k = 0; k < report->rows[i].candidate_count; k++)
            if (report->rows[i].candidates[k] == scenario)
                return true;
    return false;
}

static void plan_hardened(struct plan *plan, const struct scenario *scenario)
{
    struct selftest_report *report = plan->report;
    const struct selftest_wish *wish = plan->wish;
    if (scenario->weaknesses == 0 ||
        !is_wanted(wish->strategies, wish->strategy_count, scenario->strategy->name) ||
        (wish->weakness_count > 0 && !is_candidate(report, scenario)))
        return;
    size_t size = (report->hardened_count + 1) * sizeof report->hardened[0];
    report->hardened = fp_realloc(report->hardened, size);
    struct selftest_hardened *item = &report->hardened[report->hardened_count++];
    memset(item, 0, sizeof *item);
    item->scenario = selftest_variant(scenario, 0);
}

static void plan_strategy(struct plan *plan, const struct strategy *strategy)
{
    const struct selftest_wish *wish = plan->wish;
    for (size_t i = 0; i < strategy->weakness_count; i++)
        if (is_wanted(wish->weaknesses, wish->weakness_count, strategy->weaknesses[i].name))
            plan_row(plan, strategy, i);
}

void selftest_plan(const struct selftest_wish *wish, const struct scenario *const *scenarios,
                   size_t scenario_count, struct selftest_report *report)
{
    struct plan plan = {wish, scenarios, scenario_count, report};
    memset(report, 0, sizeof *report);
    for (size_t i = 0; strategies[i]; i++)
        if (is_wanted(wish->strategies, wish->strategy_count, strategies[i]->name))
            plan_strategy(&plan, strategies[i]);
    for (size_t i = 0; i < scenario_count; i++)
        plan_hardened(&plan, scenarios[i]);
}

void selftest_report_release(struct selftest_report *report)
{
    for (size_t i = 0; i < report->hardened_count; i++)
        scenario_free(report->hardened[i].scenario);
    free(report->rows);
    free(report->hardened);
    strbuf_release(&report->trouble);
    memset(report, 0, sizeof *report);
}

/* ---- other sets of weaknesses ---- */

/* "variant=hardened", or "variant={weaknesses: [a, b]}". */
static void put_variant(const struct strategy *strategy, uint64_t weaknesses, struct strbuf *out)
{
    const char *before = "variant={weaknesses: [";
    if (weaknesses == 0) {
        strbuf_puts(out, "variant=hardened");
        return;
    }
    for (size_t i = 0; i < strategy->weakness_count; i++) {
        if ((weaknesses >> i & 1) == 0)
            continue;
        strbuf_printf(out, "%s%s", before, strategy->weaknesses[i].name);
        before = ", ";
    }
    strbuf_puts(out, "]}");
}

struct scenario *selftest_variant(const struct scenario *scenario, uint64_t weaknesses)
{
    struct strbuf variant = STRBUF_INIT;
    struct diags *diags = fp_alloc(sizeof *diags);
    put_variant(scenario->strategy, weaknesses, &variant);
    const char *overrides[] = {strbuf_str(&variant)};
    diags_init(diags, scenario->file);
    struct scenario *other = scenario_parse_with(scenario->file, scenario->source,
                                                 strlen(scenario->source), overrides, 1, diags);
    /* What was right with one set of weaknesses is right with another. */
    FP_ASSERT(other != NULL);
    diags_release(diags);
    free(diags);
    strbuf_release(&variant);
    return other;
}

/* ---- what came of it ---- */

struct selftest_stats selftest_stats_of(const struct selftest_row *row)
{
    struct selftest_stats stats = {0};
    double seeds[SELFTEST_TRY_COUNT_MAX], seconds[SELFTEST_TRY_COUNT_MAX];
    size_t count = 0;
    for (int i = 0; i < row->try_count; i++) {
        if (!row->tries[i].caught)
            continue;
        seeds[count] = (double)row->tries[i].seed_count;
        seconds[count++] = (double)row->tries[i].wall_ns / (double)NS_PER_S;
    }
    if (count == 0)
        return stats;
    stats.caught_count = (int)count;
    stats.seeds_median = median(seeds, count);
    stats.seeds_worst = seeds[count - 1];
    stats.s_median = median(seconds, count);
    stats.s_worst = seconds[count - 1];
    return stats;
}

const struct scenario *selftest_scenario(const struct selftest_row *row)
{
    return row->candidate_count > 0 ? row->candidates[row->chosen] : NULL;
}

bool selftest_is_missed(const struct selftest_row *row)
{
    return row->done && selftest_stats_of(row).caught_count == 0;
}

bool selftest_is_doubtful(const struct selftest_row *row)
{
    return row->without_violation_count > 0;
}

int selftest_exit_code(const struct selftest_report *report)
{
    bool good = true;
    for (size_t i = 0; i < report->row_count; i++)
        good = good && !selftest_is_missed(&report->rows[i]);
    for (size_t i = 0; i < report->hardened_count; i++)
        good = good && report->hardened[i].violation_count == 0;
    if (report->interrupted)
        return EXIT_INTERRUPTED;
    if (report->trouble.size > 0)
        return EXIT_INFRASTRUCTURE;
    if (report->row_count == 0)
        return EXIT_NOTHING_RAN;
    return good ? EXIT_PASS : EXIT_VIOLATION;
}
