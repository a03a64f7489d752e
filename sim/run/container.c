/* The container of the server, as the actors see what is done to it. It is done for real and at
 * once; how long it takes is virtual. */
#include "sim/run/healing.h"
#include "sim/run/internal.h"
#include "sim/run/network.h"
#include "sim/run/servers.h"

/* Who could reach the server when it was paused. */
struct frozen {
    bool actors[RUN_ACTOR_COUNT_MAX];
};

static void end_pause(struct run *run, void *data)
{
    const struct frozen *frozen = data;
    for (int i = 0; i < run->actor_count; i++)
        if (frozen->actors[i])
            network_set(run, &run->actors[i], NETWORK_UP);
}

static void pause_container(struct fault_host *host)
{
    struct run *run = host->run;
    struct frozen *frozen = arena_alloc(proc_arena(run->harness), sizeof *frozen);
    for (int i = 0; i < run->actor_count; i++) {
        frozen->actors[i] = run->actors[i].network == NETWORK_UP;
        if (frozen->actors[i])
            network_set(run, &run->actors[i], NETWORK_HANGING);
    }
    fault_lasts(host, "container", end_pause, frozen);
}

static bool is_within_reach(const struct run *run)
{
    for (int i = 0; i < run->actor_count; i++)
        if (run->actors[i].network == NETWORK_UP)
            return !servers_are_down(run, false);
    return false;
}

void fault_hit_container(struct fault_host *host, enum container_how how)
{
    static const struct {
        const char *name;
        enum pg_hit hit;
    } hows[CONTAINER_HOW_COUNT] = {
        [CONTAINER_PAUSE] = {"pause", PG_HIT_PAUSE},
        [CONTAINER_RESTART] = {"restart", PG_HIT_RESTART},
        [CONTAINER_KILL] = {"kill", PG_HIT_KILL},
    };
    struct run *run = host->run;
    if (!is_within_reach(run)) {
        host->missed = true;
        return;
    }
    if (how != CONTAINER_PAUSE)
        servers_take_what_comes(host);
    fault_event_begin(host, "fault.container");
    trace_text(run->trace, "how", hows[how].name);
    trace_end(run->trace);
    if (how != CONTAINER_PAUSE)
        connections_sever(run, true);
    if (pg_lane_hit(run->lane->pg, hows[how].hit) != ERR_OK)
        run_trouble(run, "%s", pg_lane_trouble(run->lane->pg));
    else if (how == CONTAINER_PAUSE)
        pause_container(host);
    else
        servers_go_down(host, "container");
}
