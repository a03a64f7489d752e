/* The server in front of the cache: each request is a fiber of its own, and all share the pools. */
#include "reference_impl/cache_lock/cache_lock.h"

#define RECEIVE_WAIT_NS NS_PER_DAY

struct visit {
    struct api *api;
    const char *body;
};

static void visit_body(struct rt *rt, void *arg)
{
    struct visit *visit = arg;
    cache_request_serve(rt, visit->api, visit->body);
}

/* A request that was taken is not given to another: when this process dies, its user sees an error
 * and asks again, or not. */
static void take(struct rt *rt, struct api *api, const struct rt_message *message)
{
    struct visit *visit = rt_alloc(rt, sizeof *visit);

    visit->api = api;
    visit->body = rt_printf(rt, "%s", message->body);
    rt_queue_delete(rt, message->receipt);
    rt_spawn(rt, "request", visit_body, visit);
}

void cache_lock_api(struct rt *rt)
{
    static const char *const read_labels[READ_POOL_SIZE] = {"pool-1", "pool-2", "pool-3"};
    static const char *const rebuild_labels[REBUILD_POOL_SIZE] = {"rebuild-1", "rebuild-2"};
    struct api *api = rt_alloc(rt, sizeof *api);
    struct rt_message message;

    clients_init(&api->reads, read_labels, READ_POOL_SIZE);
    clients_init(&api->rebuilds, rebuild_labels, REBUILD_POOL_SIZE);
    for (;;)
        if (rt_queue_receive(rt, RECEIVE_WAIT_NS, &message) == ERR_OK)
            take(rt, api, &message);
}
