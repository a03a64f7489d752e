/* Small registries in place of the real ones, so that the tests of the scenario loader stand alone.
 * Include it in one file of a test: it defines every symbol of the real registries. */
#ifndef FENCEPOST_FAKE_REGISTRY_H
#define FENCEPOST_FAKE_REGISTRY_H

#include <string.h>

#include "faults/fault.h"
#include "sim/check/check.h"
#include "sim/strategy.h"

/* ---- strategies ---- */

static const char *const fake_statuses[] = {"PENDING", "READY", "FAILED", "DESTROYED", NULL};
static const char *const fake_types[] = {"CREATE", "DESTROY", NULL};

static const struct workload_field fake_cluster_fields[] = {
    {.key = "name", .type = VALUE_NAME, .required = true, .about = "its name"},
    {.key = "status",
     .type = VALUE_ENUM,
     .words = fake_statuses,
     .fallback = "PENDING",
     .about = "how it begins"},
    {.key = "platform", .type = VALUE_TEXT, .fallback = "aws", .about = "where it runs"},
    {.key = "note", .type = VALUE_TEXT, .about = "nothing when absent"},
    {.key = "kind", .type = VALUE_ENUM, .words = fake_types, .about = "nothing when absent"},
};
static const struct workload_field fake_job_fields[] = {
    {.key = "type",
     .type = VALUE_ENUM,
     .required = true,
     .words = fake_types,
     .about = "what to do"},
    {.key = "cluster",
     .type = VALUE_NAME,
     .required = true,
     .refers_to = "clusters",
     .about = "to what"},
    {.key = "at", .type = VALUE_DURATION, .fallback = "0s", .about = "when"},
    {.key = "count",
     .type = VALUE_INTEGER,
     .low = 1,
     .high = 9,
     .fallback = "3",
     .about = "how many"},
};
static const struct workload_list fake_lists[] = {
    {"clusters", "what there is", fake_cluster_fields, FP_COUNT(fake_cluster_fields), 8},
    {"jobs", "what to do", fake_job_fields, FP_COUNT(fake_job_fields), 16},
};
static const struct role fake_roles[] = {
    {.name = "worker",
     .topology = "workers",
     .count_default = 2,
     .count_max = 64,
     .faultable = true},
    {.name = "janitor",
     .topology = "janitors",
     .count_default = 1,
     .count_max = 16,
     .faultable = true},
    {.name = "clock", .count_default = 1, .count_max = 1},
};
static const struct weakness fake_weaknesses[] = {
    {.name = "no_fencing",
     .about = "no token is sent",
     .source = "page 3",
     .breaks = "single_owner",
     .as_written = true},
    {.name = "no_heartbeat", .about = "nobody beats", .source = "planted", .breaks = "settles"},
    {.name = "short_lease",
     .about = "too short",
     .source = "page 4",
     .breaks = "single_owner",
     .as_written = true},
};
static const struct strategy fake_strategy = {
    .name = "job_locks",
    .about = "rows as locks",
    .document = "job-locks.md",
    .weaknesses = fake_weaknesses,
    .weakness_count = FP_COUNT(fake_weaknesses),
    .roles = fake_roles,
    .role_count = FP_COUNT(fake_roles),
    .workload = fake_lists,
    .workload_count = FP_COUNT(fake_lists),
};
const struct strategy *const strategies[] = {&fake_strategy, NULL};

const struct strategy *strategy_find(const char *name)
{
    return strcmp(name, fake_strategy.name) == 0 ? &fake_strategy : NULL;
}

/* ---- faults ---- */

struct fake_crash {
    struct fault_common common;
    int64_t restart_after_ns;
};
struct fake_pause {
    struct fault_common common;
    struct duration_range duration;
    bool loud;
    int how;
};

static const char *const fake_never[] = {"never", NULL};
static const char *const fake_hows[] = {"any", "idle", NULL};
static const struct field fake_crash_fields[] = {
    {.key = "restart_after",
     .type = FIELD_DURATION,
     .offset = offsetof(struct fake_crash, restart_after_ns),
     .words = fake_never,
     .fallback = "10m",
     .about = "when it comes back"},
};
static const struct field fake_pause_fields[] = {
    {.key = "for",
     .type = FIELD_DURATION_RANGE,
     .offset = offsetof(struct fake_pause, duration),
     .required = true,
     .low = NS_PER_S,
     .high = NS_PER_DAY,
     .about = "how long"},
    {.key = "loud",
     .type = FIELD_BOOL,
     .offset = offsetof(struct fake_pause, loud),
     .about = "shout"},
    {.key = "how",
     .type = FIELD_ENUM,
     .offset = offsetof(struct fake_pause, how),
     .words = fake_hows,
     .fallback = "any",
     .about = "in which way"},
};

