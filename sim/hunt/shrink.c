/* The passes. What a candidate is and whether it counts is shrink_case.c. */
#include "sim/hunt/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hunt/shrink_case.h"
#include "sim/scenario/edit.h"

#define ROUND_COUNT_MAX 16
/* A smaller scenario seldom fails by the choices of the larger one: then some seeds are tried. */
#define SEED_COUNT 12
#define CHAOS_LEAST_NS NS_PER_MIN

/* ---- parts of the scenario ---- */

/* A scenario that was changed: by the choices there are, else by those of a seed. */
static bool try_text(struct shrinker *shrinker, const char *text, const struct streams *streams)
{
    if (shrinker_try(shrinker, text, streams, SHRINK_BY_CHOICES))
        return true;
    for (uint64_t seed = 1; seed <= SEED_COUNT; seed++)
        if (shrinker_try(shrinker, text, NULL, seed))
            return true;
    return false;
}

/* Streams are named by the number of their fault. */
static void drop_fault_stream(struct streams *streams, size_t fault)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "fault.%zu.", fault);
    for (size_t i = 0; i < streams->count; i++) {
        char *name = streams->list[i].name;
        size_t number;
        int size = 0;
        if (strncmp(name, prefix, strlen(prefix)) == 0) {
            streams->list[i].value_count = 0;
            continue;
        }
        if (sscanf(name, "fault.%zu.%n", &number, &size) != 1 || size == 0 || number < fault)
            continue;
        streams->list[i].name = fp_format("fault.%zu.%s", number - 1, name + size);
        free(name);
    }
}

static bool drop_faults(struct shrinker *shrinker)
{
    bool any = false;
    for (size_t i = edit_count(shrinker_text(shrinker), "faults"); i-- > 0;) {
        struct strbuf text = STRBUF_INIT;
        struct streams streams;
        streams_copy(&streams, shrinker_streams(shrinker));
        drop_fault_stream(&streams, i);
        if (edit_remove(shrinker_text(shrinker), "faults", i, &text))
            any = try_text(shrinker, strbuf_str(&text), &streams) || any;
        streams_release(&streams);
        strbuf_release(&text);
    }
    return any;
}

static bool drop_entries(struct shrinker *shrinker)
{
    bool any = false;
    const struct strategy *strategy = shrinker_scenario(shrinker)->strategy;
    for (size_t list = 0; list < strategy->workload_count; list++) {
        char *path = fp_format("workload.%s", strategy->workload[list].name);
        for (size_t i = edit_count(shrinker_text(shrinker), path); i-- > 0;) {
            struct strbuf text = STRBUF_INIT;
            if (edit_remove(shrinker_text(shrinker), path, i, &text))
                any = try_text(shrinker, strbuf_str(&text), shrinker_streams(shrinker)) || any;
            strbuf_release(&text);
        }
        free(path);
    }
    return any;
}

static bool try_set(struct shrinker *shrinker, const char *path, int64_t value, const char *unit)
{
    struct strbuf text = STRBUF_INIT;
    char *assignment = fp_format("%s=%lld%s", path, (long long)value, unit);
    bool good = edit_set(shrinker_text(shrinker), assignment, &text) &&
                try_text(shrinker, strbuf_str(&text), shrinker_streams(shrinker));
    free(assignment);
    strbuf_release(&text);
    return good;
}

/* One will do, or at least fewer. */
static bool drop_actors_of(struct shrinker *shrinker, size_t role)
{
    const struct role *of = &shrinker_scenario(shrinker)->strategy->roles[role];
    bool any = false;
    if (of->topology == NULL)
        return false;
    char *path = fp_format("topology.%s", of->topology);
    for (int count = 1; count < shrinker_scenario(shrinker)->role_counts[role]; count++) {
        if (try_set(shrinker, path, count, "")) {
            any = true;
            break;
        }
    }
    free(path);
    return any;
}

static bool drop_actors(struct shrinker *shrinker)
{
    bool any = false;
    for (size_t i = 0; i < shrinker_scenario(shrinker)->strategy->role_count; i++)
        any = drop_actors_of(shrinker, i) || any;
    int standby_count = shrinker_scenario(shrinker)->standby_count;
    if (standby_count > 0)
        any = try_set(shrinker, "topology.postgres.standbys", standby_count - 1, "") || any;
    return any;
}

/* What is found at the end is found sooner when chaos ends sooner. The time to settle stays: with
 * less of it a sound design would fail too. */
static bool shorten_chaos(struct shrinker *shrinker)
{
    bool any = false;
    int64_t chaos_ns = shrinker_scenario(shrinker)->chaos_ns / 2;
    while (chaos_ns >= CHAOS_LEAST_NS &&
           try_set(shrinker, "limits.chaos", chaos_ns / NS_PER_S, "s")) {
        any = true;
        chaos_ns /= 2;
    }
    return any;
}

