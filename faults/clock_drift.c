/* A machine whose clock runs at a rate of its own: a bad crystal, a virtual machine that is given
 * too little time. Its wall clock goes astray, and by its monotonic clock time passes faster or
 * slower too: timers fire early or late. */
#include "faults/clocks.h"

struct clock_drift_config {
    struct fault_common common;
    int64_t ppm;
    int direction; /* enum clock_direction */
};

static const struct field clock_drift_fields[] = {
    FROM_THE_START_FIELD,
    {.key = "ppm",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct clock_drift_config, ppm),
     .low = 1,
     .high = 500000,
     .fallback = "50000",
     .about = "how wrong its rate is, in parts of a million; 50000 is three minutes in an hour"},
    {.key = "direction",
     .type = FIELD_ENUM,
     .offset = offsetof(struct clock_drift_config, direction),
     .words = clock_direction_words,
     .fallback = "any",
     .about = "forwards: it runs too fast; backwards: too slow"},
    HEAL_AFTER_FIELD("0s"),
};

static void clock_drift_strike(struct fault_host *host, const void *config,
                               const struct fault_visit *visit)
{
    const struct clock_drift_config *drift = config;

    (void)visit;
    fault_drift_clock(host, clock_sign(host, drift->direction) * drift->ppm);
}

const struct fault_kind fault_kind_clock_drift = {
    .name = "clock_drift",
    .about = "the clock of a machine runs too fast or too slow, its timers with it",
    .example = "clock_drift: {target: any-worker, ppm: 100000, direction: backwards}",
    .fields = clock_drift_fields,
    .field_count = FP_COUNT(clock_drift_fields),
    .config_size = sizeof(struct clock_drift_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .takes_database = true,
    .strike = clock_drift_strike,
};
