/* The users: what they have scheduled before the run, what they put off, and what they schedule
 * again when they read that it has failed. */
#include <inttypes.h>

#include "reference_impl/uuid_lock/uuid_lock.h"

#define WISH_TRY_COUNT_MAX 1000

/* One entry of the workload may stand for many deviations. */
static const char *deviation_id(struct rt *rt, int entry, int64_t index)
{
    const char *name = rt_workload_text(rt, "deviations", entry, "name");
    if (rt_workload_number(rt, "deviations", entry, "count") == 1)
        return name;
    return rt_printf(rt, "%s-%" PRId64, name, index + 1);
}

static void insert(struct rt *rt, struct link *link, int entry)
{
    int64_t count = rt_workload_number(rt, "deviations", entry, "count");
    int64_t at_s = rt_workload_number(rt, "deviations", entry, "at") / NS_PER_S;
    int64_t upload_s = rt_workload_number(rt, "deviations", entry, "upload") / NS_PER_S;

    for (int64_t i = 0; i < count; i++) {
        enum err err = link_exec(rt, link, &uuid_lock_insert_deviation,
                                 PARAMS(deviation_id(rt, entry, i), rt_printf(rt, "%" PRId64, at_s),
                                        rt_printf(rt, "%" PRId64, upload_s)),
                                 NULL);
        FP_ASSERT(err == ERR_OK); /* a scenario has each name once */
    }
}

void uuid_lock_setup(struct rt *rt)
{
    struct link link = {.label = "setup"};
    int count = rt_workload_count(rt, "deviations");

    enum err err = link_ready(rt, &link);
    FP_ASSERT(err == ERR_OK); /* nothing fails yet */
    for (int i = 0; i < count; i++)
        insert(rt, &link, i);
    link_close(rt, &link);
}

/* What a user does to one deviation. It may be done twice. */
static void wish(struct rt *rt, struct link *link, const struct rt_sql *sql, const char *id,
                 const char *const *params)
{
    for (int i = 0; i < WISH_TRY_COUNT_MAX; i++) {
        struct rt_rows rows = {0};
        enum err err = link_ready(rt, link);
        if (err == ERR_OK)
            err = link_exec(rt, link, sql, params, &rows);
        if (err == ERR_OK) {
            rt_emit(rt, rows.affected_count > 0 ? "user.heard" : "user.too_late", "deviation", id,
                    "wish", sql->name, NULL);
            return;
        }
        rt_sleep(rt, RECONNECT_NS);
    }
}

static void wait_for(struct rt *rt, mono_time start, const char *list, int index)
{
    int64_t wait_ns =
        rt_workload_number(rt, list, index, "at") - mono_since_ns(rt_mono_now(rt), start);
    if (wait_ns > 0)
        rt_sleep(rt, wait_ns);
}

/* One user puts off, another schedules again. Each in the order of the list; what is past is done
 * at once. */
static void postpone_body(struct rt *rt, void *arg)
{
    struct link link = {.label = "postpone"};
    mono_time start = rt_mono_now(rt);
    int count = rt_workload_count(rt, "postpones");
    (void)arg;

    for (int i = 0; i < count; i++) {
        wait_for(rt, start, "postpones", i);
        const char *id = rt_workload_text(rt, "postpones", i, "deviation");
        int64_t by_s = rt_workload_number(rt, "postpones", i, "by") / NS_PER_S;
        wish(rt, &link, &uuid_lock_postpone, id, PARAMS(id, rt_printf(rt, "%" PRId64, by_s)));
    }
    link_close(rt, &link);
}

void uuid_lock_user(struct rt *rt)
{
    struct link link = {.label = "user"};
    mono_time start = rt_mono_now(rt);
    int count = rt_workload_count(rt, "retries");

    rt_spawn(rt, "postpone", postpone_body, NULL);
    for (int i = 0; i < count; i++) {
        wait_for(rt, start, "retries", i);
        const char *id = rt_workload_text(rt, "retries", i, "deviation");
        wish(rt, &link, &uuid_lock_reschedule, id, PARAMS(id));
    }
    link_close(rt, &link);
}
