/* Servers that lag, die and are replaced, as the actors see it: what a standby shows at this
 * virtual time, and what is gone after a failover. */
#include "sim/run/servers.h"

#include <stdlib.h>

#include "sim/run/healing.h"
#include "sim/run/internal.h"

/* What was committed when, as a place in the primary's log. */
struct log_point {
    int64_t t_ns;
    uint64_t position;
};

struct servers {
    bool down;         /* nobody can connect to the primary */
    bool standby_down; /* nor to a standby */
    bool lagging;
    int64_t lag_ns;           /* 0: nothing new is shown */
    struct log_point *points; /* since the lag began */
    size_t point_count, point_capacity;
};

struct servers *servers_new(void)
{
    return fp_alloc(sizeof(struct servers));
}

void servers_free(struct servers *servers)
{
    free(servers->points);
    free(servers);
}

static bool succeeded(struct run *run, enum err err)
{
    if (err != ERR_OK)
        run_trouble(run, "%s", pg_lane_trouble(run->lane->pg));
    return err == ERR_OK;
}

/* ---- what is where ---- */

static void note_position(struct run *run)
{
    struct servers *servers = run->servers;
    uint64_t position;
    if (!succeeded(run, pg_lane_position(run->lane->pg, &position)))
        return;
    if (servers->point_count == servers->point_capacity) {
        servers->point_capacity = 2 * servers->point_capacity + 64;
        servers->points =
            fp_realloc(servers->points, servers->point_capacity * sizeof servers->points[0]);
    }
    servers->points[servers->point_count++] =
        (struct log_point){.t_ns = sched_now_ns(run->sched), .position = position};
}

void servers_committed(struct run *run)
{
    if (run->servers->lagging)
        note_position(run);
}

static uint64_t lagging_position(const struct run *run)
{
    const struct servers *servers = run->servers;
    int64_t shown_ns = sched_now_ns(run->sched) - servers->lag_ns;
    size_t shown = 0; /* what it had when the lag began it shows in any case */
    FP_ASSERT(servers->point_count > 0);
    while (servers->lag_ns > 0 && shown + 1 < servers->point_count &&
           servers->points[shown + 1].t_ns <= shown_ns)
        shown++;
    return servers->points[shown].position;
}

bool servers_feed(struct run *run)
{
    uint64_t position;
    if (run->servers->lagging)
        position = lagging_position(run);
    else if (!succeeded(run, pg_lane_position(run->lane->pg, &position)))
        return false;
    return succeeded(run, pg_lane_feed(run->lane->pg, position));
}

bool servers_are_down(const struct run *run, bool standby)
{
    return standby ? run->servers->standby_down : run->servers->down;
}

/* ---- faults ---- */

static void end_lag(struct run *run, void *data)
{
    (void)data;
    run->servers->lagging = false;
    run->servers->point_count = 0;
}

void fault_lag(struct fault_host *host, int64_t by_ns)
{
    struct run *run = host->run;
    struct servers *servers = run->servers;
    if (servers->lagging || servers->standby_down) {
        host->missed = true;
        return;
    }
    fault_event_begin(host, "fault.replication_lag");
    trace_number(run->trace, "by_ns", by_ns);
    trace_end(run->trace);
    /* What is committed up to now is there, so that all that follows can be held back. */
    if (!servers_feed(run))
        return;
    servers->lagging = true;
    servers->lag_ns = by_ns;
    note_position(run);
    fault_lasts(host, "standbys", end_lag, NULL);
}

void servers_take_what_comes(const struct fault_host *host)
{
    if (host->rt && host->rt->sending)
        connection_arrives(host->rt->sending);
}

static void come_back(struct run *run, void *data)
{
    (void)data;
    run->servers->down = false;
    run->servers->standby_down = false;
}

void servers_go_down(struct fault_host *host, const char *target)
{
    host->run->servers->down = true;
    fault_lasts(host, target, come_back, NULL);
}

void fault_crash_server(struct fault_host *host)
{
    struct run *run = host->run;
    if (run->servers->down) {
        host->missed = true;
        return;
    }
    servers_take_what_comes(host);
    fault_event_begin(host, "fault.server_crash");
    trace_end(run->trace);
    connections_sever(run, false);
    if (succeeded(run, pg_lane_crash(run->lane->pg)))
        servers_go_down(host, "database");
}

/* With synchronous replication a commit is answered when the standby has it: what lags there is
 * only what it shows. */
static bool failover_position(struct run *run, uint64_t *position)
{
    if (run->servers->lagging && !run->scenario->synchronous) {
        *position = lagging_position(run);
        return true;
    }
    return succeeded(run, pg_lane_position(run->lane->pg, position));
}

void fault_fail_over(struct fault_host *host)
{
    struct run *run = host->run;
    uint64_t position;
    if (run->servers->down) {
        host->missed = true;
        return;
    }
    servers_take_what_comes(host);
    fault_event_begin(host, "fault.failover");
    trace_end(run->trace);
    if (!failover_position(run, &position))
        return;
    struct table_rows *before = watched_rows_read(run);
    connections_sever(run, true);
    bool done = succeeded(run, pg_lane_fail_over(run->lane->pg, position));
    if (done)
        watched_rows_report_lost(run, before);
    watched_rows_free(before);
    if (!done)
        return;
    if (run->servers->lagging) { /* of a standby that there is no more */
        run->servers->point_count = 0;
        note_position(run);
    }
    run->servers->down = true;
    run->servers->standby_down = true;
    fault_lasts(host, "database", come_back, NULL);
}
