/* What several reports say about a campaign as a whole. */
#ifndef FENCEPOST_REPORT_SUMS_H
#define FENCEPOST_REPORT_SUMS_H

#include "sim/core/pct.h"
#include "sim/hunt/campaign.h"

struct fault_kind;

struct sums {
    size_t scenario_count; /* with at least one seed */
    int64_t seed_count;
    int64_t checked_count, diverged_count;
    struct run_counts counts; /* without `fired`, which belongs to one scenario */
};

void sums_of(const struct campaign_report *report, struct sums *sums);
/* 0 when no time passed. */
double sums_per_s(int64_t count, int64_t duration_ns);
/* "pass", "violation", "unknown", "infrastructure" or "nothing": of what was run, interrupted or
 * not. A run that diverged cannot be trusted, which makes it infrastructure. Static. */
const char *sums_verdict(const struct campaign_report *report);

/* Does the scenario have a fault of this kind, and how often did those strike? */
bool sums_has_fault(const struct campaign_scenario *item, const struct fault_kind *kind);
int64_t sums_fired(const struct campaign_scenario *item, const struct fault_kind *kind);
/* Seeds were run, and never was there a visit at which this fault could have struck. */
bool sums_is_unvisited(const struct campaign_scenario *item, size_t fault_index);
/* Violations of the invariant that the scenario expects to be broken; 0 when it expects none. */
int64_t sums_found(const struct campaign_scenario *item);
/* The same, with those that may break as well. */
int64_t sums_expected(const struct campaign_scenario *item);
/* With priorities: the least odds by which a seed meets a bug of the searched depth. */
double sums_pct_odds(const struct campaign_scenario *item);

#endif
