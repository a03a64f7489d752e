/* The alert on contention, of the document's three the one that reads a metric. */
#include "reference_impl/job_locks/job_locks.h"

#define CONTENTION_SUBJECT "queue"

static bool is_contended(struct rt *rt)
{
    return rt_metric_sum(rt, METRIC_ACQUISITION_FAILURES, CONTENTION_WINDOW_NS) >
           CONTENTION_COUNT_MAX;
}

/* A rate can only begin to be too high with a failure, so it is looked at here: a burst between two
 * rounds of the janitor would go unseen. */
void monitor_failure(struct rt *rt, const char *reason)
{
    rt_metric_count(rt, METRIC_ACQUISITION_FAILURES, "reason", reason, 1);
    if (is_contended(rt))
        rt_alert(rt, ALERT_CONTENTION, "warning", CONTENTION_SUBJECT);
}

void monitor_round(struct rt *rt)
{
    if (!is_contended(rt))
        rt_alert_clear(rt, ALERT_CONTENTION, CONTENTION_SUBJECT);
}
