/* The registry of faults, and what all of them have in common. */
#include "faults/fault.h"

#include <stddef.h>
#include <string.h>

#define FAULT(name) extern const struct fault_kind fault_kind_##name;
#include "faults/faults.def"
#undef FAULT

const struct fault_kind *const fault_kinds[] = {
#define FAULT(name) &fault_kind_##name,
#include "faults/faults.def"
#undef FAULT
    NULL,
};

static const char *const nth_words[] = {"sweep", NULL};
const char *const fault_at_words[] = {"any", NULL};
static const char *const transaction_words[] = {"any", "inside", "outside", NULL};

/* The default odds are such that a fault with `times: 1` strikes in most runs, and not always at
 * the first point: a run of one job visits some hundred points. */
const struct field fault_common_fields[] = {
    {.key = "target",
     .type = FIELD_TARGET,
     .offset = offsetof(struct fault_common, target),
     .fallback = "any",
     .example = "any-worker",
     .about = "whom it strikes: an actor (worker-1), a role (any-worker), or any"},
    {.key = "points",
     .type = FIELD_POINTS,
     .offset = offsetof(struct fault_common, points),
     .example = "[db.exec, db.commit]",
     .about = "where it may strike; the fault's own points when absent"},
    {.key = "probability",
     .type = FIELD_PROBABILITY,
     .offset = offsetof(struct fault_common, probability_per_million),
     .fallback = "0.05",
     .about = "how likely it strikes at each visit of a point"},
    {.key = "times",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct fault_common, times),
     .low = 0,
     .high = 1000000,
     .fallback = "1",
     .example = "3",
     .about = "how often it strikes at most; 0: no limit"},
    {.key = "after",
     .type = FIELD_DURATION,
     .offset = offsetof(struct fault_common, after_ns),
     .fallback = "0s",
     .example = "30m",
     .about = "not before this virtual time"},
    {.key = "before",
     .type = FIELD_DURATION,
     .offset = offsetof(struct fault_common, before_ns),
     .fallback = "0s",
     .example = "2h",
     .about = "not from this virtual time on; 0s: until chaos ends"},
    {.key = "nth",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct fault_common, nth),
     .low = 0,
     .high = 1000000000,
     .words = nth_words,
     .fallback = "0",
     .example = "3",
     .about = "strike at the Nth visit, exactly, instead of by probability; 0: by probability; "
              "sweep: seed N strikes at visit N of one and the same run, see run --sweep"},
    {.key = "step",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct fault_common, step),
     .low = 0,
     .high = 1000000000,
     .fallback = "0",
     .example = "100",
     .about = "strike at the first visit at or after that step of the scheduler; 0: any"},
    {.key = "at",
     .type = FIELD_DURATION,
     .offset = offsetof(struct fault_common, at_ns),
     .words = fault_at_words,
     .fallback = "any",
     .example = "40m",
     .about = "strike at this virtual time, once, whatever the target does; any: at points"},
    {.key = "operation",
     .type = FIELD_NAMES,
     .offset = offsetof(struct fault_common, operation),
     .example = "[insert_lock, commit]",
     .about = "only at visits of these operations: statements (release_cluster), create, destroy, "
              "receive, ...; at a COMMIT also those of its transaction"},
    {.key = "transaction",
     .type = FIELD_ENUM,
     .offset = offsetof(struct fault_common, transaction),
     .words = transaction_words,
     .fallback = "any",
     .example = "inside",
     .about = "inside: only while the connection is in a transaction; outside: only while not"},
};
const size_t fault_common_field_count = FP_COUNT(fault_common_fields);

static const char *const point_names[] = {
#define X(id, name, about) name,
    FAULT_POINTS(X)
#undef X
};

static const char *const point_abouts[] = {
#define X(id, name, about) about,
    FAULT_POINTS(X)
#undef X
};

const char *fault_point_name(enum fault_point point)
{
    FP_ASSERT(point < FAULT_POINT_COUNT);
    return point_names[point];
}

const char *fault_point_about(enum fault_point point)
{
    FP_ASSERT(point < FAULT_POINT_COUNT);
    return point_abouts[point];
}

const struct fault_kind *fault_kind_find(const char *name)
{
    FP_ASSERT(name != NULL);
    for (size_t i = 0; fault_kinds[i] != NULL; i++)
        if (strcmp(fault_kinds[i]->name, name) == 0)
            return fault_kinds[i];
    return NULL;
}

static bool has_name(const struct name_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

static bool wants_operation(const struct fault_common *common, const struct fault_visit *visit)
{
    if (common->operation.count == 0 || has_name(&common->operation, visit->operation))
        return true;
    if (visit->point != POINT_DB_COMMIT && visit->point != POINT_DB_COMMITTED)
        return false;
    for (size_t i = 0; i < visit->transaction_size; i++)
        if (has_name(&common->operation, visit->transaction[i]))
            return true;
    return false;
}

bool fault_wants(const struct fault_common *common, const struct fault_visit *visit)
{
    bool inside = visit->transaction != NULL;
    if (common->transaction == TRANSACTION_INSIDE && !inside)
        return false;
    if (common->transaction == TRANSACTION_OUTSIDE && inside)
        return false;
    return wants_operation(common, visit);
}

uint64_t fault_points(const struct fault_kind *kind, const void *config)
{
    const struct fault_common *common = config;
    uint64_t able = kind->points_of ? kind->points_of(config) : kind->points;

    FP_ASSERT((able & ~kind->points) == 0);
    return able & (common->points ? common->points : kind->points_default);
}
