/* What the tests of the invariants about aggregates share: the numbers of one parent. */
#ifndef FENCEPOST_CHECK_TOTALS_H
#define FENCEPOST_CHECK_TOTALS_H

#include "tests/lib/check_fixture.h"

static inline void total(const char *op, const char *jobs, const char *failed)
{
    next_commit();
    trace_event(fixture.trace, "row", "worker-1", "table", "totals", "op", op, "id", "demo", "jobs",
                jobs, "failed", failed, NULL);
}

static inline void job_of(const char *id, const char *status)
{
    next_commit();
    job("insert", id, "demo", "CREATE", status, NULL, NULL);
}

#endif
