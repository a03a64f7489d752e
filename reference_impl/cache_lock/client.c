/* The users: they ask at the times of the workload, in the order of its list. What stands between
 * them and the servers is a queue, so that any server may get any request. */
#include "reference_impl/cache_lock/cache_lock.h"

static void send(struct rt *rt, int index, int *number)
{
    int64_t count = rt_workload_number(rt, "requests", index, "count");

    for (int64_t i = 0; i < count; i++) {
        const char *id = rt_printf(rt, "r%d", ++*number);
        rt_queue_send(rt, id, rt_printf(rt, "%s %s", id, cache_request_body(rt, index)));
    }
}

void cache_lock_client(struct rt *rt)
{
    mono_time start = rt_mono_now(rt);
    int entry_count = rt_workload_count(rt, "requests");
    int number = 0;

    for (int i = 0; i < entry_count; i++) {
        int64_t at_ns = rt_workload_number(rt, "requests", i, "at");
        int64_t wait_ns = at_ns - mono_since_ns(rt_mono_now(rt), start);
        if (wait_ns > 0)
            rt_sleep(rt, wait_ns);
        send(rt, i, &number);
    }
}
