/* What aggregate_matches_source and aggregate_always_matches share: see struct aggregate_view. */
#ifndef FENCEPOST_AGGREGATES_H
#define FENCEPOST_AGGREGATES_H

#include "sim/check/check.h"

bool aggregates_apply(const struct strategy *strategy);
/* Compare every number with what it counts, as the rows are now; the first that is wrong fails the
 * check. `event` says when. */
void aggregates_judge(struct check *check, const struct event *event);

#endif
