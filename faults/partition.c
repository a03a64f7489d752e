/* An actor's machine cannot reach the database for a while. Refused: connects fail at once, open
 * connections are lost at their next use, and the server learns of it. Hanging: packets vanish; the
 * client waits until its own patience ends, the server knows nothing and holds what it holds, and
 * what arrived goes on. When it heals in time, whoever waits is answered as if nothing had been. */
#include <stddef.h>

#include "faults/fault.h"

struct partition_config {
    struct fault_common common;
    int how; /* enum partition_how, then any */
};

static const char *const how_words[] = {"refused", "hanging", "any", NULL};

static const struct field partition_fields[] = {
    {.key = "how",
     .type = FIELD_ENUM,
     .offset = offsetof(struct partition_config, how),
     .words = how_words,
     .fallback = "any",
     .about = "refused: everything fails at once; hanging: nothing is answered until the client "
              "gives up; any: one of them, drawn"},
    HEAL_AFTER_FIELD("10s..30m"),
};

static void partition_strike(struct fault_host *host, const void *config,
                             const struct fault_visit *visit)
{
    const struct partition_config *partition = config;

    (void)visit;
    int how = partition->how;
    if (how == PARTITION_HOW_COUNT)
        how = (int)fault_draw(host, PARTITION_HOW_COUNT);
    fault_partition(host, (enum partition_how)how);
}

const struct fault_kind fault_kind_partition = {
    .name = "partition",
    .about = "an actor cannot reach the database for a while",
    .example = "partition: {target: any-worker, how: hanging, heal_after: 5m..2h}",
    .fields = partition_fields,
    .field_count = FP_COUNT(partition_fields),
    .config_size = sizeof(struct partition_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .strike = partition_strike,
};
