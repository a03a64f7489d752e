/* The document's metrics, and the alerts that are made of them. The rates are of the last hour: of
 * all time they would hide a bad hour behind a good year, and never end. */
#include "reference_impl/cache_lock/cache_lock.h"

#define WINDOW_NS NS_PER_HOUR
/* Of fewer a rate says nothing. */
#define SAMPLE_COUNT_MIN 10
/* "Frequent", of which the document gives no number. */
#define GRACE_COUNT_MAX 3
#define SUBJECT "cache"

static int64_t recent(struct rt *rt, const char *metric)
{
    return rt_metric_sum(rt, metric, WINDOW_NS);
}

static void set_alert(struct rt *rt, const char *alert, bool is_on)
{
    if (is_on)
        rt_alert(rt, alert, "warning", SUBJECT);
    else
        rt_alert_clear(rt, alert, SUBJECT);
}

/* part / (part + rest) above so many percent? */
static bool is_above(int64_t part, int64_t rest, int64_t percent)
{
    return part + rest >= SAMPLE_COUNT_MIN && part * 100 > percent * (part + rest);
}

void cache_count(struct rt *rt, const char *metric)
{
    rt_metric_count(rt, metric, NULL, NULL, 1);
    set_alert(
        rt, ALERT_CONTENTION,
        is_above(recent(rt, METRIC_NOT_LOCKED), recent(rt, METRIC_LOCKED), CONTENTION_PERCENT_MAX));
    set_alert(
        rt, ALERT_HIT_RATE,
        is_above(recent(rt, METRIC_MISSES), recent(rt, METRIC_HITS), 100 - HIT_RATE_PERCENT_MIN));
    set_alert(rt, ALERT_GRACE, recent(rt, METRIC_GRACE) > GRACE_COUNT_MAX);
}
