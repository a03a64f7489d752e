/* A small pool of connections. Who finds none waits in line; a connection that comes back goes to
 * the first of them. */
#include "reference_impl/cache_lock/cache_lock.h"

struct client_waiter {
    struct client_waiter *next;
    struct rt_signal signal;
    struct link *given;
};

void clients_init(struct clients *clients, const char *const *labels, int size)
{
    FP_ASSERT(size > 0 && size <= CLIENT_COUNT_MAX);
    clients->size = size;
    for (int i = 0; i < size; i++)
        clients->links[i].label = labels[i];
}

static struct link *take_idle(struct clients *clients)
{
    for (int i = 0; i < clients->size; i++) {
        if (clients->taken[i])
            continue;
        clients->taken[i] = true;
        return &clients->links[i];
    }
    return NULL;
}

static void leave_line(struct clients *clients, const struct client_waiter *waiter)
{
    struct client_waiter **at = &clients->waiters;
    while (*at && *at != waiter)
        at = &(*at)->next;
    if (*at)
        *at = waiter->next;
}

/* NULL: none came back for so long. */
static struct link *wait_in_line(struct rt *rt, struct clients *clients, int64_t wait_ns)
{
    struct client_waiter *waiter = rt_alloc(rt, sizeof *waiter);
    struct client_waiter **at = &clients->waiters;
    while (*at)
        at = &(*at)->next;
    *at = waiter;
    rt_wait(rt, &waiter->signal, wait_ns);
    leave_line(clients, waiter);
    return waiter->given;
}

struct link *clients_take(struct rt *rt, struct clients *clients, int64_t wait_ns)
{
    struct link *client = take_idle(clients);
    if (!client)
        client = wait_in_line(rt, clients, wait_ns);
    if (!client)
        return NULL;
    if (link_ready(rt, client) == ERR_OK)
        return client;
    clients_give(rt, clients, client);
    return NULL;
}

bool clients_are_taken(const struct clients *clients)
{
    for (int i = 0; i < clients->size; i++)
        if (!clients->taken[i])
            return false;
    return true;
}

void clients_give(struct rt *rt, struct clients *clients, struct link *client)
{
    if (!client)
        return;
    struct client_waiter *first = clients->waiters;
    if (!first) {
        clients->taken[client - clients->links] = false;
        return;
    }
    clients->waiters = first->next;
    first->given = client;
    rt_raise(rt, &first->signal);
}

void clients_discard(struct rt *rt, struct clients *clients, struct link *client)
{
    if (client)
        link_close(rt, client);
    clients_give(rt, clients, client);
}
