#include "sim/core/pct.h"

#include <string.h>

#define PRIORITY_COUNT (1u << 24)

void pct_init(struct pct *pct, struct choice_stream *stream, uint32_t depth,
              uint32_t decision_count_most)
{
    FP_ASSERT(depth >= 1 && depth <= PCT_DEPTH_MAX);
    memset(pct, 0, sizeof *pct);
    pct->stream = stream;
    pct->depth = depth;
    for (uint32_t i = 0; i + 1 < depth; i++)
        pct->changes[i] =
            1 + choice_below(stream, decision_count_most > 0 ? decision_count_most : 1);
}

uint32_t pct_priority(struct pct *pct)
{
    return pct->depth + choice_below(pct->stream, PRIORITY_COUNT);
}

bool pct_decide(struct pct *pct, uint32_t *priority)
{
    pct->decision_count++;
    for (uint32_t i = 0; i + 1 < pct->depth; i++) {
        if (pct->changes[i] != pct->decision_count)
            continue;
        *priority = i;
        return true;
    }
    return false;
}

double pct_odds(uint32_t depth, int64_t fiber_count, int64_t decision_count)
{
    double odds = 1;
    if (decision_count == 0)
        return 1;
    odds /= (double)fiber_count;
    for (uint32_t i = 1; i < depth; i++)
        odds /= (double)decision_count;
    return odds;
}
