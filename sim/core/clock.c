#include "sim/core/clock.h"

#define MILLION INT64_C(1000000)

/* In two parts, so that years do not overflow. */
static int64_t parts(int64_t ns, int64_t ppm)
{
    return ns / MILLION * ppm + ns % MILLION * ppm / MILLION;
}

static int64_t gained_ns(const struct machine_clock *clock, int64_t now_ns)
{
    return parts(now_ns - clock->since_ns, clock->rate_ppm);
}

int64_t clock_wall_ns(const struct machine_clock *clock, int64_t now_ns)
{
    return now_ns + clock->wall_ahead_ns + gained_ns(clock, now_ns);
}

int64_t clock_mono_ns(const struct machine_clock *clock, int64_t now_ns)
{
    return now_ns + clock->mono_ahead_ns + gained_ns(clock, now_ns);
}

/* ns * MILLION / rate, rounded up. */
static int64_t divided_ns(int64_t ns, int64_t rate)
{
    int64_t rest = ns % rate * MILLION;
    return ns / rate * MILLION + rest / rate + (rest % rate > 0);
}

int64_t clock_when_ns(const struct machine_clock *clock, int64_t wall_ns)
{
    int64_t left_ns = wall_ns - clock->since_ns - clock->wall_ahead_ns;
    return clock->since_ns + divided_ns(left_ns, MILLION + clock->rate_ppm);
}

int64_t clock_timer_ns(const struct machine_clock *clock, int64_t duration_ns)
{
    FP_ASSERT(duration_ns >= 0);
    return divided_ns(duration_ns, MILLION + clock->rate_ppm);
}

void clock_step(struct machine_clock *clock, int64_t by_ns)
{
    clock->wall_ahead_ns += by_ns;
}

void clock_set_rate(struct machine_clock *clock, int64_t now_ns, int64_t rate_ppm)
{
    FP_ASSERT(rate_ppm >= -CLOCK_RATE_PPM_MAX && rate_ppm <= CLOCK_RATE_PPM_MAX);
    int64_t gained = gained_ns(clock, now_ns);
    clock->wall_ahead_ns += gained;
    clock->mono_ahead_ns += gained;
    clock->since_ns = now_ns;
    clock->rate_ppm = rate_ppm;
}
