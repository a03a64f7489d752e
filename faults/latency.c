/* The way to the database is slow: before a statement is sent it is the request that takes long,
 * after it the reply, while the server is done already. Unless told otherwise every statement is
 * slow. */
#include <stddef.h>

#include "faults/fault.h"

struct latency_config {
    struct fault_common common;
    struct duration_range delay;
};

static const struct field latency_fields[] = {
    {.key = "delay",
     .type = FIELD_DURATION_RANGE,
     .offset = offsetof(struct latency_config, delay),
     .fallback = "10ms..2s",
     .about = "how much longer it takes, drawn from this range for each statement"},
    {.key = "probability",
     .type = FIELD_PROBABILITY,
     .offset = offsetof(struct fault_common, probability_per_million),
     .fallback = "1",
     .about = "how likely it strikes at each visit of a point"},
    {.key = "times",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct fault_common, times),
     .low = 0,
     .high = 1000000,
     .fallback = "0",
     .about = "how often it strikes at most; 0: no limit"},
};

static void latency_strike(struct fault_host *host, const void *config,
                           const struct fault_visit *visit)
{
    const struct latency_config *latency = config;

    (void)visit;
    fault_delay(host, fault_draw_duration(host, latency->delay));
}

const struct fault_kind fault_kind_latency = {
    .name = "latency",
    .about = "statements, and connects, take longer to arrive, or their answers",
    .example = "latency: {target: worker-1, delay: 100ms..30s, points: [db.exec, db.sent]}",
    .fields = latency_fields,
    .field_count = FP_COUNT(latency_fields),
    .config_size = sizeof(struct latency_config),
    .points = POINT_BIT(POINT_DB_OPEN) | POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_DB_COMMIT) |
              POINT_BIT(POINT_DB_SENT),
    .points_default = POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_DB_COMMIT),
    .strike = latency_strike,
};
