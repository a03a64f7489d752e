/* Every schedule with at most so many preemptions, one after the other.
 *
 * A schedule is the list of the scheduler's decisions; all other choices are the simplest: no fault
 * that is left to odds, the shortest durations. A decision costs nothing while the one that ran
 * last cannot go on, and a preemption when it could. With pruning a run ends where it comes to a
 * state from which everything within the same bound was looked at before. */
#ifndef FENCEPOST_EXHAUSTIVE_H
#define FENCEPOST_EXHAUSTIVE_H

#include "sim/hunt/campaign.h"
#include "sim/hunt/single.h"

#define EXHAUSTIVE_BOUND_MAX 8
#define EXHAUSTIVE_STATE_COUNT_MAX (1u << 22)

struct exhaustive_options {
    int bound;
    bool prune;
    int64_t time_ns; /* no schedule is begun after it; 0: no limit */
    const char *out_dir;
    const volatile bool *interrupted;
    void (*watch)(void *self, const struct campaign_progress *progress); /* or NULL */
    void *watch_self;
};

/* Explore one scenario. `item` is zeroed but for its scenario, and gets what came of it, with a
 * schedule in place of a seed; the first failure is written to OUT/failures. False with `why`: the
 * environment failed. */
bool exhaustive_run(struct single *single, const struct exhaustive_options *options,
                    struct campaign_scenario *item, struct strbuf *why);

#endif
