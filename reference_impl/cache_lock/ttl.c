/* How long an entry lives: a few minutes while more of its day may come, else for ever. Hardened,
 * that is what the source said when it was read. The document asks the machine's clock. */
#include <stdlib.h>
#include <string.h>

#include "reference_impl/cache_lock/cache_lock.h"

#define DATE_SIZE 10

static const char *date_of(struct rt *rt, int64_t wall_ns)
{
    const char *text = rt_wall_text(rt, (wall_time){.ns = wall_ns});
    return rt_printf(rt, "%.*s", DATE_SIZE, text);
}

/* Of "2026-01-01 00:03:59.5+00" the 3. */
static long minutes_since_midnight(struct rt *rt, wall_time now)
{
    const char *clock = rt_wall_text(rt, now) + DATE_SIZE + 1;
    return strtol(clock, NULL, 10) * 60 + strtol(strchr(clock, ':') + 1, NULL, 10);
}

/* The document's isCurrentDayWithGracePeriod. */
static bool is_current_with_grace(struct rt *rt, const char *date, wall_time now)
{
    int order = strcmp(date, date_of(rt, now.ns));

    if (order == 0)
        return true;
    if (order > 0)
        return !rt_weak(rt, CACHE_LOCK_WEAK_FUTURE_DAY_IS_HISTORICAL);
    if (strcmp(date, date_of(rt, now.ns - NS_PER_DAY)) != 0)
        return false;
    return minutes_since_midnight(rt, now) <= GRACE_MIN;
}

static bool decide(struct rt *rt, const struct rebuild *rebuild, wall_time started)
{
    if (rt_weak(rt, CACHE_LOCK_WEAK_TTL_BY_END_TIME))
        return is_current_with_grace(rt, rebuild->date, rt_wall_now(rt));
    if (rt_weak(rt, CACHE_LOCK_WEAK_TTL_BY_START_TIME))
        return is_current_with_grace(rt, rebuild->date, started);
    return !source_is_closed(rebuild->data);
}

bool day_goes_on(struct rt *rt, const struct rebuild *rebuild, wall_time started)
{
    bool goes_on = decide(rt, rebuild, started);

    /* The day is over by the date, and is treated as if it were not. */
    if (goes_on && strcmp(rebuild->date, date_of(rt, rt_wall_now(rt).ns)) < 0)
        cache_count(rt, METRIC_GRACE);
    return goes_on;
}
