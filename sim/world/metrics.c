#include "sim/world/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/common.h"

#define HELP_SIZE_MAX 256

/* Upper ends of the buckets, in seconds. From a slow statement to a day's work: locks are held, and
 * jobs run, for minutes to hours; 3600 is the documents' lease, 5400 their longest job. */
static const int64_t bucket_s[] = {1, 10, 60, 300, 600, 1200, 1800, 3600, 5400, 7200, 14400, 43200};
#define BUCKET_COUNT (sizeof bucket_s / sizeof bucket_s[0])

struct family {
    char name[METRICS_NAME_SIZE_MAX];
    char label[METRICS_NAME_SIZE_MAX]; /* "": none */
    char help[HELP_SIZE_MAX];          /* "": not described */
    bool used;                         /* false: only described so far */
    bool histogram;
};

struct series {
    size_t family;
    char value[METRICS_VALUE_SIZE_MAX];
    int64_t count;  /* of a histogram: observations */
    int64_t sum_ns; /* of a histogram */
    int64_t buckets[BUCKET_COUNT];
};

/* One call, for sums over a window. */
struct sample {
    int64_t t_ns;
    size_t family;
    int64_t add;
    int64_t duration_ns; /* of a histogram */
};

struct alert {
    char name[METRICS_NAME_SIZE_MAX];
    char severity[METRICS_NAME_SIZE_MAX];
    char subject[METRICS_VALUE_SIZE_MAX];
    int64_t since_ns;
    int64_t until_ns;
};

struct metrics {
    int64_t now_ns;
    struct family *families;
    size_t family_count, family_capacity;
    struct series *series;
    size_t series_count, series_capacity;
    struct sample *samples; /* ordered by time */
    size_t sample_count, sample_capacity;
    struct alert *alerts;
    size_t alert_count, alert_capacity;
};

struct metrics *metrics_new(void)
{
    return fp_alloc(sizeof(struct metrics));
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    free(metrics->families);
    free(metrics->series);
    free(metrics->samples);
    free(metrics->alerts);
    free(metrics);
}

void metrics_reset(struct metrics *metrics)
{
    metrics->now_ns = 0;
    metrics->family_count = 0;
    metrics->series_count = 0;
    metrics->sample_count = 0;
    metrics->alert_count = 0;
}

static void enter(struct metrics *metrics, int64_t now_ns)
{
    FP_ASSERT(now_ns >= metrics->now_ns);
    metrics->now_ns = now_ns;
}

/* ---- families and series ---- */

/* A name that Prometheus would not take is a mistake in the strategy. */
static bool is_name(const char *name)
{
    for (size_t i = 0; name[i]; i++) {
        bool letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                      name[i] == '_';
        bool digit = name[i] >= '0' && name[i] <= '9';
        if (!letter && !(digit && i > 0))
            return false;
    }
    return name[0] != '\0';
}

static struct family *find_family(const struct metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->family_count; i++)
        if (strcmp(metrics->families[i].name, name) == 0)
            return &metrics->families[i];
    return NULL;
}

static struct family *family_of(struct metrics *metrics, const char *name)
{
    struct family *family = find_family(metrics, name);

    FP_ASSERT(is_name(name));
    if (family)
        return family;
    metrics->families = world_grow(metrics->families, metrics->family_count,
                                   &metrics->family_capacity, sizeof(*metrics->families));
    family = &metrics->families[metrics->family_count++];
    memset(family, 0, sizeof(*family));
    world_copy_text(family->name, sizeof(family->name), name);
    return family;
}

void metrics_describe(struct metrics *metrics, const char *name, const char *help)
{
    struct family *family = family_of(metrics, name);

    world_copy_text(family->help, sizeof(family->help), help);
}

static size_t use_family(struct metrics *metrics, const char *name, const char *label,
                         bool histogram)
{
    struct family *family = family_of(metrics, name);

    if (!family->used) {
        FP_ASSERT(label == NULL || is_name(label));
        world_copy_text(family->label, sizeof(family->label), label);
        family->histogram = histogram;
        family->used = true;
    }
    FP_ASSERT(family->histogram == histogram);
    FP_ASSERT(strcmp(family->label, label ? label : "") == 0);
    return (size_t)(family - metrics->families);
}

/* NULL: there is no room for another. */
static struct series *series_of(struct metrics *metrics, size_t family, const char *value)
{
    struct series *series;

    for (size_t i = 0; i < metrics->series_count; i++) {
        series = &metrics->series[i];
        if (series->family == family && strcmp(series->value, value) == 0)
            return series;
    }
    if (metrics->series_count >= METRICS_SERIES_COUNT_MAX)
        return NULL;
    metrics->series = world_grow(metrics->series, metrics->series_count, &metrics->series_capacity,
                                 sizeof(*metrics->series));
    series = &metrics->series[metrics->series_count++];
    memset(series, 0, sizeof(*series));
    series->family = family;
    world_copy_text(series->value, sizeof(series->value), value);
    return series;
}

