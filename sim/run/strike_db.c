/* What an administrator does to sessions, and slow statements. */
#include "sim/run/internal.h"

/* ---- slow ---- */

void fault_delay(struct fault_host *host, int64_t duration_ns)
{
    struct run *run = host->run;
    fault_event_begin(host, "fault.latency");
    trace_number(run->trace, "delay_ns", duration_ns);
    trace_end(run->trace);
    if (host->rt->sending)
        connection_goes_on_alone(host->rt->sending);
    fiber_sleep_until(run->sched, sched_now_ns(run->sched) + duration_ns, false);
}

/* ---- ended by an administrator ---- */

/* A connection that was never used has no session yet. */
static bool has_ending_session(const struct rt_db *db, const struct proc *proc)
{
    if (db->proc != proc || db->lost || !db->session)
        return false;
    return !db->in_flight || connection_is_blocked(db);
}

/* At a statement it is that statement's. Elsewhere one of the target's is drawn; NULL: none. */
static struct rt_db *session_to_end(struct fault_host *host)
{
    struct proc *proc = host->actor->proc;
    uint32_t count = 0;
    if (host->db)
        return has_ending_session(host->db, proc) ? host->db : NULL;
    for (struct rt_db *db = host->run->connections; db; db = db->next)
        count += has_ending_session(db, proc);
    if (count == 0)
        return NULL;
    uint32_t index = fault_draw(host, count);
    struct rt_db *db = host->run->connections;
    while (!has_ending_session(db, proc) || index-- > 0)
        db = db->next;
    return db;
}

static void report(struct fault_host *host, const char *kind, const struct rt_db *db)
{
    fault_event_begin(host, kind);
    trace_text(host->run->trace, "target", db->name);
    trace_text(host->run->trace, "while", db->in_flight ? "blocked" : "idle");
    trace_end(host->run->trace);
}

void fault_terminate(struct fault_host *host)
{
    struct rt_db *db = session_to_end(host);
    if (!db) {
        host->missed = true;
        return;
    }
    report(host, "fault.backend_terminate", db);
    connection_interrupt(db, true);
}

void fault_cancel(struct fault_host *host)
{
    struct rt_db *db = host->db;
    FP_ASSERT(db);
    if (db->in_flight && !connection_is_blocked(db)) {
        host->missed = true; /* another fault has ended it just before */
        return;
    }
    report(host, "fault.statement_cancel", db);
    if (db->in_flight)
        connection_interrupt(db, false);
    else
        db->cancel_next = true;
}
