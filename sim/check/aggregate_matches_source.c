/* Verifies: at the end, when all work is over, every number that is derived from other rows is what
 * these rows give.
 *
 * Does not verify: the numbers meanwhile. Between the commit of a source row and that of its
 * aggregate they may differ, for as long as it takes; aggregate_always_matches judges that. */
#include "sim/check/aggregates.h"

static void aggregate_matches_source_end(struct check *check, const struct check_end *end)
{
    aggregates_judge(check, &end->last);
}

const struct invariant invariant_aggregate_matches_source = {
    .name = "aggregate_matches_source",
    .verifies = "at the end every derived number is what its source rows give",
    .does_not_verify = "the numbers meanwhile: aggregate_always_matches does",
    .applies = aggregates_apply,
    .end = aggregate_matches_source_end,
};
