/* withAdvisoryLock. Hardened, the lock is a transaction's, on a connection that is kept for
 * rebuilding: it is held exactly as long as the transaction is good, and what is saved within it is
 * there only when it was held to the end. Each holder has a token that is greater than those of all
 * before, committed before the holder begins. */
#include <stdlib.h>
#include <string.h>

#include "reference_impl/cache_lock/cache_lock.h"

/* The first of two integers: of what the lock is. The second is the day. */
#define LOCK_CLASS "1667327336"
#define BLOCKING_ROUND_NS (500 * NS_PER_MS)

static bool is_of_session(struct rt *rt)
{
    return rt_weak(rt, CACHE_LOCK_WEAK_LOCK_ON_POOLED_CONNECTION);
}

static bool is_fenced(struct rt *rt)
{
    return !rt_weak(rt, CACHE_LOCK_WEAK_READS_NOT_FENCED);
}

static struct clients *clients_of(struct rt *rt, const struct day_lock *lock)
{
    return is_of_session(rt) ? &lock->api->reads : &lock->api->rebuilds;
}

/* ---- statements ---- */

/* "'2025-01-15' => 20250115" */
static const char *lock_id(struct rt *rt, const char *date)
{
    long year = strtol(date, NULL, 10);
    const char *month = strchr(date, '-');
    const char *day = month ? strchr(month + 1, '-') : NULL;
    FP_ASSERT(day != NULL);
    return rt_printf(rt, "%ld",
                     year * 10000 + strtol(month + 1, NULL, 10) * 100 + strtol(day + 1, NULL, 10));
}

/* Of each: by class and day, or by the day alone; of a transaction, or of a session. */
struct lock_sql {
    const struct rt_sql *by_class[2], *by_date[2];
};
static const struct lock_sql try_sql = {
    {&cache_lock_try_lock, &cache_lock_try_lock_of_session},
    {&cache_lock_try_lock_by_date, &cache_lock_try_lock_of_session_by_date},
};
static const struct lock_sql wait_sql = {
    {&cache_lock_wait_for_lock, &cache_lock_wait_for_lock_of_session},
    {&cache_lock_wait_for_lock_by_date, &cache_lock_wait_for_lock_of_session_by_date},
};
static const struct lock_sql unlock_sql = {
    {NULL, &cache_lock_unlock_session},
    {NULL, &cache_lock_unlock_session_by_date},
};

static enum err exec_on_key(struct rt *rt, const struct day_lock *lock, const struct lock_sql *sql,
                            struct rt_rows *rows)
{
    const char *id = lock_id(rt, lock->date);
    int scope = is_of_session(rt) ? 1 : 0;

    if (rt_weak(rt, CACHE_LOCK_WEAK_KEYS_COLLIDE))
        return link_exec(rt, lock->client, sql->by_date[scope], PARAMS(id), rows);
    return link_exec(rt, lock->client, sql->by_class[scope], PARAMS(LOCK_CLASS, id), rows);
}

/* ---- taking it ---- */

static enum lock_result lock_once(struct rt *rt, const struct day_lock *lock, bool wait)
{
    struct rt_rows rows = {0};

    if (!is_of_session(rt) && link_exec(rt, lock->client, &common_begin, NULL, NULL) != ERR_OK)
        return LOCK_FAILED;
    if (exec_on_key(rt, lock, wait ? &wait_sql : &try_sql, &rows) != ERR_OK)
        return LOCK_FAILED;
    return wait || strcmp(rt_cell(&rows, 0, 0), "t") == 0 ? LOCK_GOT : LOCK_HELD;
}

static bool draw_token_by(struct rt *rt, struct day_lock *lock, struct link *client)
{
    struct rt_rows rows = {0};

    if (link_exec(rt, client, &cache_lock_next_token, PARAMS(lock->date), &rows) != ERR_OK)
        return false;
    lock->token = strtoll(rt_cell(&rows, 0, 0), NULL, 10);
    return true;
}

/* Outside of the transaction that holds the lock, so that it is committed at once: whoever comes
 * after this holder, however this one ends, gets a greater one. Not by a connection that is kept
 * for rebuilding: who holds one of these must not wait for another. */
static bool draw_token(struct rt *rt, struct day_lock *lock)
{
    struct clients *reads = &lock->api->reads;

    if (!is_fenced(rt))
        return true;
    if (is_of_session(rt))
        return draw_token_by(rt, lock, lock->client);
    struct link *client = clients_take(rt, reads, POOL_WAIT_NS);
    bool drawn = client && draw_token_by(rt, lock, client);
    clients_give(rt, reads, client);
    return drawn;
}

static void report(struct rt *rt, const struct day_lock *lock, const char *kind)
{
    rt_emit(rt, kind, "date", lock->date, "request", lock->request, "instance", rt_instance(rt),
            NULL);
}

