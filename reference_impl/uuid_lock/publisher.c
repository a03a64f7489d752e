/* The two actors that publish: the auto-scheduler, and beside it the recovery of what is past due.
 * Both call processScheduledDeviation. */
#include "reference_impl/uuid_lock/uuid_lock.h"

static void publish_for_ever(struct rt *rt, const struct rt_sql *list, int64_t interval_ns)
{
    struct publisher *publisher = rt_alloc(rt, sizeof *publisher);
    publisher->link.label = "publisher";

    for (;;) {
        publish_listed(rt, publisher, list);
        /* "jitter in scheduling reduces contention" */
        rt_idle(rt, interval_ns + rt_random(rt, JITTER_S) * NS_PER_S);
    }
}

void uuid_lock_scheduler(struct rt *rt)
{
    publish_for_ever(rt, &uuid_lock_list_due, SCHEDULER_INTERVAL_NS);
}

void uuid_lock_recovery(struct rt *rt)
{
    publish_for_ever(rt, &uuid_lock_list_past_due, RECOVERY_INTERVAL_NS);
}
