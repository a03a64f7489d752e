#include "reports/sums.h"

#include <string.h>

void sums_of(const struct campaign_report *report, struct sums *sums)
{
    memset(sums, 0, sizeof *sums);
    for (size_t i = 0; i < report->scenario_count; i++) {
        const struct campaign_scenario *item = &report->scenarios[i];
        sums->scenario_count += item->seed_count > 0;
        sums->seed_count += item->seed_count;
        sums->checked_count += item->checked_count;
        sums->diverged_count += item->diverged_count;
        run_counts_add(&sums->counts, &item->counts);
    }
}

double sums_per_s(int64_t count, int64_t duration_ns)
{
    if (duration_ns <= 0)
        return 0;
    return (double)count * (double)NS_PER_S / (double)duration_ns;
}

const char *sums_verdict(const struct campaign_report *report)
{
    struct campaign_report done = *report;
    done.interrupted = false;
    switch (campaign_exit_code(&done)) {
    case EXIT_PASS:
        return "pass";
    case EXIT_VIOLATION:
        return "violation";
    case EXIT_UNKNOWN:
        return "unknown";
    case EXIT_NOTHING_RAN:
        return "nothing";
    default:
        return "infrastructure";
    }
}

bool sums_has_fault(const struct campaign_scenario *item, const struct fault_kind *kind)
{
    for (size_t i = 0; i < item->scenario->fault_count; i++)
        if (item->scenario->faults[i].kind == kind)
            return true;
    return false;
}

int64_t sums_fired(const struct campaign_scenario *item, const struct fault_kind *kind)
{
    int64_t count = 0;
    for (size_t i = 0; i < item->scenario->fault_count; i++)
        if (item->scenario->faults[i].kind == kind)
            count += item->counts.fired[i];
    return count;
}

bool sums_is_unvisited(const struct campaign_scenario *item, size_t fault_index)
{
    FP_ASSERT(fault_index < item->scenario->fault_count);
    return item->seed_count > 0 && item->counts.visited[fault_index] == 0;
}

int64_t sums_found(const struct campaign_scenario *item)
{
    const struct scenario *scenario = item->scenario;
    for (size_t i = 0; scenario->expect == EXPECT_VIOLATION && i < scenario->invariant_count; i++)
        if (scenario->invariants[i] == scenario->expect_invariant)
            return item->by_invariant[i];
    return 0;
}

int64_t sums_expected(const struct campaign_scenario *item)
{
    const struct scenario *scenario = item->scenario;
    int64_t count = 0;
    for (size_t i = 0; i < scenario->invariant_count; i++)
        if (scenario_expects(scenario, scenario->invariants[i]))
            count += item->by_invariant[i];
    return count;
}

double sums_pct_odds(const struct campaign_scenario *item)
{
    FP_ASSERT(item->scenario->pct_depth > 0);
    return pct_odds((uint32_t)item->scenario->pct_depth, item->counts.fibers,
                    item->counts.decisions);
}
