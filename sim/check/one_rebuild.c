/* Verifies: no two rebuilds of one entry are under way at once, and none is begun while there is a
 * live entry, unless somebody asked for it. Judged by what rebuilds do: they read the source and
 * commit an entry. Once another rebuild has done something for an entry, the first does nothing for
 * it any more; and when a rebuild first reads, the committed entry has expired, by the database's
 * clock, or there is none.
 *
 * Does not verify: who holds or believes to hold a lock; that a rebuild comes to its end; reads
 * that the source refused; whether there was a live entry, after the database's clock was changed
 * and until the entry is written again. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"
#include "sim/core/walltext.h"

/* One run of a rebuild: what it did last, for the sentence. */
struct builder {
    struct builder *next;
    const char *name; /* "api-1#3" */
    const char *act;
    int64_t t_ns;
};

struct cached {
    struct cached *next;
    const char *key;
    struct builder *builders;
    struct builder *current; /* did something last */
    bool clock_was_changed;  /* since it was written */
};

struct one_rebuild {
    struct cached *entries;
};

static struct cached *cached_of(struct check *check, const char *key)
{
    struct one_rebuild *state = check_state(check);
    struct arena *arena = check_arena(check);

    for (struct cached *at = state->entries; at; at = at->next)
        if (strcmp(at->key, key) == 0)
            return at;
    struct cached *entry = arena_alloc(arena, sizeof *entry);
    entry->key = arena_strdup(arena, key);
    entry->next = state->entries;
    state->entries = entry;
    return entry;
}

static struct builder *builder_find(const struct cached *entry, const char *name)
{
    struct builder *at = entry->builders;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

static struct builder *builder_add(struct check *check, struct cached *entry, const char *name)
{
    struct builder *builder = arena_alloc(check_arena(check), sizeof *builder);
    builder->name = arena_strdup(check_arena(check), name);
    builder->next = entry->builders;
    entry->builders = builder;
    return builder;
}

static void fail_return(struct check *check, const struct event *event, const struct cached *entry,
                        const struct builder *builder)
{
    const struct builder *other = entry->current;
    check_fail(check, event,
               "%s %s %s at %s, while %s was rebuilding it (it %s it at %s): two rebuilds at once",
               builder->name, builder->act, entry->key, check_time_text(check, event->t_ns),
               other->name, other->act, check_time_text(check, other->t_ns));
}

/* True when it is the first that this rebuild does. */
static bool take_act(struct check *check, const struct event *event, struct cached *entry,
                     const char *name, const char *act)
{
    struct builder *builder = builder_find(entry, name);
    bool is_first = builder == NULL;

    if (is_first)
        builder = builder_add(check, entry, name);
    builder->act = act;
    if (!is_first && entry->current != builder)
        fail_return(check, event, entry, builder);
    builder->t_ns = event->t_ns;
    entry->current = builder;
    return is_first;
}

static bool is_live(struct check *check, const struct row *row, int64_t t_ns, bool *readable)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    int64_t expires_ns;

    *readable = true;
    if (cache_is_permanent(strategy, row))
        return true;
    *readable = walltext_parse(row_text(row, strategy->cache.expires_column), &expires_ns);
    return *readable && expires_ns > check_db_ns(check_setup(check), t_ns);
}

static void judge_beginning(struct check *check, const struct event *event,
                            const struct cached *entry, const char *name)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct row *row = rows_find(check_rows(check), strategy->cache.table, entry->key);
    bool readable;

    if (row == NULL || entry->clock_was_changed)
        return;
    bool live = is_live(check, row, event->t_ns, &readable);
    if (!readable)
        check_unknown(check, event, "an entry whose end cannot be read: %s", entry->key);
    if (live)
        check_fail(check, event, "%s began to rebuild %s at %s though there was a live entry of %s",
                   name, entry->key, check_time_text(check, event->t_ns),
                   row_text(row, strategy->cache.builder_column));
}

static void take_read(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const char *key = cache_source_of(strategy, event_text(event, "key"));
    const char *instance = event_text(event, "instance");
    const char *result = event_text(event, "result");
    const char *job = event_text(event, "job");
    int64_t run = event_number(event, "run", -1);

    if (key == NULL || job == NULL || run < 0)
        return; /* nobody's rebuild */
    if (instance == NULL || result == NULL) {
        check_unknown(check, event, "a read without instance or result: %s", event->line);
        return;
    }
    if (strcmp(result, "ERR_OK") != 0 && strcmp(result, "ERR_STORE_ABSENT") != 0)
        return;
    struct cached *entry = cached_of(check, key);
    const char *name = arena_printf(check_arena(check), "%s#%lld", instance, (long long)run);
    if (take_act(check, event, entry, name, "read") && strcmp(job, strategy->cache.forced_job) != 0)
        judge_beginning(check, event, entry, name);
}

static void take_write(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const char *op = event_text(event, "op");
    const char *key = event_text(event, watched_find(strategy, strategy->cache.table)->key[0]);
    const char *name = event_text(event, strategy->cache.builder_column);

    if (op != NULL && strcmp(op, "delete") == 0)
        return;
    if (key == NULL || name == NULL) {
        check_unknown(check, event, "an entry that cannot be read: %s", event->line);
        return;
    }
    struct cached *entry = cached_of(check, key);
    entry->clock_was_changed = false;
    take_act(check, event, entry, name, "wrote");
}

static void one_rebuild_event(struct check *check, const struct event *event)
{
    struct one_rebuild *state = check_state(check);

    if (event_is(event, "store.get"))
        take_read(check, event);
    else if (is_commit_of(event, check_setup(check)->strategy->cache.table))
        take_write(check, event);
    else if (event_is(event, "db.clock"))
        for (struct cached *at = state->entries; at; at = at->next)
            at->clock_was_changed = true;
}

const struct invariant invariant_one_rebuild = {
    .name = "one_rebuild",
    .verifies = "no two rebuilds of one entry at once, and none while there is a live entry",
    .does_not_verify = "who holds the lock, that a rebuild ends, reads that were refused",
    .state_size = sizeof(struct one_rebuild),
    .applies = views_have_cache,
    .event = one_rebuild_event,
};
