/* What a monitoring system sees of the actors: metrics, which are not events, and alerts, which
 * are. */
#include "sim/run/internal.h"

void seam_monitor_begin(struct run *run)
{
    const struct strategy *strategy = run->scenario->strategy;
    metrics_reset(run->lane->metrics);
    for (size_t i = 0; i < strategy->metric_count; i++)
        metrics_describe(run->lane->metrics, strategy->metrics[i].name, strategy->metrics[i].about);
}

void rt_metric_count(struct rt *rt, const char *metric, const char *label, const char *value,
                     int64_t add)
{
    struct run *run = rt->run;
    if (!metrics_count(run->lane->metrics, sched_now_ns(run->sched), metric, label, value, add))
        run_trouble(run, "too many metrics");
}

void rt_metric_observe(struct rt *rt, const char *metric, const char *label, const char *value,
                       int64_t duration_ns)
{
    struct run *run = rt->run;
    if (!metrics_observe(run->lane->metrics, sched_now_ns(run->sched), metric, label, value,
                         duration_ns))
        run_trouble(run, "too many metrics");
}

int64_t rt_metric_sum(struct rt *rt, const char *metric, int64_t window_ns)
{
    return metrics_sum(rt->run->lane->metrics, sched_now_ns(rt->run->sched), metric, window_ns);
}

void rt_alert(struct rt *rt, const char *alert, const char *severity, const char *subject)
{
    struct run *run = rt->run;
    if (!metrics_alert(run->lane->metrics, sched_now_ns(run->sched), alert, severity, subject))
        return;
    trace_event(run->trace, "alert", fiber_name(rt->fiber), "alert", alert, "severity", severity,
                "subject", subject, NULL);
}

void rt_alert_clear(struct rt *rt, const char *alert, const char *subject)
{
    struct run *run = rt->run;
    if (!metrics_alert_clear(run->lane->metrics, sched_now_ns(run->sched), alert, subject))
        return;
    trace_event(run->trace, "alert.cleared", fiber_name(rt->fiber), "alert", alert, "subject",
                subject, NULL);
}
