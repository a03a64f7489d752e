/* What is done under the lock: look again, read the source in several parts, save the entry. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/cache_lock/cache_lock.h"

#define PART_COUNT 3
#define READ_TRY_COUNT_MAX 3
#define READ_RETRY_NS NS_PER_S
#define FOR_EVER_NS (365 * NS_PER_DAY)

/* ---- the connection that the callback uses ---- */

/* The document's callback does not take the client that holds the lock; an admin's rebuild does. */
static bool uses_another(struct rt *rt, const struct rebuild *rebuild)
{
    return !rebuild->forced && (rt_weak(rt, CACHE_LOCK_WEAK_SECOND_CONNECTION) ||
                                rt_weak(rt, CACHE_LOCK_WEAK_REBUILD_AFTER_LOCK_LOST));
}

static struct link *callback_client(struct rt *rt, struct day_lock *lock,
                                    const struct rebuild *rebuild)
{
    if (!uses_another(rt, rebuild))
        return lock->client;
    bool waits = rt_weak(rt, CACHE_LOCK_WEAK_SECOND_CONNECTION);
    return clients_take(rt, &lock->api->reads, waits ? FOR_EVER_NS : POOL_WAIT_NS);
}

static void callback_done(struct rt *rt, struct day_lock *lock, const struct rebuild *rebuild,
                          struct link *client)
{
    if (uses_another(rt, rebuild))
        clients_give(rt, &lock->api->reads, client);
}

/* ---- the source ---- */

static enum err read_once(struct rt *rt, const struct day_lock *lock, const struct rebuild *rebuild,
                          struct rt_object *object)
{
    struct rt_claim claim = {.cluster_id = rebuild->date,
                             .job_id = rebuild->forced ? "refresh" : "rebuild",
                             .run = rebuild->run,
                             .token = lock->token};

    if (!day_lock_check(rt, lock))
        return ERR_FENCED;
    enum err err = rt_store_read(rt, source_key(rt, rebuild->date), &claim, object);
    return err == ERR_STORE_ABSENT ? ERR_OK : err; /* a day of which nothing is known */
}

/* The records come first; what is read of the day later only says what they are called. So the
 * entry is as old as its first read. */
static enum err read_part(struct rt *rt, const struct day_lock *lock, struct rebuild *rebuild)
{
    struct rt_object object;

    enum err err = read_once(rt, lock, rebuild, &object);
    for (int i = 1; i < READ_TRY_COUNT_MAX && err == ERR_STORE_UNAVAILABLE; i++) {
        rt_sleep(rt, READ_RETRY_NS);
        err = read_once(rt, lock, rebuild, &object);
    }
    if (err == ERR_OK && !rebuild->data)
        rebuild->data =
            object.version > 0 ? rt_printf(rt, "%.48s", object.content) : source_text(rt, 0, false);
    return err;
}

static enum err read_source(struct rt *rt, const struct day_lock *lock, struct rebuild *rebuild)
{
    for (int part = 0; part < PART_COUNT; part++) {
        enum err err = read_part(rt, lock, rebuild);
        if (err != ERR_OK)
            return err;
        rt_sleep(rt, rebuild->work_ns / PART_COUNT);
    }
    return ERR_OK;
}

/* ---- the callback ---- */

static enum err look_again(struct rt *rt, struct day_lock *lock, const struct rebuild *rebuild,
                           struct entry *entry)
{
    *entry = (struct entry){0};
    if (rebuild->forced || rt_weak(rt, CACHE_LOCK_WEAK_NO_DOUBLE_CHECK))
        return ERR_OK;
    struct link *client = callback_client(rt, lock, rebuild);
    if (!client)
        return ERR_DB_UNREACHABLE;
    enum err err = cache_check(rt, client, rebuild->date, entry);
    callback_done(rt, lock, rebuild, client);
    return err;
}

static enum err save(struct rt *rt, struct day_lock *lock, const struct rebuild *rebuild,
                     bool is_current)
{
    if (!day_lock_check(rt, lock))
        return ERR_FENCED;
    struct link *client = callback_client(rt, lock, rebuild);
    if (!client)
        return ERR_DB_UNREACHABLE;
    enum err err = cache_save(rt, client, rebuild, is_current);
    callback_done(rt, lock, rebuild, client);
    return err;
}

static enum err build(struct rt *rt, struct day_lock *lock, struct rebuild *rebuild)
{
    wall_time started = rt_wall_now(rt);

    rebuild->run = ++lock->api->run_count;
    cache_count(rt, METRIC_REBUILDS);
    enum err err = read_source(rt, lock, rebuild);
    if (err != ERR_OK)
        return err;
    return save(rt, lock, rebuild, day_goes_on(rt, rebuild, started));
}

enum err rebuild_within(struct rt *rt, struct day_lock *lock, struct rebuild *rebuild)
{
    struct entry entry;

    rebuild->data = NULL;
    enum err err = look_again(rt, lock, rebuild, &entry);
    if (err != ERR_OK)
        return err;
    if (entry.live) {
        rebuild->data = entry.data;
        return ERR_OK;
    }
    return build(rt, lock, rebuild);
}
