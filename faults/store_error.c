/* The artifact store does not answer. Nothing is read and nothing is written; the next call may
 * succeed. */
#include "faults/fault.h"

struct store_error_config {
    struct fault_common common;
};

static void store_error_strike(struct fault_host *host, const void *config,
                               const struct fault_visit *visit)
{
    (void)config;
    FP_ASSERT(visit->point == POINT_STORE_CALL);
    fault_fail_store(host);
}

const struct fault_kind fault_kind_store_error = {
    .name = "store_error",
    .about = "the artifact store does not answer",
    .example = "store_error: {probability: 0.2, times: 3}",
    .config_size = sizeof(struct store_error_config),
    .points = POINT_BIT(POINT_STORE_CALL),
    .points_default = POINT_BIT(POINT_STORE_CALL),
    .strike = store_error_strike,
};
