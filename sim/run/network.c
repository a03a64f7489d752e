#include "sim/run/network.h"

#include "sim/run/healing.h"
#include "sim/run/internal.h"

/* ---- partitions ---- */

bool network_hangs(const struct rt_db *db)
{
    return db->actor && db->actor->network == NETWORK_HANGING;
}

bool network_reach(struct rt *rt, int64_t patience_ns)
{
    struct sched *sched = rt->run->sched;
    int64_t deadline_ns = sched_now_ns(sched) + patience_ns;
    if (!rt->actor)
        return true;
    while (rt->actor->network == NETWORK_HANGING && sched_now_ns(sched) < deadline_ns) {
        rt->waits_for_network = true;
        fiber_block_until(sched, "waiting for the network", deadline_ns, false);
        rt->waits_for_network = false;
    }
    return rt->actor->network == NETWORK_UP;
}

void network_set(struct run *run, struct actor *actor, enum network network)
{
    actor->network = network;
    if (network != NETWORK_UP) {
        connections_of_parted(run, actor);
        return;
    }
    connections_of_healed(run, actor);
    for (struct rt *rt = run->receivers; rt; rt = rt->next_receiver)
        if (rt->actor == actor && rt->waits_for_network && fiber_is_blocked(rt->fiber))
            fiber_wake(run->sched, rt->fiber);
}

static void partition_end(struct run *run, void *data)
{
    network_set(run, data, NETWORK_UP);
}

void fault_partition(struct fault_host *host, enum partition_how how)
{
    static const struct {
        const char *name;
        enum network network;
    } hows[PARTITION_HOW_COUNT] = {
        [PARTITION_REFUSED] = {"refused", NETWORK_REFUSED},
        [PARTITION_HANGING] = {"hanging", NETWORK_HANGING},
    };
    struct run *run = host->run;
    struct actor *actor = host->actor;
    if (actor->network != NETWORK_UP) {
        host->missed = true;
        return;
    }
    fault_event_begin(host, "fault.partition");
    trace_text(run->trace, "target", actor->name);
    trace_text(run->trace, "how", hows[how].name);
    trace_end(run->trace);
    network_set(run, actor, hows[how].network);
    fault_lasts(host, actor->name, partition_end, actor);
}

/* ---- the pool ---- */

static bool is_limited(const struct run *run, const struct actor *actor)
{
    return run->pool.limit > 0 && actor && fault_targets(run->pool.target, actor);
}

static int open_count(const struct run *run)
{
    int count = 0;
    for (const struct rt_db *db = run->connections; db; db = db->next)
        if (is_limited(run, db->actor))
            count += db->session || (db->proc && !db->lost);
    return count;
}

bool pool_admits(struct rt *rt, const char *label)
{
    struct run *run = rt->run;
    int64_t deadline_ns = sched_now_ns(run->sched) + run->pool.wait_ns;
    if (is_limited(run, rt->actor) && open_count(run) >= run->pool.limit)
        trace_event(run->trace, "db.waits", fiber_name(rt->fiber), "label", label, NULL);
    while (is_limited(run, rt->actor) && open_count(run) >= run->pool.limit) {
        if (sched_now_ns(run->sched) >= deadline_ns)
            return false;
        rt->waits_for_place = true;
        fiber_block_until(run->sched, "waiting for a connection", deadline_ns, false);
        rt->waits_for_place = false;
    }
    return true;
}

void pool_wake(struct run *run)
{
    for (struct rt *rt = run->receivers; rt; rt = rt->next_receiver)
        if (rt->waits_for_place && fiber_is_blocked(rt->fiber))
            fiber_wake(run->sched, rt->fiber);
}

static void pool_end(struct run *run, void *data)
{
    (void)data;
    run->pool.limit = 0;
    pool_wake(run);
}

void fault_limit_connections(struct fault_host *host, int limit, int64_t wait_ns)
{
    struct run *run = host->run;
    const struct fault_common *common = host->fault->config;
    if (run->pool.limit > 0) {
        host->missed = true;
        return;
    }
    const char *target = common->target.name ? common->target.name : "any";
    fault_event_begin(host, "fault.pool_exhausted");
    trace_text(run->trace, "target", target);
    trace_number(run->trace, "limit", limit);
    trace_end(run->trace);
    run->pool = (struct pool){.limit = limit, .wait_ns = wait_ns, .target = &common->target};
    fault_lasts(host, target, pool_end, NULL);
}
