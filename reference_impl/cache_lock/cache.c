/* The table of entries. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reference_impl/cache_lock/cache_lock.h"

enum err cache_check(struct rt *rt, struct link *client, const char *date, struct entry *entry)
{
    struct rt_rows rows = {0};

    *entry = (struct entry){0};
    enum err err = link_exec(rt, client, &cache_lock_check_cache, PARAMS(date), &rows);
    if (err != ERR_OK || rows.row_count == 0)
        return err;
    entry->data = keep_cell(rt, &rows, 0, 0);
    entry->live = strcmp(rt_cell(&rows, 0, 1), "t") == 0;
    return ERR_OK;
}

static const struct rt_sql *save_sql(struct rt *rt)
{
    if (rt_weak(rt, CACHE_LOCK_WEAK_INSERT_ONLY))
        return &cache_lock_save_entry_insert_only;
    if (rt_weak(rt, CACHE_LOCK_WEAK_LAST_WRITE_WINS))
        return &cache_lock_save_entry_last_wins;
    return &cache_lock_save_entry;
}

/* What is written, as text. */
struct saved {
    const char *by_user, *by_model, *version, *built_by, *kind;
};

static enum err save_in_parts(struct rt *rt, struct link *client, const struct rebuild *rebuild,
                              const struct saved *saved)
{
    enum err err = link_exec(
        rt, client, &cache_lock_save_raw_data,
        PARAMS(rebuild->date, rebuild->data, saved->version, saved->built_by, saved->kind), NULL);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, client, &cache_lock_save_aggregates,
                     PARAMS(rebuild->date, saved->by_user, saved->by_model), NULL);
}

enum err cache_save(struct rt *rt, struct link *client, const struct rebuild *rebuild,
                    bool is_current)
{
    FP_ASSERT(rebuild->data != NULL);
    const struct saved saved = {
        .by_user = rt_printf(rt, "%s by user", rebuild->data),
        .by_model = rt_printf(rt, "%s by model", rebuild->data),
        .version = rt_printf(rt, "%lld", strtoll(rebuild->data, NULL, 10)),
        .built_by = rt_printf(rt, "%s#%" PRId64, rt_instance(rt), rebuild->run),
        .kind = is_current ? "current" : "historical",
    };

    if (rt_weak(rt, CACHE_LOCK_WEAK_SAVE_IN_PARTS))
        return save_in_parts(rt, client, rebuild, &saved);
    return link_exec(rt, client, save_sql(rt),
                     PARAMS(rebuild->date, rebuild->data, saved.by_user, saved.by_model,
                            saved.version, saved.built_by, saved.kind),
                     NULL);
}
