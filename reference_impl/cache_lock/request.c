/* The requests: getCachedDailyData, an admin's rebuild, and what the document's tests do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reference_impl/cache_lock/cache_lock.h"

#define BODY_WORD_COUNT 4
#define REFRESH_RETRY_NS (5 * NS_PER_S)

struct request {
    const char *id, *kind, *date;
    int64_t work_ns; /* how long a rebuild for it takes */
    struct api *api;
};

enum attempt { ATTEMPT_DATA, ATTEMPT_HELD, ATTEMPT_FAILED };

/* ---- messages ---- */

const char *cache_request_body(struct rt *rt, int index)
{
    return rt_printf(rt, "%s %s %" PRId64, rt_workload_text(rt, "requests", index, "kind"),
                     rt_workload_text(rt, "requests", index, "date"),
                     rt_workload_number(rt, "requests", index, "takes"));
}

/* "r3 read 2026-01-01 30000000000". False: it is no request. */
static bool parse(struct rt *rt, const char *body, struct request *request)
{
    const char *words[BODY_WORD_COUNT];

    for (int i = 0; i < BODY_WORD_COUNT; i++) {
        const char *end = strchr(body, ' ');
        if (!end && i < BODY_WORD_COUNT - 1)
            return false;
        words[i] = end ? rt_printf(rt, "%.*s", (int)(end - body), body) : body;
        body = end ? end + 1 : body;
    }
    request->id = words[0];
    request->kind = words[1];
    request->date = words[2];
    request->work_ns = strtoll(words[3], NULL, 10);
    return true;
}

static void answer(struct rt *rt, const struct request *request, const char *result,
                   const char *data)
{
    rt_emit(rt, "request.answered", "request", request->id, "date", request->date, "instance",
            rt_instance(rt), "result", result, "data", data, NULL);
}

/* ---- the parts ---- */

/* checkCache, by a connection of the pool. */
static enum err look(struct rt *rt, const struct request *request, struct entry *entry)
{
    struct clients *clients = &request->api->reads;

    *entry = (struct entry){0};
    struct link *client = clients_take(rt, clients, POOL_WAIT_NS);
    if (!client)
        return ERR_DB_UNREACHABLE;
    enum err err = cache_check(rt, client, request->date, entry);
    clients_give(rt, clients, client);
    return err;
}

static enum attempt attempt(struct rt *rt, const struct request *request, bool forced,
                            const char **data)
{
    struct day_lock lock = {.api = request->api, .date = request->date, .request = request->id};
    struct rebuild rebuild = {.date = request->date, .forced = forced, .work_ns = request->work_ns};

    enum lock_result result = day_lock_enter(rt, &lock, forced);
    if (result != LOCK_GOT)
        return result == LOCK_HELD ? ATTEMPT_HELD : ATTEMPT_FAILED;
    cache_count(rt, METRIC_LOCKED);
    enum err err = rebuild_within(rt, &lock, &rebuild);
    enum err left = day_lock_leave(rt, &lock, err == ERR_OK);
    err = err == ERR_OK ? left : err;
    *data = rebuild.data;
    return err == ERR_OK ? ATTEMPT_DATA : ATTEMPT_FAILED;
}

/* ---- getCachedDailyData ---- */

/* The document's: wait briefly, look once more, and give back what there is. */
static void lose_as_written(struct rt *rt, const struct request *request)
{
    struct entry entry;

    rt_sleep(rt, LOSER_WAIT_NS);
    if (look(rt, request, &entry) != ERR_OK)
        answer(rt, request, "failed", NULL);
    else
        answer(rt, request, entry.live ? "data" : "nothing", entry.live ? entry.data : NULL);
}

/* Nobody built it in time. What is out of date is better than nothing, and says so. */
static void give_up(struct rt *rt, const struct request *request, const struct entry *entry,
                    enum attempt last)
{
    answer(rt, request, last == ATTEMPT_HELD ? "busy" : "failed", entry->data);
}

/* Who does not get the lock looks again, and tries again, until there is an entry or the time is
 * up. */
