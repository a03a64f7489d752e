/* Verifies: at every committed state all parts of an entry are made of the same version of its
 * source: nobody can read half of an old one and half of a new one.
 *
 * Does not verify: that the version is the latest, or that the parts are right; what is between the
 * statements of one transaction, which nobody else sees. */
#include "sim/check/check.h"
#include "sim/check/views.h"

static bool whole_entry_applies(const struct strategy *strategy)
{
    return views_have_cache(strategy) && strategy->cache.derived != NULL;
}

static void judge(struct check *check, const struct event *last, const struct row *entry)
{
    const struct cache_view *cache = &check_setup(check)->strategy->cache;
    int64_t version, derived;

    if (!cache_version(row_text(entry, cache->data_column), &version)) {
        check_unknown(check, last, "an entry without a version: %s", row_key(entry));
        return;
    }
    for (const char *const *column = cache->derived; *column; column++) {
        const char *text = row_text(entry, *column);
        if (cache_version(text, &derived) && derived == version)
            continue;
        check_fail(check, last, "the entry of %s is of version %lld and its %s is '%s' at %s",
                   row_key(entry), (long long)version, *column, text,
                   check_time_text(check, last->t_ns));
        return;
    }
}

static void whole_entry_committed(struct check *check, const struct event *last)
{
    const char *table = check_setup(check)->strategy->cache.table;
    for (const struct row *at = rows_first(check_rows(check), table); at; at = at->next)
        judge(check, last, at);
}

const struct invariant invariant_whole_entry = {
    .name = "whole_entry",
    .verifies = "all parts of a committed entry are made of the same version of its source",
    .does_not_verify = "that the version is the latest, that the parts are right",
    .applies = whole_entry_applies,
    .committed = whole_entry_committed,
};
