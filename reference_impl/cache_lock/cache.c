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

enum err cache_save(struct rt *rt, struct link *client, const struct rebuild *rebuild,
                    bool is_current)
{
    FP_ASSERT(rebuild->data != NULL);
    const char *version = rt_printf(rt, "%lld", strtoll(rebuild->data, NULL, 10));
    return link_exec(rt, client, save_sql(rt),
                     PARAMS(rebuild->date, rebuild->data,
                            rt_printf(rt, "%s by user", rebuild->data),
                            rt_printf(rt, "%s by model", rebuild->data), version,
                            rt_printf(rt, "%s#%" PRId64, rt_instance(rt), rebuild->run),
                            is_current ? "current" : "historical"),
                     NULL);
}
