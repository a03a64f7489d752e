/* A strategy with a cache, and the events of one, for the tests of the invariants about it. Include
 * it in one file of a test, after CHECK_FIXTURE_INVARIANT says which. */
#ifndef FENCEPOST_CACHE_FIXTURE_H
#define FENCEPOST_CACHE_FIXTURE_H

#define CHECK_FIXTURE_STRATEGY cache_strategy
#include "sim/strategy.h"

static const char *const cache_fixture_key[] = {"date", NULL};
static const char *const cache_fixture_columns[] = {"data", "sum", "expires_at", "built_by", NULL};
static const char *const cache_fixture_derived[] = {"sum", NULL};
static const struct watched_table cache_fixture_watched[] = {
    {.table = "cache", .key = cache_fixture_key, .columns = cache_fixture_columns},
};

#define ANSWER_WITHIN_NS (10 * NS_PER_MIN)

static const struct strategy cache_strategy = {
    .name = "test",
    .watched = cache_fixture_watched,
    .watched_count = FP_COUNT(cache_fixture_watched),
    .cache = {.table = "cache",
              .data_column = "data",
              .derived = cache_fixture_derived,
              .expires_column = "expires_at",
              .builder_column = "built_by",
              .source = "usage/",
              .forced_job = "refresh",
              .answer_within_ns = ANSWER_WITHIN_NS},
    .advisory_locks = true,
};

#include "tests/lib/check_fixture.h"

#define FOR_EVER (-1)

/* An entry of that day, which expires so long after the start of the run; FOR_EVER: never. `was` is
 * what its data were before; NULL: as now. */
static inline void entry_by(const char *who, const char *op, const char *day, const char *data,
                            const char *was, const char *built_by, int64_t expires_ns)
{
    char expires[WALLTEXT_SIZE];
    walltext_format(VIRTUAL_EPOCH_NS + expires_ns, expires);
    trace_event(fixture.trace, "row", who, "table", "cache", "op", op, "date", day, "data", data,
                "expires_at", expires_ns == FOR_EVER ? NULL : expires, "built_by", built_by,
                was ? "was.data" : NULL, was, NULL);
}

static inline void entry(const char *op, const char *day, const char *data, const char *was,
                         const char *built_by, int64_t expires_ns)
{
    entry_by("api-1/rebuild-1", op, day, data, was, built_by, expires_ns);
}

static inline void source_event(const char *kind, const char *key, int64_t version,
                                const char *instance, const char *job, int64_t run,
                                const char *result)
{
    trace_begin(fixture.trace, kind, instance);
    trace_text(fixture.trace, "key", key);
    trace_number(fixture.trace, "version", version);
    trace_text(fixture.trace, "instance", instance);
    if (job) {
        trace_text(fixture.trace, "job", job);
        trace_number(fixture.trace, "run", run);
    }
    trace_text(fixture.trace, "result", result);
    trace_end(fixture.trace);
}

/* A read by a rebuild of that process, a second later. */
static inline void reads(const char *instance, int64_t run, const char *key)
{
    later(NS_PER_S);
    source_event("store.get", key, 1, instance, "rebuild", run, "ERR_OK");
}

#endif
