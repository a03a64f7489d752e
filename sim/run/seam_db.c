/* The database's part of the seam: statements as steps, waiters that wait their turn, ghosts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run/internal.h"
#include "sim/run/servers.h"

/* PostgreSQL's own deadlock_timeout, in virtual time: when a waiter looks whether it waits for
 * ever. */
#define DEADLOCK_CHECK_NS NS_PER_S

/* How much of a statement's parameters and rows an event shows. */
#define SHOWN_SIZE_MAX 400

const char *rt_cell(const struct rt_rows *rows, int row, int column)
{
    FP_ASSERT(row >= 0 && row < rows->row_count);
    FP_ASSERT(column >= 0 && column < rows->column_count);
    return rows->cells[row * rows->column_count + column];
}

const char *rt_db_sqlstate(const struct rt_db *db)
{
    return db->sqlstate;
}

bool rt_db_is_lost(const struct rt_db *db)
{
    return db->lost;
}

/* ---- events ---- */

static void put_cell(struct strbuf *out, const char *cell)
{
    strbuf_puts(out, cell ? cell : "~");
}

static const char *show_params(struct run *run, const struct rt_sql *sql, const char *const *params)
{
    strbuf_clear(&run->scratch);
    for (int i = 0; i < sql->param_count; i++) {
        if (i > 0)
            strbuf_puts(&run->scratch, "|");
        put_cell(&run->scratch, params[i]);
    }
    return strbuf_str(&run->scratch);
}

static const char *show_rows(struct run *run, const struct rt_rows *rows)
{
    strbuf_clear(&run->scratch);
    for (int row = 0; row < rows->row_count && run->scratch.size < SHOWN_SIZE_MAX; row++)
        for (int column = 0; column < rows->column_count; column++) {
            if (row + column > 0)
                strbuf_putc(&run->scratch, column == 0 ? ';' : '|');
            put_cell(&run->scratch, rt_cell(rows, row, column));
        }
    return strbuf_str(&run->scratch);
}

static void report_done(struct rt_db *db, const char *kind)
{
    struct run *run = db->run;
    const struct pg_result *result = pg_session_result(db->session);
    trace_begin(run->trace, kind, db->name);
    trace_text(run->trace, "sql", db->sql->name);
    if (db->sql->param_count > 0)
        trace_text(run->trace, "params", show_params(run, db->sql, db->params));
    if (!result->ok) {
        trace_text(run->trace, "sqlstate", result->sqlstate);
        trace_text(run->trace, "message", result->message);
    } else {
        trace_text(run->trace, "result", result->tag);
        if (result->rows.row_count > 0)
            trace_text(run->trace, "rows", show_rows(run, &result->rows));
    }
    trace_end(run->trace);
    report_changes(run, db->name, result);
    if (result->committed)
        servers_committed(run);
}

static void report_sql(struct rt_db *db, const char *kind)
{
    trace_event(db->run->trace, kind, db->name, "sql", db->sql->name, NULL);
}

/* ---- waiting ---- */

/* Blocked: until the lock is granted, or until it is this session's turn to find the deadlock that
 * it is part of. The server looks once, a second after the wait began. */
static void wait_for_lock(struct rt_db *db)
{
    struct run *run = db->run;
    int64_t check_ns = sched_now_ns(run->sched) + DEADLOCK_CHECK_NS;
    db->waiter = sched_current(run->sched);
    bool checked = false;
    while (!db->interrupted && !pg_session_is_granted(db->session)) {
        if (checked) {
            fiber_block(run->sched, "waiting for a lock");
            continue;
        }
        if (fiber_block_until(run->sched, "waiting for a lock", check_ns, false))
            continue;
        checked = true;
        if (!db->interrupted && !pg_session_is_granted(db->session) &&
            pg_session_is_deadlocked(db->session)) {
            report_sql(db, "db.deadlock");
            break;
        }
    }
    db->waiter = NULL;
}

static void wake_granted(void *self, struct pg_session *session)
{
    struct run *run = self;
    struct rt_db *db = pg_session_data(session);
    if (pg_session_is_granted(session) && db->waiter && fiber_is_blocked(db->waiter))
        fiber_wake(run->sched, db->waiter);
}

