/* What the runs of a scenario measured: how many effects were done twice, and how long it took what
 * the strategy's metrics say. Kept as a tally, so that runs add up whoever ran them:
 * "duplicate_effects", and a key per metric and duration, "NAME 000000020000" in microseconds, to
 * three digits. */
#ifndef FENCEPOST_MEASURED_H
#define FENCEPOST_MEASURED_H

#include "sim/run/tally.h"

struct metrics;
struct service;

/* What a run adds, at its end. */
void measured_take(const struct strategy *strategy, const struct metrics *metrics,
                   const struct service *service, struct tally *tally);

struct measured {
    const char *name;
    int64_t count; /* how often */
    bool is_duration;
    int64_t median_ns, max_ns;
};
/* The index-th of what there is to measure of this strategy. False: there are not so many. */
bool measured_at(const struct strategy *strategy, const struct tally *tally, size_t index,
                 struct measured *measured);

#endif
