#include "sim/check/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool views_have_jobs(const struct strategy *strategy)
{
    const struct job_view *jobs = &strategy->jobs;
    return watched_has(strategy, jobs->table, jobs->resource_column) &&
           watched_has(strategy, jobs->table, jobs->type_column) &&
           watched_has(strategy, jobs->table, jobs->status_column) && jobs->types != NULL;
}

bool views_have_resources(const struct strategy *strategy)
{
    const struct resource_view *resources = &strategy->resources;
    return watched_has(strategy, resources->table, resources->status_column) &&
           resources->statuses != NULL;
}

bool views_have_job_locks(const struct strategy *strategy)
{
    const struct lock_view *lock = &strategy->lock;
    return watched_has(strategy, lock->table, lock->resource_column) &&
           watched_has(strategy, lock->table, lock->job_column);
}

bool views_have_cache(const struct strategy *strategy)
{
    const struct cache_view *cache = &strategy->cache;
    return watched_has(strategy, cache->table, cache->data_column) &&
           watched_has(strategy, cache->table, cache->expires_column) &&
           watched_has(strategy, cache->table, cache->builder_column) && cache->source != NULL;
}

const struct job_type *job_type_find(const struct strategy *strategy, const char *name)
{
    for (const struct job_type *type = strategy->jobs.types; type->name != NULL; type++)
        if (strcmp(type->name, name) == 0)
            return type;
    return NULL;
}

const struct resource_status *resource_status_find(const struct strategy *strategy,
                                                   const char *name)
{
    for (const struct resource_status *status = strategy->resources.statuses; status->name;
         status++)
        if (strcmp(status->name, name) == 0)
            return status;
    return NULL;
}

bool job_has_status(const struct strategy *strategy, const struct row *job, const char *status)
{
    return strcmp(row_text(job, strategy->jobs.status_column), status) == 0;
}

bool job_may_start(const struct job_type *type, const char *resource_status)
{
    for (const char *const *from = type->from; *from != NULL; from++)
        if (strcmp(*from, resource_status) == 0)
            return true;
    return false;
}

const struct row *job_lock(const struct rows *rows, const struct strategy *strategy,
                           const char *job)
{
    const struct lock_view *view = &strategy->lock;
    for (const struct row *lock = rows_first(rows, view->table); lock != NULL; lock = lock->next)
        if (strcmp(row_text(lock, view->job_column), job) == 0)
            return lock;
    return NULL;
}

bool is_change_of(const struct event *event, const char *table)
{
    const char *changed = event_is(event, "row") ? event_text(event, "table") : NULL;
    return changed != NULL && table != NULL && strcmp(changed, table) == 0;
}

bool is_commit_of(const struct event *event, const char *table)
{
    bool taken_back = event->who != NULL && strcmp(event->who, "failover") == 0;
    return is_change_of(event, table) && !taken_back;
}

static bool has_field(const struct event *event, const char *key)
{
    for (int i = 0; i < event->field_count; i++)
        if (strcmp(event->fields[i].key, key) == 0)
            return true;
    return false;
}

const char *value_before(const struct event *event, const char *column)
{
    char key[128];
    const char *op = event_text(event, "op");
    int length = snprintf(key, sizeof key, "was.%s", column);
    FP_ASSERT(length > 0 && (size_t)length < sizeof key);
    if (op != NULL && strcmp(op, "insert") == 0)
        return NULL;
    return event_text(event, has_field(event, key) ? key : column);
}

bool cache_version(const char *data, int64_t *version)
{
    char *end;
    if (data == NULL)
        return false;
    *version = strtoll(data, &end, 10);
    return end != data;
}

const char *cache_source_of(const struct strategy *strategy, const char *key)
{
    const char *prefix = strategy->cache.source;
    size_t size = strlen(prefix);
    return key != NULL && strncmp(key, prefix, size) == 0 ? key + size : NULL;
}

bool cache_is_permanent(const struct strategy *strategy, const struct row *entry)
{
    return *row_text(entry, strategy->cache.expires_column) == '\0';
}