/* ---- choices ---- */

static bool any_nonzero(const struct scenario_stream *stream, size_t from, size_t to)
{
    for (size_t i = from; i < to && i < stream->value_count; i++)
        if (stream->values[i] != 0)
            return true;
    return false;
}

static bool try_streams(struct shrinker *shrinker, const struct streams *streams)
{
    return shrinker_try(shrinker, shrinker_text(shrinker), streams, SHRINK_BY_CHOICES);
}

/* With the values from `from` up to `to` set to 0, or taken out. */
static bool try_without(struct shrinker *shrinker, size_t stream, size_t from, size_t to, bool take)
{
    struct streams streams;
    streams_copy(&streams, shrinker_streams(shrinker));
    struct scenario_stream *changed = &streams.list[stream];
    if (to > changed->value_count)
        to = changed->value_count;
    if (take) {
        memmove(changed->values + from, changed->values + to,
                (changed->value_count - to) * sizeof changed->values[0]);
        changed->value_count -= to - from;
    } else {
        memset(changed->values + from, 0, (to - from) * sizeof changed->values[0]);
    }
    bool better = try_streams(shrinker, &streams);
    streams_release(&streams);
    return better;
}

static size_t value_count(const struct shrinker *shrinker, size_t stream)
{
    const struct streams *streams = shrinker_streams(shrinker);
    return stream < streams->count ? streams->list[stream].value_count : 0;
}

/* Blocks from large to small. */
static bool zero_blocks(struct shrinker *shrinker, size_t stream)
{
    bool any = false;
    for (size_t size = value_count(shrinker, stream); size > 0; size /= 2) {
        for (size_t from = 0; from < value_count(shrinker, stream); from += size) {
            if (shrinker_is_over(shrinker))
                return any;
            if (any_nonzero(&shrinker_streams(shrinker)->list[stream], from, from + size))
                any = try_without(shrinker, stream, from, from + size, false) || any;
        }
    }
    return any;
}

/* Taken out, so that what comes later comes sooner: only where something comes later. */
static bool take_blocks(struct shrinker *shrinker, size_t stream)
{
    bool any = false;
    for (size_t size = value_count(shrinker, stream) / 2; size > 0; size /= 2) {
        for (size_t from = 0; from < value_count(shrinker, stream); from += size) {
            if (shrinker_is_over(shrinker))
                return any;
            const struct scenario_stream *now = &shrinker_streams(shrinker)->list[stream];
            if (!any_nonzero(now, from + size, now->value_count))
                break;
            any = try_without(shrinker, stream, from, from + size, true) || any;
        }
    }
    return any;
}

static bool try_value(struct shrinker *shrinker, size_t stream, size_t index, uint32_t value)
{
    struct streams streams;
    streams_copy(&streams, shrinker_streams(shrinker));
    streams.list[stream].values[index] = value;
    bool better = try_streams(shrinker, &streams);
    streams_release(&streams);
    return better;
}

static bool lower_values(struct shrinker *shrinker, size_t stream)
{
    bool any = false;
    for (size_t i = 0; i < value_count(shrinker, stream); i++) {
        uint32_t value = shrinker_streams(shrinker)->list[stream].values[i];
        if (shrinker_is_over(shrinker))
            return any;
        if (value > 1 && try_value(shrinker, stream, i, 1))
            any = true;
        else if (value > 3 && try_value(shrinker, stream, i, value / 2))
            any = true;
    }
    return any;
}

/* ---- all of it, until nothing more goes ---- */

static bool shrink_parts(struct shrinker *shrinker)
{
    bool any = drop_faults(shrinker);
    any = drop_actors(shrinker) || any;
    any = drop_entries(shrinker) || any;
    return shorten_chaos(shrinker) || any;
}

static bool shrink_choices(struct shrinker *shrinker)
{
    bool any = false;
    /* An improvement may bring another number of streams. */
    for (size_t i = 0; i < shrinker_streams(shrinker)->count; i++)
        any = zero_blocks(shrinker, i) || any;
    for (size_t i = 0; i < shrinker_streams(shrinker)->count; i++)
        any = lower_values(shrinker, i) || any;
    for (size_t i = 0; i < shrinker_streams(shrinker)->count; i++)
        any = take_blocks(shrinker, i) || any;
    return any;
}

bool shrink(struct single *single, const struct failure *failure,
            const struct shrink_options *options, struct shrunk *out, struct strbuf *why)
{
    struct shrinker *shrinker = shrinker_new(single, failure, options, why);
    if (shrinker == NULL)
        return false;
    bool any = true;
    for (int i = 0; i < ROUND_COUNT_MAX && any && !shrinker_is_over(shrinker); i++) {
        any = shrink_parts(shrinker);
        any = shrink_choices(shrinker) || any;
    }
    return shrinker_end(shrinker, !any, out, why);
}
