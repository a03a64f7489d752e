/* The clock of a machine is stepped while processes run on it: by an administrator, by a time
 * service that has found its peers, by a virtual machine that was moved. Monotonic clocks do not
 * jump. Transactions of a database that was struck keep the now() with which they began. */
#include "faults/clocks.h"

struct clock_jump_config {
    struct fault_common common;
    struct duration_range by;
    int direction; /* enum clock_direction */
};

static const struct field clock_jump_fields[] = {
    {.key = "by",
     .type = FIELD_DURATION_RANGE,
     .offset = offsetof(struct clock_jump_config, by),
     .fallback = "2h",
     .about = "by how much, drawn from this range"},
    {.key = "direction",
     .type = FIELD_ENUM,
     .offset = offsetof(struct clock_jump_config, direction),
     .words = clock_direction_words,
     .fallback = "any",
     .about = "forwards: it shows a later time than it is; backwards: an earlier one"},
    HEAL_AFTER_FIELD("0s"),
};

static void clock_jump_strike(struct fault_host *host, const void *config,
                              const struct fault_visit *visit)
{
    const struct clock_jump_config *jump = config;

    (void)visit;
    int64_t sign = clock_sign(host, jump->direction);
    fault_step_clock(host, sign * fault_draw_duration(host, jump->by));
}

const struct fault_kind fault_kind_clock_jump = {
    .name = "clock_jump",
    .about = "the clock of a machine is put forward or back while it is in use",
    .example = "clock_jump: {target: database, by: 1h..3h, direction: backwards, heal_after: 30m}",
    .fields = clock_jump_fields,
    .field_count = FP_COUNT(clock_jump_fields),
    .config_size = sizeof(struct clock_jump_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .takes_database = true,
    .strike = clock_jump_strike,
};
