/* What a monitoring system has collected: counters and histograms with one label, sums over a
 * window of virtual time, and alerts that fire until they are cleared. A model: no clock, no
 * waiting; every call gets the virtual time, which must never run backwards.
 *
 * It outlives the processes that it watches: what was counted stays counted when they die. */
#ifndef FENCEPOST_METRICS_H
#define FENCEPOST_METRICS_H

#include "sim/core/strbuf.h"
#include "sim/rt.h"

#define METRICS_SERIES_COUNT_MAX 4096
#define METRICS_SAMPLE_COUNT_MAX (1 << 22)
#define METRICS_ALERT_COUNT_MAX 4096
#define METRICS_NAME_SIZE_MAX 96
#define METRICS_VALUE_SIZE_MAX 96

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);  /* NULL is allowed */
void metrics_reset(struct metrics *metrics); /* as new; keeps the memory */

/* Text for the HELP line of a metric. Both are copied. May come before or after the first count. */
void metrics_describe(struct metrics *metrics, const char *name, const char *help);

/* Count `add` more of name{label="value"}. `add` >= 0, label may be NULL and value then is ignored.
 * A name is a counter or a histogram, never both; all its series have the same label. False: one of
 * the maxima above is reached, nothing was counted. */
bool metrics_count(struct metrics *metrics, int64_t now_ns, const char *name, const char *label,
                   const char *value, int64_t add);
/* One observation of a duration. The histogram is in seconds. duration_ns >= 0. Else as above. */
bool metrics_observe(struct metrics *metrics, int64_t now_ns, const char *name, const char *label,
                     const char *value, int64_t duration_ns);
/* How much was counted, or how often was observed, over all labels, later than now - window_ns. */
int64_t metrics_sum(const struct metrics *metrics, int64_t now_ns, const char *name,
                    int64_t window_ns);

/* True: it did not fire for this subject and does now. False: it fires already. */
bool metrics_alert(struct metrics *metrics, int64_t now_ns, const char *alert, const char *severity,
                   const char *subject);
/* True: it fired and does no more. False: it did not fire. */
bool metrics_alert_clear(struct metrics *metrics, int64_t now_ns, const char *alert,
                         const char *subject);

/* ---- what reports and checks use ---- */

/* Every duration that was observed of this name, over all labels, in the order of their coming. */
typedef void metrics_duration_hook(void *self, int64_t duration_ns);
void metrics_each_duration(const struct metrics *metrics, const char *name,
                           metrics_duration_hook *hook, void *self);

/* Every alert that ever fired, in the order of firing; the same one twice when it was cleared in
 * between. Text belongs to the metrics. */
struct metrics_alert_view {
    const char *alert;
    const char *severity;
    const char *subject;
    int64_t since_ns;
    int64_t until_ns; /* -1: it still fires */
};
int metrics_alert_count(const struct metrics *metrics);
void metrics_alert_at(const struct metrics *metrics, int index, struct metrics_alert_view *view);

/* Everything in Prometheus' text format 0.0.4: metrics by name, series by label value, each metric
 * with its TYPE and, when it was described, its HELP; and ALERTS, as Prometheus itself names them,
 * with 1 for what fires and 0 for what was cleared. */
void metrics_write(const struct metrics *metrics, struct strbuf *out);

#endif