void connections_wake(struct run *run)
{
    pg_lane_each_blocked(run->lane->pg, wake_granted, run);
}

/* ---- the server's side of a statement ---- */

static void note_blocked(struct rt_db *db)
{
    db->run->result->counts.contended++;
    report_sql(db, "db.blocked");
}

/* A connection costs the server nothing before its first statement, so it is made with that. */
static bool have_session(struct rt_db *db)
{
    if (db->session)
        return true;
    db->session = db->on_standby ? pg_session_open_standby(db->run->lane->pg)
                                 : pg_session_open(db->run->lane->pg);
    if (db->session)
        pg_session_set_data(db->session, db);
    return db->session != NULL;
}

static enum pg_answer send_now(struct rt_db *db)
{
    db->sent = true;
    if (db->severed)
        return PG_LOST;
    if (db->on_standby && !servers_feed(db->run))
        return PG_TROUBLE;
    if (!have_session(db)) {
        run_trouble(db->run, "%s", pg_lane_trouble(db->run->lane->pg));
        return PG_TROUBLE;
    }
    if (db->cancel_next)
        pg_session_cancel_next(db->session);
    db->cancel_next = false;
    enum pg_answer answer = pg_session_send(db->session, db->sql, db->params, db_now_ns(db->run));
    if (answer == PG_BLOCKED)
        note_blocked(db);
    if (answer == PG_TROUBLE)
        run_trouble(db->run, "%s", pg_lane_trouble(db->run->lane->pg));
    return answer;
}

static enum pg_answer go_on(struct rt_db *db)
{
    if (db->answer == PG_BLOCKED) {
        wait_for_lock(db);
    } else {
        report_sql(db, "db.gate");
        fiber_yield(db->run->sched);
    }
    if (db->interrupted)
        return db->answer;
    enum pg_answer answer = pg_session_continue(db->session);
    if (answer == PG_BLOCKED)
        note_blocked(db);
    if (answer == PG_TROUBLE)
        run_trouble(db->run, "%s", pg_lane_trouble(db->run->lane->pg));
    return answer;
}

/* The client's side is over: the server learns of it as soon as it listens, and anything comes
 * through. */
static void lose(struct rt_db *db)
{
    db->lost = true;
    db->in_flight = false;
    db->lingers = db->session && network_hangs(db);
    if (!db->session || db->lingers)
        return;
    pg_session_cut(db->session);
    db->session = NULL;
    pool_wake(db->run);
}

void connections_of_healed(struct run *run, const struct actor *actor)
{
    for (struct rt_db *db = run->connections; db; db = db->next)
        if (db->lingers && db->actor == actor)
            lose(db);
}

void connections_of_parted(struct run *run, const struct actor *actor)
{
    for (struct rt_db *db = run->connections; db; db = db->next)
        if (db->actor == actor && db->proc && db->driving && db->client &&
            fiber_is_blocked(db->client))
            fiber_wake(run->sched, db->client);
}

bool connection_is_blocked(const struct rt_db *db)
{
    return db->driving && db->sent && db->answer == PG_BLOCKED && !db->interrupted;
}

void connection_interrupt(struct rt_db *db, bool terminate)
{
    struct run *run = db->run;
    bool blocked = db->in_flight;
    FP_ASSERT(!blocked || connection_is_blocked(db));
    enum pg_answer answer = pg_session_interrupt(db->session, terminate);
    if (answer == PG_TROUBLE)
        run_trouble(run, "%s", pg_lane_trouble(run->lane->pg));
    if (!blocked)
        return;
    db->answer = answer;
    db->interrupted = true;
    if (db->waiter && fiber_is_blocked(db->waiter))
        fiber_wake(run->sched, db->waiter);
}

/* A statement that could not be answered at once goes on in a fiber of its own: the server does not
 * care whether its client sleeps or is dead. */