/* Adds to the series and remembers when. NULL: no room. */
static struct series *add(struct metrics *metrics, size_t family, const char *value, int64_t amount)
{
    struct series *series = series_of(metrics, family, value ? value : "");

    FP_ASSERT(amount >= 0);
    if (!series || metrics->sample_count >= METRICS_SAMPLE_COUNT_MAX)
        return NULL;
    metrics->samples = world_grow(metrics->samples, metrics->sample_count,
                                  &metrics->sample_capacity, sizeof(*metrics->samples));
    metrics->samples[metrics->sample_count++] =
        (struct sample){.t_ns = metrics->now_ns, .family = family, .add = amount};
    series->count += amount;
    return series;
}

bool metrics_count(struct metrics *metrics, int64_t now_ns, const char *name, const char *label,
                   const char *value, int64_t amount)
{
    enter(metrics, now_ns);
    size_t family = use_family(metrics, name, label, false);
    return add(metrics, family, label ? value : "", amount) != NULL;
}

bool metrics_observe(struct metrics *metrics, int64_t now_ns, const char *name, const char *label,
                     const char *value, int64_t duration_ns)
{
    FP_ASSERT(duration_ns >= 0);
    enter(metrics, now_ns);
    size_t family = use_family(metrics, name, label, true);
    struct series *series = add(metrics, family, label ? value : "", 1);
    if (!series)
        return false;
    metrics->samples[metrics->sample_count - 1].duration_ns = duration_ns;
    series->sum_ns = world_later_ns(series->sum_ns, duration_ns);
    for (size_t i = 0; i < BUCKET_COUNT; i++)
        if (duration_ns <= bucket_s[i] * NS_PER_S)
            series->buckets[i]++;
    return true;
}

int64_t metrics_sum(const struct metrics *metrics, int64_t now_ns, const char *name,
                    int64_t window_ns)
{
    const struct family *family = find_family(metrics, name);
    int64_t sum = 0;

    FP_ASSERT(now_ns >= metrics->now_ns);
    FP_ASSERT(window_ns >= 0);
    for (size_t i = metrics->sample_count; family && i > 0; i--) {
        const struct sample *sample = &metrics->samples[i - 1];
        if (now_ns - sample->t_ns >= window_ns)
            break;
        if (&metrics->families[sample->family] == family)
            sum += sample->add;
    }
    return sum;
}

void metrics_each_duration(const struct metrics *metrics, const char *name,
                           metrics_duration_hook *hook, void *self)
{
    const struct family *family = find_family(metrics, name);

    for (size_t i = 0; family && family->histogram && i < metrics->sample_count; i++)
        if (&metrics->families[metrics->samples[i].family] == family)
            hook(self, metrics->samples[i].duration_ns);
}

/* ---- alerts ---- */

static struct alert *find_firing(const struct metrics *metrics, const char *name,
                                 const char *subject)
{
    for (size_t i = metrics->alert_count; i > 0; i--) {
        struct alert *alert = &metrics->alerts[i - 1];
        if (alert->until_ns < 0 && strcmp(alert->name, name) == 0 &&
            strcmp(alert->subject, subject) == 0)
            return alert;
    }
    return NULL;
}

bool metrics_alert(struct metrics *metrics, int64_t now_ns, const char *name, const char *severity,
                   const char *subject)
{
    FP_ASSERT(is_name(name));
    enter(metrics, now_ns);
    if (find_firing(metrics, name, subject) || metrics->alert_count >= METRICS_ALERT_COUNT_MAX)
        return false;
    metrics->alerts = world_grow(metrics->alerts, metrics->alert_count, &metrics->alert_capacity,
                                 sizeof(*metrics->alerts));
    struct alert *alert = &metrics->alerts[metrics->alert_count++];
    memset(alert, 0, sizeof(*alert));
    world_copy_text(alert->name, sizeof(alert->name), name);
    world_copy_text(alert->severity, sizeof(alert->severity), severity);
    world_copy_text(alert->subject, sizeof(alert->subject), subject);
    alert->since_ns = now_ns;
    alert->until_ns = -1;
    return true;
}

bool metrics_alert_clear(struct metrics *metrics, int64_t now_ns, const char *name,
                         const char *subject)
{
    enter(metrics, now_ns);
    struct alert *alert = find_firing(metrics, name, subject);
    if (!alert)
        return false;
    alert->until_ns = now_ns;
    return true;
}

int metrics_alert_count(const struct metrics *metrics)
{
    return (int)metrics->alert_count;
}

void metrics_alert_at(const struct metrics *metrics, int index, struct metrics_alert_view *view)
{
    FP_ASSERT(index >= 0);
    FP_ASSERT((size_t)index < metrics->alert_count);
    const struct alert *alert = &metrics->alerts[index];
    *view = (struct metrics_alert_view){.alert = alert->name,
                                        .severity = alert->severity,
                                        .subject = alert->subject,
                                        .since_ns = alert->since_ns,
                                        .until_ns = alert->until_ns};
}

/* ---- the text format ---- */