/* A wait in the server, of which its caller may lose patience: nobody tells the server. */
struct patience {
    struct day_lock lock;
    struct rt_signal done;
    enum lock_result result;
    bool is_over, is_lost;
};

static void wait_body(struct rt *rt, void *arg)
{
    struct patience *patience = arg;

    patience->result = lock_once(rt, &patience->lock, true);
    patience->is_over = true;
    if (patience->is_lost)
        clients_give(rt, clients_of(rt, &patience->lock), patience->lock.client);
    else
        rt_raise(rt, &patience->done);
}

static enum lock_result wait_impatiently(struct rt *rt, struct day_lock *lock)
{
    struct patience *patience = rt_alloc(rt, sizeof *patience);

    patience->lock = *lock;
    rt_spawn(rt, "wait", wait_body, patience);
    rt_wait(rt, &patience->done, BLOCKING_TIMEOUT_NS);
    if (patience->is_over)
        return patience->result;
    patience->is_lost = true;
    lock->client = NULL;
    return LOCK_HELD;
}

/* What was not got: the session of a transaction is as good as new after a ROLLBACK. */
static void put_back(struct rt *rt, struct day_lock *lock, enum lock_result result)
{
    struct clients *clients = clients_of(rt, lock);

    if (!lock->client || is_of_session(rt)) {
        clients_give(rt, clients, lock->client);
    } else if (result == LOCK_HELD) {
        link_rollback(rt, lock->client);
        clients_give(rt, clients, lock->client);
    } else {
        clients_discard(rt, clients, lock->client);
    }
    lock->client = NULL;
}

static enum lock_result enter_once(struct rt *rt, struct day_lock *lock, bool wait)
{
    lock->token = 0;
    lock->client = clients_take(rt, clients_of(rt, lock), POOL_WAIT_NS);
    if (!lock->client) /* others of this process build, or the database is away */
        return clients_are_taken(clients_of(rt, lock)) ? LOCK_HELD : LOCK_FAILED;
    enum lock_result result = wait && rt_weak(rt, CACHE_LOCK_WEAK_TIMEOUT_LEAVES_WAITER)
                                  ? wait_impatiently(rt, lock)
                                  : lock_once(rt, lock, wait);
    if (result != LOCK_GOT) {
        put_back(rt, lock, result);
        return result;
    }
    report(rt, lock, "lock.acquired");
    if (draw_token(rt, lock))
        return LOCK_GOT;
    day_lock_leave(rt, lock, false);
    return LOCK_FAILED;
}

/* Hardened, a wait is a row of tries: nothing is left waiting in the server when the time is up. */
enum lock_result day_lock_enter(struct rt *rt, struct day_lock *lock, bool blocking)
{
    mono_time start = rt_mono_now(rt);

    if (blocking && (rt_weak(rt, CACHE_LOCK_WEAK_BLOCKING_WITHOUT_TIMEOUT) ||
                     rt_weak(rt, CACHE_LOCK_WEAK_TIMEOUT_LEAVES_WAITER)))
        return enter_once(rt, lock, true);
    enum lock_result result = enter_once(rt, lock, false);
    while (blocking && result == LOCK_HELD &&
           mono_since_ns(rt_mono_now(rt), start) < BLOCKING_TIMEOUT_NS) {
        rt_sleep(rt, BLOCKING_ROUND_NS);
        result = enter_once(rt, lock, false);
    }
    return result;
}

/* ---- holding it, and giving it back ---- */

bool day_lock_check(struct rt *rt, const struct day_lock *lock)
{
    if (rt_weak(rt, CACHE_LOCK_WEAK_REBUILD_AFTER_LOCK_LOST))
        return true;
    return link_exec(rt, lock->client, &cache_lock_still_held, NULL, NULL) == ERR_OK;
}

/* The document's finally: unlock, then back to the pool, whatever the unlock said. */
static enum err leave_session(struct rt *rt, struct day_lock *lock)
{
    struct rt_rows rows = {0};

    enum err err = exec_on_key(rt, lock, &unlock_sql, &rows);
    clients_give(rt, &lock->api->reads, lock->client);
    return err;
}

/* A connection that will not say that its transaction is over is closed, and then it is. */
static enum err leave_transaction(struct rt *rt, struct day_lock *lock, bool good)
{
    enum err err =
        link_exec(rt, lock->client, good ? &common_commit : &common_rollback, NULL, NULL);
    if (err == ERR_OK)
        clients_give(rt, &lock->api->rebuilds, lock->client);
    else
        clients_discard(rt, &lock->api->rebuilds, lock->client);
    return err;
}

enum err day_lock_leave(struct rt *rt, struct day_lock *lock, bool good)
{
    FP_ASSERT(lock->client != NULL);
    enum err err = is_of_session(rt) ? leave_session(rt, lock) : leave_transaction(rt, lock, good);
    lock->client = NULL;
    report(rt, lock, "lock.released");
    return err;
}
