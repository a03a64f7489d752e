/* Standbys fall behind: a slow network, a long query that holds replay back, a disk that does not
 * keep up. Whoever reads there reads the past. With asynchronous replication a standby has not even
 * received what it does not show. */
#include <stddef.h>

#include "faults/fault.h"

struct replication_lag_config {
    struct fault_common common;
    struct duration_range by;
};

static const struct field replication_lag_fields[] = {
    {.key = "by",
     .type = FIELD_DURATION_RANGE,
     .offset = offsetof(struct replication_lag_config, by),
     .fallback = "0s",
     .about =
         "how much later a commit is seen on a standby, drawn from this range; 0s: nothing new "
         "is seen until it is healed"},
    HEAL_AFTER_FIELD("10m..1h"),
};

static void replication_lag_strike(struct fault_host *host, const void *config,
                                   const struct fault_visit *visit)
{
    const struct replication_lag_config *lag = config;

    (void)visit;
    fault_lag(host, fault_draw_duration(host, lag->by));
}

const struct fault_kind fault_kind_replication_lag = {
    .name = "replication_lag",
    .about = "standbys show the past, by a duration or until healed",
    .example = "replication_lag: {at: 2m, by: 5m..20m, heal_after: 1h}",
    .fields = replication_lag_fields,
    .field_count = FP_COUNT(replication_lag_fields),
    .config_size = sizeof(struct replication_lag_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .of_environment = true,
    .needs_standby = true,
    .strike = replication_lag_strike,
};
