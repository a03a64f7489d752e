/* Verifies: an entry that never expires was built from all that its source will ever have. It fails
 * as soon as such an entry is committed, or stands there, and the source has a later version.
 *
 * Does not verify: that a complete day is kept for ever (short is slow, not wrong), how short a
 * short lifetime is, or that an entry which expires is built again; anything about data that comes
 * to the source after the run. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

struct source {
    struct source *next;
    const char *key;
    int64_t version; /* the latest that was seen */
};

struct cache_lifetime {
    struct source *sources;
};

static struct source *source_find(struct check *check, const char *key)
{
    struct cache_lifetime *state = check_state(check);
    struct source *at = state->sources;
    while (at && strcmp(at->key, key) != 0)
        at = at->next;
    return at;
}

static struct source *source_of(struct check *check, const char *key)
{
    struct cache_lifetime *state = check_state(check);
    struct source *source = source_find(check, key);

    if (source != NULL)
        return source;
    source = arena_alloc(check_arena(check), sizeof *source);
    source->key = arena_strdup(check_arena(check), key);
    source->next = state->sources;
    state->sources = source;
    return source;
}

static void judge(struct check *check, const struct event *event, const char *key)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct row *row = rows_find(check_rows(check), strategy->cache.table, key);
    const struct source *source = source_find(check, key);
    int64_t version;

    if (row == NULL || source == NULL || !cache_is_permanent(strategy, row))
        return;
    if (!cache_version(row_text(row, strategy->cache.data_column), &version)) {
        check_unknown(check, event, "an entry without a version: %s", key);
        return;
    }
    if (version < source->version)
        check_fail(check, event,
                   "the entry of %s never expires and was built by %s from version %lld of its "
                   "source, which has version %lld at %s",
                   key, row_text(row, strategy->cache.builder_column), (long long)version,
                   (long long)source->version, check_time_text(check, event->t_ns));
}

static void cache_lifetime_event(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const char *table = strategy->cache.table;

    if (is_change_of(event, table)) {
        const char *key = event_text(event, watched_find(strategy, table)->key[0]);
        if (key != NULL)
            judge(check, event, key);
        return;
    }
    if (!event_is(event, "store.put") && !event_is(event, "store.get"))
        return;
    const char *key = cache_source_of(strategy, event_text(event, "key"));
    int64_t version = event_number(event, "version", 0);
    if (key == NULL || version <= source_of(check, key)->version)
        return;
    source_of(check, key)->version = version;
    judge(check, event, key);
}

const struct invariant invariant_cache_lifetime = {
    .name = "cache_lifetime",
    .verifies = "an entry that never expires was built from the whole of its source",
    .does_not_verify = "how long the others live, that complete ones are kept for ever",
    .state_size = sizeof(struct cache_lifetime),
    .applies = views_have_cache,
    .event = cache_lifetime_event,
};