#define FAKE_IDLE_POINTS (POINT_BIT(POINT_SLEEP) | POINT_BIT(POINT_WAKE))

static uint64_t fake_pause_points_of(const void *config)
{
    const struct fake_pause *pause = config;
    return pause->how == 1 ? FAKE_IDLE_POINTS : POINT_BIT(POINT_DB_EXEC) | FAKE_IDLE_POINTS;
}

static const struct fault_kind fake_crash_kind = {
    .name = "crash",
    .about = "the process dies",
    .example = "- crash: {times: 1}",
    .fields = fake_crash_fields,
    .field_count = FP_COUNT(fake_crash_fields),
    .config_size = sizeof(struct fake_crash),
    .points = POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_CLOUD_CALL) | POINT_BIT(POINT_SLEEP),
    .points_default = POINT_BIT(POINT_DB_EXEC),
};
static const struct fault_kind fake_pause_kind = {
    .name = "pause",
    .about = "the process stands still",
    .example = "- pause: {for: 20m..90m}",
    .fields = fake_pause_fields,
    .field_count = FP_COUNT(fake_pause_fields),
    .config_size = sizeof(struct fake_pause),
    .points = POINT_BIT(POINT_DB_EXEC) | FAKE_IDLE_POINTS,
    .points_default = POINT_BIT(POINT_DB_EXEC),
    .points_of = fake_pause_points_of,
};
const struct fault_kind *const fault_kinds[] = {&fake_crash_kind, &fake_pause_kind, NULL};

const struct field fault_common_fields[] = {
    {.key = "target",
     .type = FIELD_TARGET,
     .offset = offsetof(struct fault_common, target),
     .fallback = "any",
     .about = "whom"},
    {.key = "points",
     .type = FIELD_POINTS,
     .offset = offsetof(struct fault_common, points),
     .about = "where"},
    {.key = "probability",
     .type = FIELD_PROBABILITY,
     .offset = offsetof(struct fault_common, probability_per_million),
     .fallback = "0.05",
     .about = "how likely"},
    {.key = "times",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct fault_common, times),
     .low = 0,
     .high = 1000,
     .fallback = "1",
     .about = "how often"},
    {.key = "after",
     .type = FIELD_DURATION,
     .offset = offsetof(struct fault_common, after_ns),
     .fallback = "0s",
     .about = "not before"},
    {.key = "before",
     .type = FIELD_DURATION,
     .offset = offsetof(struct fault_common, before_ns),
     .fallback = "0s",
     .about = "not after"},
    {.key = "nth",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct fault_common, nth),
     .low = 0,
     .high = 1000,
     .fallback = "0",
     .about = "which visit"},
};
const size_t fault_common_field_count = FP_COUNT(fault_common_fields);

const char *fault_point_name(enum fault_point point)
{
    static const char *const names[] = {
#define X(id, name, about) name,
        FAULT_POINTS(X)
#undef X
    };
    return names[point];
}

const char *fault_point_about(enum fault_point point)
{
    return fault_point_name(point);
}

const struct fault_kind *fault_kind_find(const char *name)
{
    for (size_t i = 0; fault_kinds[i] != NULL; i++)
        if (strcmp(fault_kinds[i]->name, name) == 0)
            return fault_kinds[i];
    return NULL;
}

uint64_t fault_points(const struct fault_kind *kind, const void *config)
{
    const struct fault_common *common = config;
    uint64_t able = kind->points_of != NULL ? kind->points_of(config) : kind->points;
    return able & (common->points != 0 ? common->points : kind->points_default);
}

/* ---- invariants ---- */

static bool fake_applies_never(const struct strategy *strategy)
{
    return strategy->role_count == 0;
}

static const struct invariant fake_single_owner = {
    .name = "single_owner", .verifies = "one owner", .does_not_verify = "two owners"};
static const struct invariant fake_settles = {
    .name = "settles", .verifies = "it rests", .does_not_verify = "when | how"};
static const struct invariant fake_foreign = {.name = "foreign",
                                              .verifies = "nothing here",
                                              .does_not_verify = "anything",
                                              .applies = fake_applies_never};
const struct invariant *const invariants[] = {&fake_single_owner, &fake_settles, &fake_foreign,
                                              NULL};

const struct invariant *invariant_find(const char *name)
{
    for (size_t i = 0; invariants[i] != NULL; i++)
        if (strcmp(invariants[i]->name, name) == 0)
            return invariants[i];
    return NULL;
}

#endif