static void driver_body(void *arg)
{
    struct rt_db *db = arg;
    struct run *run = db->run;
    if (!db->sent)
        db->answer = send_now(db);
    while (db->answer == PG_BLOCKED || db->answer == PG_AT_GATE)
        db->answer = go_on(db);
    bool ghost = db->proc == NULL;
    if (db->answer == PG_DONE)
        report_done(db, ghost ? "ghost.done" : "db.exec");
    db->driving = false;
    if (ghost)
        lose(db);
    else if (db->client && fiber_is_blocked(db->client))
        fiber_wake(run->sched, db->client);
}

static void start_driver(struct rt_db *db)
{
    FP_ASSERT(!db->driving);
    db->driving = true;
    fiber_spawn(db->run->sched, db->run->harness, "server", driver_body, db);
}

void connection_goes_on_alone(struct rt_db *db)
{
    if (!db->driving && !db->sent)
        start_driver(db);
}

void connection_arrives(struct rt_db *db)
{
    if (db->driving || db->sent)
        return;
    db->answer = send_now(db);
    if (db->answer == PG_DONE)
        report_done(db, "db.exec");
    else if (db->answer == PG_BLOCKED || db->answer == PG_AT_GATE)
        start_driver(db);
}

/* ---- ghosts ---- */

/* The client is gone, its statement is not. */
static void become_ghost(struct rt_db *db)
{
    struct run *run = db->run;
    run->result->counts.ghosts++;
    db->proc = NULL;
    db->client = NULL;
    db->kept = arena_new();
    const char **params =
        arena_alloc(db->kept, ((size_t)db->sql->param_count + 1) * sizeof params[0]);
    for (int i = 0; i < db->sql->param_count; i++)
        params[i] = db->params[i] ? arena_strdup(db->kept, db->params[i]) : NULL;
    db->params = params;
    report_sql(db, "ghost.born");
    if (!db->driving)
        start_driver(db);
}

void connections_of_dead(struct run *run, const struct proc *proc)
{
    for (struct rt_db *db = run->connections; db; db = db->next) {
        if (db->proc != proc)
            continue;
        if (db->in_flight && (db->driving || !db->sent)) {
            become_ghost(db);
            continue;
        }
        db->proc = NULL;
        lose(db);
    }
}

/* What has been answered counts, also when its rows have not been looked at yet. */
static void sever(struct rt_db *db)
{
    if (db->session && db->proc && !db->in_flight)
        pg_session_keep_rows(db->session, proc_arena(db->proc));
    db->session = NULL;
    db->lingers = false;
    db->severed = true;
    if (!db->in_flight) {
        db->lost = true;
        return;
    }
    if (!db->sent)
        return; /* it will find nobody */
    db->interrupted = true;
    db->answer = PG_LOST;
    if (db->waiter && fiber_is_blocked(db->waiter))
        fiber_wake(db->run->sched, db->waiter);
}

void connections_sever(struct run *run, bool all)
{
    for (struct rt_db *db = run->connections; db; db = db->next)
        if (all || !db->on_standby)
            sever(db);
    pool_wake(run);
}

void connections_free(struct run *run)
{
    while (run->connections) {
        struct rt_db *db = run->connections;
        run->connections = db->next;
        arena_free(db->kept);
        free(db);
    }
}

/* ---- the seam ---- */

static struct rt_db *connection_new(struct rt *rt, const char *label)
{
    struct rt_db *db = fp_alloc(sizeof *db);
    db->run = rt->run;
    db->proc = rt->proc;
    db->actor = rt->actor;
    snprintf(db->name, sizeof db->name, "%s/%s", proc_name(rt->proc), label);
    db->next = rt->run->connections;
    rt->run->connections = db;
    return db;
}

static enum err open_connection(struct rt *rt, const char *label, bool on_standby,
                                struct rt_db **db)
{
    struct run *run = rt->run;
    *db = NULL;
    fiber_yield(run->sched);
    bool refused = visit_point(rt, POINT_DB_OPEN, label).drop;
    if (refused || servers_are_down(run, on_standby) ||
        !network_reach(rt, RT_DB_CONNECT_PATIENCE_NS) || !pool_admits(rt, label)) {
        trace_event(run->trace, "db.unreachable", fiber_name(rt->fiber), "label", label, NULL);
        return ERR_DB_UNREACHABLE;
    }
    *db = connection_new(rt, label);
    (*db)->on_standby = on_standby;
    trace_event(run->trace, "db.open", (*db)->name, NULL);
    visit_point(rt, POINT_DB_OPENED, label);
    return ERR_OK;
}

