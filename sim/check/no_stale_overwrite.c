/* Verifies: a committed entry is never replaced by one that was built from an older version of the
 * source.
 *
 * Does not verify: how old an entry is, whether a newer version could have been read, what readers
 * were given; what a failover took back. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

static void no_stale_overwrite_event(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct cache_view *cache = &strategy->cache;
    const char *op = event_text(event, "op");
    int64_t before, after;

    if (!is_commit_of(event, cache->table) || op == NULL || strcmp(op, "update") != 0)
        return;
    if (!cache_version(value_before(event, cache->data_column), &before) ||
        !cache_version(event_text(event, cache->data_column), &after)) {
        check_unknown(check, event, "an entry without a version: %s", event->line);
        return;
    }
    if (after < before)
        check_fail(check, event,
                   "%s replaced the entry of %s, built from version %lld by %s, with one from "
                   "version %lld at %s",
                   event_text(event, cache->builder_column),
                   event_text(event, watched_find(strategy, cache->table)->key[0]),
                   (long long)before, value_before(event, cache->builder_column), (long long)after,
                   check_time_text(check, event->t_ns));
}

const struct invariant invariant_no_stale_overwrite = {
    .name = "no_stale_overwrite",
    .verifies = "an entry is never replaced by one that was built from older data",
    .does_not_verify = "how old an entry is, what readers were given",
    .applies = views_have_cache,
    .event = no_stale_overwrite_event,
};