/* A label's value: backslash, quote and newline are escaped. */
static void put_value(struct strbuf *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '\n') {
            strbuf_puts(out, "\\n");
            continue;
        }
        if (*value == '\\' || *value == '"')
            strbuf_putc(out, '\\');
        strbuf_putc(out, *value);
    }
}

static void put_label(struct strbuf *out, const char *label, const char *value, bool first)
{
    strbuf_printf(out, "%s%s=\"", first ? "" : ",", label);
    put_value(out, value);
    strbuf_putc(out, '"');
}

static void put_seconds(struct strbuf *out, int64_t ns)
{
    strbuf_printf(out, "%" PRId64 ".%09" PRId64, ns / NS_PER_S, ns % NS_PER_S);
}

static void put_name(struct strbuf *out, const struct family *family, const struct series *series,
                     const char *suffix)
{
    strbuf_printf(out, "%s%s", family->name, suffix);
    if (family->label[0] == '\0')
        return;
    strbuf_putc(out, '{');
    put_label(out, family->label, series->value, true);
    strbuf_putc(out, '}');
}

static void put_bucket(struct strbuf *out, const struct family *family, const struct series *series,
                       const char *upto, int64_t count)
{
    strbuf_printf(out, "%s_bucket{", family->name);
    if (family->label[0] != '\0')
        put_label(out, family->label, series->value, true);
    put_label(out, "le", upto, family->label[0] == '\0');
    strbuf_printf(out, "} %" PRId64 "\n", count);
}

static void put_histogram(struct strbuf *out, const struct family *family,
                          const struct series *series)
{
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        char upto[24];
        snprintf(upto, sizeof upto, "%" PRId64, bucket_s[i]);
        put_bucket(out, family, series, upto, series->buckets[i]);
    }
    put_bucket(out, family, series, "+Inf", series->count);
    put_name(out, family, series, "_sum");
    strbuf_putc(out, ' ');
    put_seconds(out, series->sum_ns);
    strbuf_putc(out, '\n');
    put_name(out, family, series, "_count");
    strbuf_printf(out, " %" PRId64 "\n", series->count);
}

static void put_series(struct strbuf *out, const struct family *family, const struct series *series)
{
    if (family->histogram) {
        put_histogram(out, family, series);
        return;
    }
    put_name(out, family, series, "");
    strbuf_printf(out, " %" PRId64 "\n", series->count);
}

/* The least series of the family after `after` by its label's value; NULL: there is none. */
static const struct series *next_series(const struct metrics *metrics, size_t family,
                                        const struct series *after)
{
    const struct series *next = NULL;

    for (size_t i = 0; i < metrics->series_count; i++) {
        const struct series *series = &metrics->series[i];
        if (series->family != family || (after && strcmp(series->value, after->value) <= 0))
            continue;
        if (!next || strcmp(series->value, next->value) < 0)
            next = series;
    }
    return next;
}

static const struct family *next_family(const struct metrics *metrics, const struct family *after)
{
    const struct family *next = NULL;

    for (size_t i = 0; i < metrics->family_count; i++) {
        const struct family *family = &metrics->families[i];
        if (!family->used || (after && strcmp(family->name, after->name) <= 0))
            continue;
        if (!next || strcmp(family->name, next->name) < 0)
            next = family;
    }
    return next;
}

static void put_family(const struct metrics *metrics, const struct family *family,
                       struct strbuf *out)
{
    size_t index = (size_t)(family - metrics->families);

    if (family->help[0] != '\0')
        strbuf_printf(out, "# HELP %s %s\n", family->name, family->help);
    strbuf_printf(out, "# TYPE %s %s\n", family->name, family->histogram ? "histogram" : "counter");
    for (const struct series *series = next_series(metrics, index, NULL); series;
         series = next_series(metrics, index, series))
        put_series(out, family, series);
}

/* Did it fire again later? Then this is not the latest of it. */
static bool is_superseded(const struct metrics *metrics, size_t index)
{
    const struct alert *alert = &metrics->alerts[index];

    for (size_t i = index + 1; i < metrics->alert_count; i++)
        if (strcmp(metrics->alerts[i].name, alert->name) == 0 &&
            strcmp(metrics->alerts[i].subject, alert->subject) == 0)
            return true;
    return false;
}

static void put_alerts(const struct metrics *metrics, struct strbuf *out)
{
    strbuf_puts(out, "# HELP ALERTS Alerts that fired; 1 while they do.\n# TYPE ALERTS gauge\n");
    for (size_t i = 0; i < metrics->alert_count; i++) {
        const struct alert *alert = &metrics->alerts[i];
        if (is_superseded(metrics, i))
            continue;
        strbuf_puts(out, "ALERTS{");
        put_label(out, "alertname", alert->name, true);
        put_label(out, "severity", alert->severity, false);
        put_label(out, "subject", alert->subject, false);
        strbuf_printf(out, "} %d\n", alert->until_ns < 0);
    }
}

void metrics_write(const struct metrics *metrics, struct strbuf *out)
{
    for (const struct family *family = next_family(metrics, NULL); family;
         family = next_family(metrics, family))
        put_family(metrics, family, out);
    if (metrics->alert_count > 0)
        put_alerts(metrics, out);
}