enum err rt_db_open(struct rt *rt, const char *label, struct rt_db **db)
{
    return open_connection(rt, label, false, db);
}

enum err rt_db_open_standby(struct rt *rt, const char *label, struct rt_db **db)
{
    return open_connection(rt, label, rt->run->scenario->standby_count > 0, db);
}

static bool is_commit(const struct rt_sql *sql)
{
    return strncmp(sql->text, "COMMIT", strlen("COMMIT")) == 0;
}

/* The cut itself is toxiproxy's. A connection that was never used was never made. What waits for a
 * lock is cut at its end, by `lose`: its server does not listen before. */
static void break_connection(struct rt_db *db, enum fault_via via, enum pg_break how)
{
    if (via != VIA_TOXIPROXY || !db->session)
        return;
    if (pg_session_break(db->session, how, db->sql, db->params) == ERR_OK)
        return;
    run_trouble(db->run, "%s", pg_lane_trouble(db->run->lane->pg));
    fiber_block(db->run->sched, "the harness is in trouble");
}

static enum err answer_lost(struct rt_db *db)
{
    report_sql(db, "db.lost");
    lose(db);
    return ERR_DB_LOST;
}

/* The statement waits for a lock and its client is cut off meanwhile. */
static enum err abandon(struct rt_db *db)
{
    if (!db->driving)
        return answer_lost(db);
    report_sql(db, "db.lost");
    db->lost = true;
    become_ghost(db);
    return ERR_DB_LOST;
}

static void note_rows(struct rt_db *db, const struct rt_rows *rows)
{
    struct history *history = db->run->history;
    for (int i = 0; history != NULL && i < rows->row_count * rows->column_count; i++)
        history_cell(history, db->name, rows->cells[i]);
}

static enum err take_answer(struct rt_db *db, struct rt_rows *rows)
{
    const struct pg_result *result = pg_session_result(db->session);
    if (!result->ok) {
        memcpy(db->sqlstate, result->sqlstate, sizeof db->sqlstate);
        return ERR_DB_SQL;
    }
    if (rows) {
        *rows = result->rows;
        note_rows(db, rows);
    }
    return ERR_OK;
}

/* Between two statements. The last answer has arrived, so it counts: its rows outlive the session
 * that is cut now. */
static void cut_idle(struct rt_db *db, enum fault_via via)
{
    FP_ASSERT(!db->in_flight);
    trace_event(db->run->trace, "db.cut", db->name, NULL);
    break_connection(db, via, PG_BREAK_IDLE);
    if (db->session)
        pg_session_keep_rows(db->session, proc_arena(db->proc));
    lose(db);
}

static bool can_be_cut(const struct rt_db *db, const struct proc *proc, bool waiting)
{
    return db->proc == proc && !db->lost && (!db->in_flight || (waiting && db->driving));
}

int connections_count(const struct run *run, const struct proc *proc, bool waiting)
{
    int count = 0;
    for (const struct rt_db *db = run->connections; db; db = db->next)
        count += can_be_cut(db, proc, waiting);
    return count;
}

/* Whoever waits for its answer learns that there will be none. */
static void cut_waiting(struct rt_db *db)
{
    db->cut_off = true;
    if (db->client && fiber_is_blocked(db->client))
        fiber_wake(db->run->sched, db->client);
}

struct rt_db *connections_nth(struct run *run, const struct proc *proc, bool waiting, int index)
{
    struct rt_db *db = run->connections;
    while (db && (!can_be_cut(db, proc, waiting) || index-- > 0))
        db = db->next;
    FP_ASSERT(db);
    return db;
}

void connection_cut(struct rt_db *db, enum fault_via via)
{
    if (db->in_flight)
        cut_waiting(db);
    else
        cut_idle(db, via);
}

