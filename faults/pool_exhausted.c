/* Only so many connections are to be had, by all actors or by those of the target: who holds one
 * for long starves the others. A connect waits for a place, and gives up after a while. */
#include <stddef.h>

#include "faults/fault.h"

struct pool_exhausted_config {
    struct fault_common common;
    int64_t limit;
    int64_t wait_ns;
};

static const struct field pool_exhausted_fields[] = {
    FROM_THE_START_FIELD,
    {.key = "limit",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct pool_exhausted_config, limit),
     .low = 1,
     .high = 64,
     .fallback = "3",
     .about = "so many connections at a time; what is open already stays open"},
    {.key = "wait",
     .type = FIELD_DURATION,
     .offset = offsetof(struct pool_exhausted_config, wait_ns),
     .fallback = "30s",
     .about = "how long a connect waits for a place before it fails"},
    HEAL_AFTER_FIELD("0s"),
};

static void pool_exhausted_strike(struct fault_host *host, const void *config,
                                  const struct fault_visit *visit)
{
    const struct pool_exhausted_config *pool = config;

    (void)visit;
    fault_limit_connections(host, (int)pool->limit, pool->wait_ns);
}

const struct fault_kind fault_kind_pool_exhausted = {
    .name = "pool_exhausted",
    .about = "only so many connections at a time: long-held ones starve others",
    .example = "pool_exhausted: {limit: 4, wait: 30s, heal_after: 2h}",
    .fields = pool_exhausted_fields,
    .field_count = FP_COUNT(pool_exhausted_fields),
    .config_size = sizeof(struct pool_exhausted_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .of_environment = true,
    .strike = pool_exhausted_strike,
};