static void go_on(struct rt *rt, const struct request *request, enum attempt last, mono_time start)
{
    struct entry entry = {0};
    int64_t backoff_ns = LOSER_WAIT_NS;

    while (mono_since_ns(rt_mono_now(rt), start) < REQUEST_BUDGET_NS) {
        const char *data;
        rt_sleep(rt, backoff_ns);
        backoff_ns = 2 * backoff_ns < BACKOFF_MAX_NS ? 2 * backoff_ns : BACKOFF_MAX_NS;
        if (look(rt, request, &entry) != ERR_OK) {
            last = ATTEMPT_FAILED;
            continue;
        }
        if (entry.live) {
            answer(rt, request, "data", entry.data);
            return;
        }
        last = attempt(rt, request, false, &data);
        if (last == ATTEMPT_DATA) {
            answer(rt, request, "data", data);
            return;
        }
    }
    give_up(rt, request, &entry, last);
}

static void serve_read(struct rt *rt, const struct request *request)
{
    mono_time start = rt_mono_now(rt);
    struct entry entry;
    const char *data;
    enum attempt result = ATTEMPT_FAILED;

    if (look(rt, request, &entry) == ERR_OK) {
        cache_count(rt, entry.live ? METRIC_HITS : METRIC_MISSES);
        if (entry.live) {
            answer(rt, request, "data", entry.data);
            return;
        }
        result = attempt(rt, request, false, &data);
    }
    if (result == ATTEMPT_HELD)
        cache_count(rt, METRIC_NOT_LOCKED);
    if (result == ATTEMPT_DATA)
        answer(rt, request, "data", data);
    else if (!rt_weak(rt, CACHE_LOCK_WEAK_LOSER_RETURNS_NOTHING))
        go_on(rt, request, result, start);
    else if (result == ATTEMPT_HELD)
        lose_as_written(rt, request);
    else
        answer(rt, request, "failed", NULL);
}

/* ---- the others ---- */

/* An admin's: there may be an entry, and it is built anew. What goes wrong is tried again; who
 * finds another at work is told so. */
static void serve_refresh(struct rt *rt, const struct request *request)
{
    mono_time start = rt_mono_now(rt);
    const char *data = NULL;

    enum attempt result = attempt(rt, request, true, &data);
    while (result == ATTEMPT_FAILED && !rt_weak(rt, CACHE_LOCK_WEAK_LOSER_RETURNS_NOTHING) &&
           mono_since_ns(rt_mono_now(rt), start) < REQUEST_BUDGET_NS) {
        rt_sleep(rt, REFRESH_RETRY_NS);
        result = attempt(rt, request, true, &data);
    }
    if (result == ATTEMPT_HELD)
        cache_count(rt, METRIC_NOT_LOCKED);
    if (result == ATTEMPT_DATA)
        answer(rt, request, "data", data);
    else
        answer(rt, request, result == ATTEMPT_HELD ? "busy" : "failed", NULL);
}

/* "Verify lock released even if function throws". */
static void serve_throw(struct rt *rt, const struct request *request)
{
    struct day_lock lock = {.api = request->api, .date = request->date, .request = request->id};

    if (day_lock_enter(rt, &lock, false) == LOCK_GOT)
        day_lock_leave(rt, &lock, false);
    answer(rt, request, "thrown", NULL);
}

/* "Ensure all locks released": on whatever connection the pool has to give. */
static void serve_cleanup(struct rt *rt, const struct request *request)
{
    struct clients *clients = &request->api->reads;
    struct link *client = clients_take(rt, clients, POOL_WAIT_NS);

    if (client)
        link_exec(rt, client, &cache_lock_unlock_all, NULL, NULL);
    clients_give(rt, clients, client);
    answer(rt, request, "cleaned", NULL);
}

static const struct {
    const char *kind;
    void (*serve)(struct rt *rt, const struct request *request);
} kinds[] = {
    {"read", serve_read},
    {"refresh", serve_refresh},
    {"throw", serve_throw},
    {"cleanup", serve_cleanup},
};

void cache_request_serve(struct rt *rt, struct api *api, const char *body)
{
    struct request request = {.api = api};

    if (!parse(rt, body, &request)) {
        rt_emit(rt, "message.unreadable", "body", body, NULL);
        return;
    }
    rt_emit(rt, "request.received", "request", request.id, "date", request.date, "kind",
            request.kind, "instance", rt_instance(rt), NULL);
    for (size_t i = 0; i < FP_COUNT(kinds); i++)
        if (strcmp(kinds[i].kind, request.kind) == 0)
            kinds[i].serve(rt, &request);
}
