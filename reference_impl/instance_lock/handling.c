/* One request in an app's hands, and its connection. */
#include "reference_impl/instance_lock/instance_lock.h"

bool handling_is_late(struct rt *rt, const struct handling *handling)
{
    return mono_since_ns(rt_mono_now(rt), handling->began) > HANDLE_NS_MAX;
}

/* An advisory lock of the session is held by its connection: who loses it does not get another. */
static bool is_of_session(const struct handling *handling)
{
    return handling->locking == LOCKING_ADVISORY || handling->locking == LOCKING_ADVISORY_WAIT;
}

static void give_back(struct rt *rt, struct handling *handling)
{
    if (handling->link.db == NULL)
        return;
    link_close(rt, &handling->link);
    handling->held_ns += mono_since_ns(rt_mono_now(rt), handling->connected);
}

enum err handling_connect(struct rt *rt, struct handling *handling)
{
    if (handling->link.db != NULL && !rt_db_is_lost(handling->link.db))
        return ERR_OK;
    give_back(rt, handling);
    enum err err = link_ready(rt, &handling->link);
    handling->connected = rt_mono_now(rt);
    return err;
}

void handling_disconnect(struct rt *rt, struct handling *handling)
{
    if (!is_of_session(handling) || handling->lock_token == NULL)
        give_back(rt, handling);
}

enum err handling_exec(struct rt *rt, struct handling *handling, const struct rt_sql *sql,
                       const char *const *params, struct rt_rows *rows)
{
    bool has_session = is_of_session(handling) && handling->lock_token != NULL;
    enum err err = has_session ? ERR_OK : handling_connect(rt, handling);
    if (err != ERR_OK)
        return err;
    handling->round_trip_count++;
    return link_exec(rt, &handling->link, sql, params, rows);
}

int handling_status_of(enum err err)
{
    return err == ERR_DB_UNREACHABLE ? HTTP_UNAVAILABLE : HTTP_FAILED;
}
