/* Another application of the same database, with advisory locks of its own. It knows nothing of
 * instances: the keys are its own numbers, and they are the same. */
#include "reference_impl/instance_lock/instance_lock.h"

struct stay {
    const char *key;
    int64_t at_ns, for_ns;
};

static void stay_body(struct rt *rt, void *arg)
{
    const struct stay *stay = arg;
    struct link link = {.label = "neighbour"};

    rt_sleep(rt, stay->at_ns);
    if (link_ready(rt, &link) != ERR_OK)
        return;
    if (link_exec(rt, &link, &instance_lock_lock_session, PARAMS(stay->key), NULL) == ERR_OK) {
        rt_sleep(rt, stay->for_ns);
        link_exec(rt, &link, &instance_lock_unlock_session, PARAMS(stay->key), NULL);
    }
    link_close(rt, &link);
}

void instance_lock_neighbour(struct rt *rt)
{
    int count = rt_workload_count(rt, "neighbours");

    for (int i = 0; i < count; i++) {
        struct stay *stay = rt_alloc(rt, sizeof *stay);
        stay->key = instance_id_of(rt, rt_workload_text(rt, "neighbours", i, "instance"));
        stay->at_ns = rt_workload_number(rt, "neighbours", i, "at");
        stay->for_ns = rt_workload_number(rt, "neighbours", i, "for");
        rt_spawn(rt, rt_printf(rt, "stay-%d", i + 1), stay_body, stay);
    }
}