/* For as long as it takes; but a client from which the network keeps everything gives up. */
static void wait_for_server(struct rt *rt, struct rt_db *db)
{
    struct sched *sched = rt->run->sched;
    if (!network_hangs(db)) {
        fiber_block(sched, "waiting for the database");
        return;
    }
    int64_t deadline_ns = sched_now_ns(sched) + RT_DB_ANSWER_PATIENCE_NS;
    fiber_block_until(sched, "waiting for the network", deadline_ns, false);
    if (db->driving && sched_now_ns(sched) >= deadline_ns)
        db->cut_off = true;
}

/* Until the answer is there. False: the client was cut off while it waited. */
static bool await_answer(struct rt *rt, struct rt_db *db)
{
    if (!db->driving && (db->answer == PG_BLOCKED || db->answer == PG_AT_GATE)) {
        bool blocked = db->answer == PG_BLOCKED;
        start_driver(db);
        if (blocked && visit_statement(rt, db, POINT_DB_BLOCKED).drop)
            return false;
    }
    while (db->driving && !db->cut_off)
        wait_for_server(rt, db);
    return !db->cut_off;
}

/* What the transaction under way consists of, for those who look for it by that. */
static void note_transaction(struct rt_db *db)
{
    if (!db->session || !pg_session_in_transaction(db->session))
        db->transaction_size = 0;
    else if (db->transaction_size < TRANSACTION_SIZE_MAX)
        db->transaction[db->transaction_size++] = db->sql->name;
}

enum err rt_db_exec(struct rt *rt, struct rt_db *db, const struct rt_sql *sql,
                    const char *const *params, struct rt_rows *rows)
{
    struct run *run = rt->run;
    bool commit = is_commit(sql);
    FP_ASSERT(db->proc == rt->proc || db->lost);
    if (rows)
        memset(rows, 0, sizeof *rows);
    db->sqlstate[0] = '\0';
    if (db->lost)
        return ERR_DB_LOST;
    fiber_yield(run->sched);
    db->sql = sql;
    db->params = params;
    struct struck request = visit_statement(rt, db, commit ? POINT_DB_COMMIT : POINT_DB_EXEC);
    if (request.drop && !db->lost)
        break_connection(db, request.via, PG_BREAK_REQUEST);
    if (request.drop)
        return answer_lost(db);
    bool reached = network_reach(rt, RT_DB_ANSWER_PATIENCE_NS);
    /* Somebody else of this process was struck meanwhile, and it went with that. */
    if (db->lost || !reached)
        return answer_lost(db);

    db->in_flight = true;
    db->sent = false;
    db->interrupted = false;
    db->client = rt->fiber;
    rt->sending = db;
    struct struck reply = visit_statement(rt, db, POINT_DB_SENT);
    rt->sending = NULL;
    /* A client that was paused just now finds its statement on the way, or answered. */
    bool at_once = !db->driving && !db->sent && (db->answer = send_now(db)) == PG_DONE;
    if (!await_answer(rt, db))
        return abandon(db);
    db->in_flight = false;
    if (db->answer == PG_TROUBLE)
        fiber_block(run->sched, "the harness is in trouble");
    if (db->answer == PG_LOST)
        return answer_lost(db);
    if (at_once)
        report_done(db, "db.exec");
    if (reply.drop || !network_reach(rt, RT_DB_ANSWER_PATIENCE_NS) || db->severed) {
        if (reply.drop && !db->severed)
            break_connection(db, reply.via, PG_BREAK_REPLY);
        return answer_lost(db);
    }
    enum err err = take_answer(db, rows);
    if (!commit)
        note_transaction(db);
    struct struck idle = visit_statement(rt, db, commit ? POINT_DB_COMMITTED : POINT_DB_DONE);
    if (commit)
        note_transaction(db);
    if (idle.drop && !db->lost)
        cut_idle(db, idle.via);
    return err;
}

void rt_db_close(struct rt *rt, struct rt_db *db)
{
    if (!db)
        return;
    FP_ASSERT(!db->in_flight || !db->proc);
    if (!db->proc)
        return; /* a ghost closes itself */
    if (!db->lost)
        trace_event(rt->run->trace, "db.close", db->name, NULL);
    db->proc = NULL;
    if (network_hangs(db)) {
        lose(db);
        return;
    }
    if (db->session)
        pg_session_close(db->session);
    db->session = NULL;
    db->lost = true;
    pool_wake(rt->run);
}
