/* A lane: one server of our own, the harness's control connection to it, and the sessions on it.
 *
 * A lane runs one seed after the other. Before each it is wiped clean; sessions are kept for reuse
 * in a state that cannot be told from new. */
#ifndef FENCEPOST_LANE_H
#define FENCEPOST_LANE_H

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"
#include "sim/pg/server.h"
#include "sim/strategy.h"

#define PG_STANDBY_COUNT_MAX 4

struct pg_lane;

/* What the database of a scenario consists of. Everything outlives the lane's use of it. */
struct pg_schema {
    const char *schema_sql;
    const char *const *patches; /* further SQL, in order */
    size_t patch_count;
    const struct watched_table *watched;
    size_t watched_count;
    const char *const *gates; /* functions to put a gate before */
    size_t gate_count;
    int standby_count;
    bool crashes; /* a run may kill a server */
    /* What stands between the sessions and the server; one of them at most. */
    bool toxiproxy; /* pg_session_break works */
    int pool_size;  /* a pooler in transaction mode, with so many connections; 0: none. No gates */
};

/* The server stays the caller's. ERR_INFRASTRUCTURE with `why`. */
enum err pg_lane_open(struct pg_server *server, struct pg_lane **lane, struct strbuf *why);
void pg_lane_close(struct pg_lane *lane);

/* Replace the whole content of the database. ERR_DB_SQL: the schema is wrong, `why` is the server's
 * message; ERR_INFRASTRUCTURE otherwise. */
enum err pg_lane_install(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why);
/* The same start for every seed: empty tables, sequences and randomness restarted, no session. */
enum err pg_lane_slate(struct pg_lane *lane, uint64_t seed, struct strbuf *why);

/* ---- standbys, and servers that die ----
 *
 * What a standby has is what it was given by the harness: nothing reaches it by itself. Positions
 * are those of the primary's log; they only grow, but for a failover. */

/* Everything that is committed now, and nothing else, is before this position. */
enum err pg_lane_position(struct pg_lane *lane, uint64_t *position);
/* Each standby has, and shows, the log up to this position; no less than what it has already. */
enum err pg_lane_feed(struct pg_lane *lane, uint64_t position);
/* The primary is stopped at once and recovers. All its sessions are gone, whatever they were doing;
 * what was committed is there. */
enum err pg_lane_crash(struct pg_lane *lane);
/* The container of the server is hit, see pg_server_hit. All sessions are gone but after a pause.
 */
enum err pg_lane_hit(struct pg_lane *lane, enum pg_hit hit);
/* The primary dies and the first standby takes its place, with the log up to this position and not
 * an entry more. All sessions are gone, those on standbys too. */
enum err pg_lane_fail_over(struct pg_lane *lane, uint64_t position);

/* After each step: which waiters may go on now? Only asks the server when somebody waits and
 * something has happened since the last time. ERR_INFRASTRUCTURE when the server does not answer.
 */
enum err pg_lane_settle(struct pg_lane *lane);

/* How long a waiter really waits before its server looks for a deadlock. Short makes deadlocks
 * cheap; a waiter that was parked too late for it spoils the run (pg_lane_spoilt), which is then
 * repeated with a longer one. Reconnects all sessions. */
enum err pg_lane_set_deadlock_timeout(struct pg_lane *lane, int timeout_ms);
/* Since the last slate: a waiter was not stopped in time, so the order of things was not ours; or
 * what stands between the sessions and the server has failed. pg_lane_trouble says which. */
bool pg_lane_spoilt(const struct pg_lane *lane);

/* Stop waiters, so that the order in which they go on is ours? On by default where the backends can
 * be signalled; without it the server decides, and a run may not repeat itself. */
void pg_lane_set_parking(struct pg_lane *lane, bool parking);

/* Counted since the last slate, for the summary. */
struct pg_lane_counts {
    int64_t statements;
    int64_t parked;
    int64_t gates;
    int64_t deadlocks;
    int64_t control_queries;
    int64_t connects;
};
const struct pg_lane_counts *pg_lane_counts(const struct pg_lane *lane);
const char *pg_lane_server_version(const struct pg_lane *lane);
/* Why the last call failed with ERR_INFRASTRUCTURE. */
const char *pg_lane_trouble(const struct pg_lane *lane);

/* Run a query of the harness itself and give each row's first column to `visit`. For tests and for
 * reading state outside of any actor. */
typedef void pg_row_visit(void *self, const char *const *cells, int column_count);
enum err pg_lane_query(struct pg_lane *lane, const char *sql, pg_row_visit *visit, void *self);

#endif
