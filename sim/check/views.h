/* What invariants ask of a strategy's views: see sim/strategy.h. */
#ifndef FENCEPOST_VIEWS_H
#define FENCEPOST_VIEWS_H

#include "sim/check/rows.h"

/* Has the strategy jobs, resources and locks, with all columns that tie them together? */
bool views_have_jobs(const struct strategy *strategy);
bool views_have_resources(const struct strategy *strategy);
bool views_have_job_locks(const struct strategy *strategy);

/* Has it a cache, with all that is to be known of its entries? */
bool views_have_cache(const struct strategy *strategy);

/* NULL: it is none that the strategy knows. */
const struct job_type *job_type_find(const struct strategy *strategy, const char *name);
const struct resource_status *resource_status_find(const struct strategy *strategy,
                                                   const char *name);

bool job_has_status(const struct strategy *strategy, const struct row *job, const char *status);
/* May a job of this type start when its resource has this status? */
bool job_may_start(const struct job_type *type, const char *resource_status);
/* The lock that is held for this job; NULL: none. */
const struct row *job_lock(const struct rows *rows, const struct strategy *strategy,
                           const char *job);

/* An event about a change of that table's rows? */
bool is_change_of(const struct event *event, const char *table);
/* The same, and somebody has committed it: not a failover that took commits back. */
bool is_commit_of(const struct event *event, const char *table);
/* The value before the change, also when the change left it as it was; NULL: null, or an insert. */
const char *value_before(const struct event *event, const char *column);

/* ---- a cache ---- */

/* The version of the source that these data were built from: the number that they begin with.
 * False: they do not. */
bool cache_version(const char *data, int64_t *version);
/* The entry that the object of that key is the source of; NULL: of none. */
const char *cache_source_of(const struct strategy *strategy, const char *key);
/* Does the entry never expire? */
bool cache_is_permanent(const struct strategy *strategy, const struct row *entry);

#endif
