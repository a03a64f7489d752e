/* Probabilistic concurrency testing: who runs is decided by priorities, which are drawn once, and
 * at depth - 1 drawn decisions whoever would run falls behind all others.
 *
 * A bug that needs `depth` ordered steps of n fibers within k decisions is met by a run with odds
 * of at least 1 / (n * k^(depth - 1)), however unlikely it is for a scheduler that draws every
 * decision. */
#ifndef FENCEPOST_PCT_H
#define FENCEPOST_PCT_H

#include "sim/core/choice.h"

#define PCT_DEPTH_MAX 16

struct pct {
    struct choice_stream *stream;
    uint32_t depth;
    uint32_t changes[PCT_DEPTH_MAX]; /* numbers of decisions, from 1 */
    uint32_t decision_count;
};

/* 1 <= depth <= PCT_DEPTH_MAX. Decisions are expected to be no more than `decision_count_most`. */
void pct_init(struct pct *pct, struct choice_stream *stream, uint32_t depth,
              uint32_t decision_count_most);
/* Of a new fiber; above all to which one falls. */
uint32_t pct_priority(struct pct *pct);
/* Another decision between several is to be made. True: whoever is first now falls to *priority,
 * and then the first is to be found again. */
bool pct_decide(struct pct *pct, uint32_t *priority);
/* The bound above; depth >= 1. 1 when there is nothing to decide. */
double pct_odds(uint32_t depth, int64_t fiber_count, int64_t decision_count);

#endif
