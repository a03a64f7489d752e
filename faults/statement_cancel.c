/* An administrator cancels a statement with pg_cancel_backend, as a statement timeout would: it
 * ends with the server's own 57014, has had no effect, and aborts its transaction. The session goes
 * on. */
#include <stddef.h>

#include "faults/fault.h"

struct statement_cancel_config {
    struct fault_common common;
};

static void statement_cancel_strike(struct fault_host *host, const void *config,
                                    const struct fault_visit *visit)
{
    (void)config;
    FP_ASSERT(visit->point == POINT_DB_EXEC || visit->point == POINT_DB_BLOCKED);
    fault_cancel(host);
}

const struct fault_kind fault_kind_statement_cancel = {
    .name = "statement_cancel",
    .about = "an administrator cancels a statement: at its start, or while it waits for a lock",
    .example = "statement_cancel: {target: any-worker, operation: insert_lock}",
    .config_size = sizeof(struct statement_cancel_config),
    .points = POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_DB_BLOCKED),
    .points_default = POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_DB_BLOCKED),
    .strike = statement_cancel_strike,
};
