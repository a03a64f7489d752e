#include "sim/run/measured.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/metrics.h"
#include "sim/world/service.h"

#define DUPLICATES "duplicate_effects"
#define DIGITS_MAX 1000 /* of what is kept of a duration */

struct into {
    struct tally *tally;
    const char *name;
};

static int64_t rounded_us(int64_t duration_ns)
{
    int64_t us = duration_ns / NS_PER_US;
    int64_t unit = 1;
    while (us / unit >= DIGITS_MAX)
        unit *= 10;
    return us / unit * unit;
}

static void take_duration(void *self, int64_t duration_ns)
{
    const struct into *into = self;
    char key[TALLY_KEY_SIZE_MAX];
    int size = snprintf(key, sizeof key, "%s %015" PRId64, into->name, rounded_us(duration_ns));
    FP_ASSERT(size > 0 && (size_t)size < sizeof key);
    tally_add(into->tally, key, 1);
}

static bool has_metric(const struct strategy *strategy, size_t index)
{
    return strategy->summary_metrics != NULL && strategy->summary_metrics[index] != NULL;
}

void measured_take(const struct strategy *strategy, const struct metrics *metrics,
                   const struct service *service, struct tally *tally)
{
    if (strategy->effect_count > 0)
        tally_add(tally, DUPLICATES, service_duplicate_count(service));
    for (size_t i = 0; has_metric(strategy, i); i++) {
        struct into into = {tally, strategy->summary_metrics[i]};
        metrics_each_duration(metrics, into.name, take_duration, &into);
    }
}

/* ---- reading ---- */

/* The duration of this key in ns; -1: it is another metric's. */
static int64_t duration_of(const char *key, const char *name)
{
    size_t size = strlen(name);
    if (strncmp(key, name, size) != 0 || key[size] != ' ')
        return -1;
    return strtoll(key + size + 1, NULL, 10) * NS_PER_US;
}

/* The keys of one metric come in the order of their durations. */
static void read_durations(const struct tally *tally, struct measured *measured)
{
    int64_t before = 0;
    for (size_t i = 0; i < tally_size(tally); i++)
        if (duration_of(tally_key(tally, i), measured->name) >= 0)
            measured->count += tally_count(tally, i);
    for (size_t i = 0; i < tally_size(tally); i++) {
        int64_t duration_ns = duration_of(tally_key(tally, i), measured->name);
        if (duration_ns < 0)
            continue;
        if (before <= (measured->count - 1) / 2)
            measured->median_ns = duration_ns;
        before += tally_count(tally, i);
        measured->max_ns = duration_ns;
    }
}

bool measured_at(const struct strategy *strategy, const struct tally *tally, size_t index,
                 struct measured *measured)
{
    memset(measured, 0, sizeof *measured);
    if (strategy->effect_count > 0 && index == 0) {
        measured->name = DUPLICATES;
        measured->count = tally_find(tally, DUPLICATES);
        return true;
    }
    index -= strategy->effect_count > 0;
    if (!has_metric(strategy, index))
        return false;
    measured->name = strategy->summary_metrics[index];
    measured->is_duration = true;
    read_durations(tally, measured);
    return true;
}
