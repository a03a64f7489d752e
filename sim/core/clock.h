/* The clock of one machine, as a function of true (virtual) time. Zeroed it is right.
 *
 * Its wall clock may be set wrong and may be stepped; its monotonic clock never jumps. Both run at
 * the machine's own rate: a crystal that is off makes timers fire early or late as well. */
#ifndef FENCEPOST_CLOCK_H
#define FENCEPOST_CLOCK_H

#include "sim/core/base.h"

#define CLOCK_RATE_PPM_MAX 500000

struct machine_clock {
    int64_t wall_ahead_ns; /* of true time, at `since_ns` */
    int64_t mono_ahead_ns;
    int64_t since_ns;
    int64_t rate_ppm; /* how much faster than true time it runs, in a million; negative: slower */
};

/* What it shows at true time `now_ns`; true time 0 is 0 on both. */
int64_t clock_wall_ns(const struct machine_clock *clock, int64_t now_ns);
int64_t clock_mono_ns(const struct machine_clock *clock, int64_t now_ns);
/* When, in true time, its wall clock shows `wall_ns`, if it runs on as it does now. */
int64_t clock_when_ns(const struct machine_clock *clock, int64_t wall_ns);
/* How long a timer of that duration really takes; rounded up. */
int64_t clock_timer_ns(const struct machine_clock *clock, int64_t duration_ns);

/* The wall clock is put forward, or back. */
void clock_step(struct machine_clock *clock, int64_t by_ns);
/* From now on it runs at this rate. |rate_ppm| <= CLOCK_RATE_PPM_MAX. */
void clock_set_rate(struct machine_clock *clock, int64_t now_ns, int64_t rate_ppm);

#endif
