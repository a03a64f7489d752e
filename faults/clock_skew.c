/* A machine whose clock was never set right: everything it says about the date is wrong by as
 * much, from the start. Time passes on it as everywhere, and its monotonic clock does not know. A
 * process that is started again finds the same wrong clock. */
#include "faults/clocks.h"

struct clock_skew_config {
    struct fault_common common;
    struct duration_range by;
    int direction; /* enum clock_direction */
};

static const struct field clock_skew_fields[] = {
    FROM_THE_START_FIELD,
    {.key = "by",
     .type = FIELD_DURATION_RANGE,
     .offset = offsetof(struct clock_skew_config, by),
     .fallback = "2h",
     .about = "by how much, drawn from this range"},
    {.key = "direction",
     .type = FIELD_ENUM,
     .offset = offsetof(struct clock_skew_config, direction),
     .words = clock_direction_words,
     .fallback = "any",
     .about = "forwards: it shows a later time than it is; backwards: an earlier one"},
    HEAL_AFTER_FIELD("0s"),
};

static void clock_skew_strike(struct fault_host *host, const void *config,
                              const struct fault_visit *visit)
{
    const struct clock_skew_config *skew = config;

    (void)visit;
    int64_t sign = clock_sign(host, skew->direction);
    fault_step_clock(host, sign * fault_draw_duration(host, skew->by));
}

const struct fault_kind fault_kind_clock_skew = {
    .name = "clock_skew",
    .about = "the clock of a machine is wrong from the start, by hours",
    .example = "clock_skew: {target: any-worker, by: 2h, direction: forwards}",
    .fields = clock_skew_fields,
    .field_count = FP_COUNT(clock_skew_fields),
    .config_size = sizeof(struct clock_skew_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .takes_database = true,
    .strike = clock_skew_strike,
};
