/* An administrator ends a session with pg_terminate_backend: its transaction is rolled back, its
 * locks go, and the client learns of it at its next use, or at once when it waits for a lock. */
#include <stddef.h>

#include "faults/fault.h"

struct backend_terminate_config {
    struct fault_common common;
};

/* While a statement is on its way its session is busy for no time at all. */
#define TERMINATE_POINTS (POINTS_ALL & ~POINT_BIT(POINT_DB_SENT) & ~POINT_BIT(POINT_DB_OPEN))

static void backend_terminate_strike(struct fault_host *host, const void *config,
                                     const struct fault_visit *visit)
{
    (void)config;
    FP_ASSERT((TERMINATE_POINTS & POINT_BIT(visit->point)) != 0);
    fault_terminate(host);
}

const struct fault_kind fault_kind_backend_terminate = {
    .name = "backend_terminate",
    .about = "an administrator ends a session of the target",
    .example = "backend_terminate: {target: any-worker, points: [db.done, db.blocked], times: 3}",
    .config_size = sizeof(struct backend_terminate_config),
    .points = TERMINATE_POINTS,
    .points_default = TERMINATE_POINTS & POINTS_AT_WORK,
    .strike = backend_terminate_strike,
};
