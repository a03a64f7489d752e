/* Standbys of the lane's server, and the promotion of one.
 *
 * A standby is a copy of the primary's files that replays the log it finds in its own directory.
 * The harness puts it there, up to a position that it chooses, wakes the standby and waits until
 * all of it is replayed. No connection leads from one server to the other, so what a standby shows
 * is never a matter of how quick somebody was.
 *
 * After a failover everything is made anew from files that were kept when the schema was installed.
 * A seed thus begins on the first timeline, whatever the one before has done. */
#include <signal.h>
#include <stdlib.h>

#include "sim/core/realtime.h"
#include "sim/pg/internal.h"

/* A checkpoint decides how far ahead a sequence is logged, and so where it goes on after a crash:
 * none may come in the middle of a run. They come between seeds, when so much was written. */
#define CHECKPOINT_DISTANCE (UINT64_C(8) << 20)
#define REPLAY_LOOK_NS (50 * NS_PER_US)

/* A standby looks for more of the log when it is woken, and replays what it finds at once, whoever
 * reads there. */
static const char replicated_settings[] = "wal_level = replica\n"
                                          "max_wal_size = 512MB\n"
                                          "wal_recycle = off\n"
                                          "wal_retrieve_retry_interval = '1d'\n"
                                          "recovery_prefetch = off\n"
                                          "max_standby_archive_delay = 0\n"
                                          "max_standby_streaming_delay = 0\n";

static enum err told(struct pg_lane *lane, enum err err, struct strbuf *why)
{
    if (err != ERR_OK)
        lane_trouble(lane, "%s", strbuf_str(why));
    strbuf_release(why);
    return err;
}

/* ---- one standby ---- */

