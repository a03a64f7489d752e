/* This strategy as data: its actors, its workload, its tables, its weaknesses. */
#include "sim/strategy.h"

#include "reference_impl/cache_lock/cache_lock.h"

static const struct weakness weaknesses[] = {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql)                          \
    {name, about, source, breaks, as_written, schema_sql},
#include "reference_impl/cache_lock/weaknesses.def"
#undef WEAKNESS
};

static const struct role roles[] = {
    {"api", "servers", 2, 8, cache_lock_api, true},
    {"client", NULL, 1, 1, cache_lock_client, false},
    {"meter", NULL, 1, 1, cache_lock_meter, false},
    {"tenant", NULL, 1, 1, cache_lock_tenant, false},
};

static const char *const request_kinds[] = {"read", "refresh", "throw", "cleanup", NULL};

#define TIME_FIELD(name, text)                                                                     \
    {                                                                                              \
        .key = (name), .type = VALUE_DURATION, .low = 0, .high = 30 * NS_PER_DAY,                  \
        .fallback = "0s", .about = (text)                                                          \
    }

static const struct workload_field usage_fields[] = {
    {.key = "date",
     .type = VALUE_NAME,
     .required = true,
     .about = "the day, as 2026-01-01; a run begins at the midnight with which that one begins"},
    {.key = "records",
     .type = VALUE_INTEGER,
     .low = 0,
     .high = 1000,
     .fallback = "3",
     .about = "how much of it there is at the start"},
    TIME_FIELD("from", "when the first of what is added comes"),
    TIME_FIELD("until", "when the last comes, but for what is late"),
    TIME_FIELD("every", "how long it is from one to the next; nothing is added when absent"),
    TIME_FIELD("closes", "when what is late has come and the day is closed; at the start, when "
                         "absent"),
};

static const struct workload_field request_fields[] = {
    {.key = "kind",
     .type = VALUE_ENUM,
     .words = request_kinds,
     .fallback = "read",
     .about = "read; refresh: an admin wants it built anew; throw: takes the lock and fails; "
              "cleanup: unlocks all, on one connection of the pool"},
    {.key = "date", .type = VALUE_NAME, .required = true, .about = "the day that it is about"},
    TIME_FIELD("at", "when it is made"),
    {.key = "count",
     .type = VALUE_INTEGER,
     .low = 1,
     .high = 64,
     .fallback = "1",
     .about = "how many of them at once"},
    {.key = "takes",
     .type = VALUE_DURATION,
     .low = 0,
     .high = NS_PER_DAY,
     .fallback = "30s",
     .about = "how long a rebuild for it takes"},
};

static const struct workload_field tenant_fields[] = {
    {.key = "key",
     .type = VALUE_INTEGER,
     .required = true,
     .low = 0,
     .high = INT32_MAX,
     .about = "the integer that it locks"},
    TIME_FIELD("at", "when it does"),
    TIME_FIELD("for", "how long it holds it"),
};

static const struct workload_list workload[] = {
    {"usage", "the days, and how the source's knowledge of them grows", usage_fields,
     FP_COUNT(usage_fields), 32},
    {"requests", "what users ask for, in the order of their times", request_fields,
     FP_COUNT(request_fields), 128},
    {"tenants", "locks that somebody else takes in the same database", tenant_fields,
     FP_COUNT(tenant_fields), 16},
};

static const char *const cache_key[] = {"date", NULL};
static const char *const cache_columns[] = {
    "raw_data", "aggregated_by_user", "aggregated_by_model", "expires_at", "built_by", NULL};
static const char *const cache_derived[] = {"aggregated_by_user", "aggregated_by_model", NULL};
static const struct watched_table watched[] = {
    {.table = "daily_usage_cache", .key = cache_key, .columns = cache_columns},
};

static const struct metric metrics[] = {
    {METRIC_HITS, "Requests that found a live entry."},
    {METRIC_MISSES, "Requests that found none."},
    {METRIC_REBUILDS, "Rebuilds that were begun."},
    {METRIC_LOCKED, "Locks that were got."},
    {METRIC_NOT_LOCKED, "Requests that did not get their lock at once."},
    {METRIC_GRACE, "Entries of a day that is over, kept as if it went on."},
};

const struct strategy strategy_cache_lock = {
    .name = "cache_lock",
    .about = "a cache of daily usage, rebuilt under an advisory lock whose key is the date",
    .document = "Concurrency Strategy",
    .schema_sql = cache_lock_schema_sql,
    .statements = cache_lock_statements,
    .weaknesses = weaknesses,
    .weakness_count = FP_COUNT(weaknesses),
    .roles = roles,
    .role_count = FP_COUNT(roles),
    .setup = cache_lock_setup,
    .workload = workload,
    .workload_count = FP_COUNT(workload),
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .cache = {.table = "daily_usage_cache",
              .data_column = "raw_data",
              .derived = cache_derived,
              .expires_column = "expires_at",
              .builder_column = "built_by",
              .source = "usage/",
              .forced_job = "refresh",
              .answer_within_ns = ANSWER_WITHIN_NS},
    .advisory_locks = true,
    .metrics = metrics,
    .metric_count = FP_COUNT(metrics),
};
