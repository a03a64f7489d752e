/* The primary dies for good and a standby is promoted. What the standby never received is lost,
 * although it was committed and answered: nothing with synchronous replication, and with
 * asynchronous replication whatever came within its lag (see replication_lag.c). */
#include <stddef.h>

#include "faults/fault.h"

struct failover_config {
    struct fault_common common;
};

static const struct field failover_fields[] = {
    HEAL_AFTER_FIELD("10s..2m"),
};

static void failover_strike(struct fault_host *host, const void *config,
                            const struct fault_visit *visit)
{
    (void)config;
    (void)visit;
    fault_fail_over(host);
}

const struct fault_kind fault_kind_failover = {
    .name = "failover",
    .about = "the primary dies and a standby is promoted; what it has not received is lost",
    .example = "failover: {points: db.committed, probability: 0.1, heal_after: 30s}",
    .fields = failover_fields,
    .field_count = FP_COUNT(failover_fields),
    .config_size = sizeof(struct failover_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .of_environment = true,
    .kills_server = true,
    .needs_standby = true,
    .strike = failover_strike,
};
