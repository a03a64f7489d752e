/* The whole process stands still and does not know it: a stopped virtual machine, a long garbage
 * collection, a machine that swaps. Its connections stay open, its timers fire late. */
#include <stddef.h>

#include "faults/fault.h"

struct pause_config {
    struct fault_common common;
    struct duration_range duration;
};

static const struct field pause_fields[] = {
    {.key = "for",
     .type = FIELD_DURATION_RANGE,
     .offset = offsetof(struct pause_config, duration),
     .fallback = "1m..90m",
     .about = "how long the process stands still, drawn from this range"},
};

static void pause_strike(struct fault_host *host, const void *config,
                         const struct fault_visit *visit)
{
    const struct pause_config *pause = config;

    (void)visit;
    FP_ASSERT(pause->duration.low_ns <= pause->duration.high_ns);
    fault_pause(host, fault_draw_duration(host, pause->duration));
}

const struct fault_kind fault_kind_pause = {
    .name = "pause",
    .about = "the process stands still for a while and does not know it",
    .example = "pause: {target: any-worker, points: cloud.call, for: 70m..3h}",
    .fields = pause_fields,
    .field_count = FP_COUNT(pause_fields),
    .config_size = sizeof(struct pause_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .strike = pause_strike,
};