/* The first number of the answer. */
static enum err ask_number(struct pg_lane *lane, int node, const char *sql, uint64_t *number)
{
    control_turn_to(lane, node);
    PGresult *result = control_query(lane, sql, NULL, 0);
    control_turn_to(lane, 0);
    if (!result)
        return ERR_INFRASTRUCTURE;
    *number = PQntuples(result) == 1 ? strtoull(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    return ERR_OK;
}

/* Ask a standby until its answer is at least that. */
static enum err await_number(struct pg_lane *lane, int node, const char *sql, uint64_t wanted)
{
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS;
    for (;;) {
        uint64_t number;
        enum err err = ask_number(lane, node, sql, &number);
        if (err != ERR_OK || number >= wanted)
            return err;
        if (realtime_ns() > deadline_ns)
            return lane_trouble(lane, "a standby has not answered `%s` for %d s", sql,
                                (int)(PATIENCE_NS / NS_PER_S));
        realtime_sleep_ns(REPLAY_LOOK_NS);
    }
}

/* Files of `from`, which has the log up to `position`. */
static enum err build(struct pg_lane *lane, int node, const struct pg_server *from,
                      uint64_t position)
{
    struct strbuf why = STRBUF_INIT;
    struct node *standby = &lane->nodes[node];
    uint64_t startup_pid = 0;
    FP_ASSERT(!standby->control);
    enum err err = pg_server_copy(standby->server, from, &why);
    if (err == ERR_OK)
        err = pg_server_write(standby->server, "standby.signal", "", &why);
    err = told(lane, err, &why);
    if (err == ERR_OK)
        err = lane_start_server(lane, node);
    if (err == ERR_OK)
        err = ask_number(lane, node,
                         "SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup'",
                         &startup_pid);
    standby->startup_pid = pg_server_signal_pid(standby->server, (int)startup_pid);
    standby->position = position;
    return err;
}

/* After a failover one is made when it is needed: of the primary as it is. */
static enum err be_there(struct pg_lane *lane, int node)
{
    uint64_t position;
    if (lane->nodes[node].control)
        return ERR_OK;
    enum err err = log_position(lane, &position);
    return err == ERR_OK ? build(lane, node, lane->server, position) : err;
}

static enum err feed(struct pg_lane *lane, int node, uint64_t position)
{
    struct node *standby = &lane->nodes[node];
    if (position <= standby->position)
        return ERR_OK;
    enum err err = log_copy(lane, lane->server, standby->server, standby->position, position);
    if (err != ERR_OK)
        return err;
    FP_ASSERT(standby->startup_pid > 0);
    kill(standby->startup_pid, SIGHUP);
    standby->position = position;
    return await_number(lane, node, "SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn", position);
}

enum err pg_lane_feed(struct pg_lane *lane, uint64_t position)
{
    enum err err = ERR_OK;
    for (int node = 1; node <= lane->standby_count && err == ERR_OK; node++) {
        err = be_there(lane, node);
        if (err == ERR_OK)
            err = feed(lane, node, position);
    }
    return err;
}

/* ---- a failover ---- */

static enum err promote(struct pg_lane *lane)
{
    struct strbuf why = STRBUF_INIT;
    struct node *standby = &lane->nodes[1];
    enum err err = told(lane, pg_server_promote(standby->server, &why), &why);
    if (err != ERR_OK)
        return err;
    return await_number(lane, 1, "SELECT (NOT pg_is_in_recovery())::int", 1);
}

static void take_the_place(struct pg_lane *lane)
{
    struct node *primary = &lane->nodes[0], *standby = &lane->nodes[1];
    pg_server_swap(primary->server, standby->server);
    lane->moved = !lane->moved;
    primary->control = standby->control;
    primary->control_pid = standby->control_pid;
    standby->control = NULL;
    lane->timeline++;
    control_turn_to(lane, 0);
}

enum err pg_lane_fail_over(struct pg_lane *lane, uint64_t position)
{
    FP_ASSERT(lane->standby_count > 0);
    enum err err = be_there(lane, 1);
    if (err == ERR_OK)
        err = feed(lane, 1, position);
    if (err != ERR_OK)
        return err;
    lane->failed_over = true;
    crash_end_sessions(lane, 1);
    for (int node = 0; node <= lane->standby_count; node++)
        if (node != 1 && lane->nodes[node].control)
            crash_kill(lane, node);
    err = promote(lane);
    if (err != ERR_OK)
        return err;
    take_the_place(lane);
    /* One is due behind a promotion, in the background; so that it does not come at any time: */
    return control_run(lane, "CHECKPOINT");
}

/* ---- from schema to schema, from seed to seed ---- */

/* The lane's own directory holds those of all others. What is in it does not matter any more. */
static void move_back(struct pg_lane *lane)
{
    if (!lane->moved)
        return;
    control_close(lane);
    pg_server_swap(lane->nodes[0].server, lane->nodes[1].server);
    lane->moved = false;
}

void standbys_release(struct pg_lane *lane)
{
    move_back(lane);
    for (int node = 1; node <= PG_STANDBY_COUNT_MAX; node++) {
        struct node *standby = &lane->nodes[node];
        if (standby->control)
            crash_kill(lane, node);
        pg_server_discard(standby->server);
        *standby = (struct node){0};
    }
    pg_server_discard(lane->base);
    lane->base = NULL;
    lane->standby_count = 0;
}

static enum err start_anew(struct pg_lane *lane, const struct pg_server *from, bool replicated)
{
    struct strbuf why = STRBUF_INIT;
    if (lane->control)
        crash_kill(lane, 0);
    pg_server_kill(lane->server);
    lane->timeline = 1;
    lane->failed_over = false;
    enum err err = pg_server_copy(lane->server, from, &why);
    if (err == ERR_OK && replicated)
        err = pg_server_write(lane->server, "postgresql.auto.conf", replicated_settings, &why);
    err = told(lane, err, &why);
    return err == ERR_OK ? lane_start_server(lane, 0) : err;
}

enum err standbys_prepare(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why)
{
    bool had_standbys = lane->standby_count > 0;
    FP_ASSERT(schema->standby_count <= PG_STANDBY_COUNT_MAX);
    lane->crashes = schema->crashes || schema->standby_count > 0;
    if (schema->standby_count > 0 && !pg_server_is_ours(lane->server)) {
        strbuf_puts(why, "standbys and failovers need servers whose files are on this machine");
        return ERR_INFRASTRUCTURE;
    }
    if (schema->standby_count == 0 && !had_standbys)
        return ERR_OK;
    standbys_release(lane);
    enum err err = start_anew(lane, NULL, schema->standby_count > 0);
    if (err == ERR_OK)
        err = lane_configure(lane);
    if (err != ERR_OK)
        strbuf_puts(why, pg_lane_trouble(lane));
    lane->standby_count = schema->standby_count;
    return err;
}

static enum err make_standby(struct pg_lane *lane, int node)
{
    struct strbuf why = STRBUF_INIT;
    char *name = fp_format("s%d", node);
    enum err err = pg_server_make_another(lane->server, name, &lane->nodes[node].server, &why);
    free(name);
    return told(lane, err, &why);
}

static enum err build_all(struct pg_lane *lane)
{
    enum err err = ERR_OK;
    for (int node = 1; node <= lane->standby_count && err == ERR_OK; node++)
        err = build(lane, node, lane->base, lane->base_position);
    return err;
}

static enum err make_base(struct pg_lane *lane)
{
    struct strbuf why = STRBUF_INIT;
    enum err err = control_run(lane, "CHECKPOINT");
    if (err == ERR_OK)
        err = log_position(lane, &lane->base_position);
    if (err != ERR_OK)
        return err;
    err = pg_server_make_another(lane->server, "base", &lane->base, &why);
    if (err == ERR_OK)
        err = pg_server_copy(lane->base, lane->server, &why);
    return told(lane, err, &why);
}

enum err standbys_make(struct pg_lane *lane)
{
    if (lane->standby_count == 0)
        return ERR_OK;
    enum err err = make_base(lane);
    for (int node = 1; node <= lane->standby_count && err == ERR_OK; node++)
        err = make_standby(lane, node);
    return err == ERR_OK ? build_all(lane) : err;
}

static enum err reset(struct pg_lane *lane)
{
    for (int node = 1; node <= lane->standby_count; node++)
        if (lane->nodes[node].control)
            crash_kill(lane, node);
        else
            pg_server_kill(lane->nodes[node].server);
    lane->checkpoint_position = 0;
    enum err err = start_anew(lane, lane->base, false);
    /* The files have the timeout of their time. */
    if (err == ERR_OK)
        err = pg_lane_set_deadlock_timeout(lane, lane->deadlock_timeout_ms);
    return err == ERR_OK ? build_all(lane) : err;
}

/* The log before a checkpoint may vanish, so the standbys have it first. */
static enum err checkpoint_when_due(struct pg_lane *lane)
{
    uint64_t position;
    enum err err = log_position(lane, &position);
    if (err != ERR_OK || position < lane->checkpoint_position + CHECKPOINT_DISTANCE)
        return err;
    lane->checkpoint_position = position;
    err = pg_lane_feed(lane, position);
    return err == ERR_OK ? control_run(lane, "CHECKPOINT") : err;
}

enum err standbys_slate(struct pg_lane *lane)
{
    if (!lane->crashes)
        return ERR_OK;
    return lane->failed_over ? reset(lane) : checkpoint_when_due(lane);
}
