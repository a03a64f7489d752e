/* Verifies: at every committed state every number that is derived from other rows is what these
 * rows give, so nobody ever reads a wrong one.
 *
 * Does not verify: what a reader sees that asks for both in two statements; states that were never
 * committed; commits that a failover took back. */
#include "sim/check/aggregates.h"

static void aggregate_always_matches_committed(struct check *check, const struct event *last)
{
    aggregates_judge(check, last);
}

const struct invariant invariant_aggregate_always_matches = {
    .name = "aggregate_always_matches",
    .verifies = "at every committed state every derived number is what its source rows give",
    .does_not_verify = "what a reader sees that asks for both in two statements",
    .applies = aggregates_apply,
    .committed = aggregate_always_matches_committed,
};
