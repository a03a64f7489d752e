#include "sim/pg/session.h"

#include <ctype.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/core/realtime.h"
#include "sim/core/walltext.h"
#include "sim/pg/internal.h"
#include "sim/pg/route.h"

/* How long to listen before asking whether the session is blocked. A local answer takes some 30 us;
 * asking too early costs a query, asking too late costs the difference. When nobody holds anything
 * that could block it, there is no hurry; and a timer that is far off costs nothing, whereas
 * setting a near one can cost as much as the statement itself on a virtual machine. */
#define FIRST_LOOK_NS (300 * NS_PER_US)
#define FIRST_LOOK_CALM_NS (20 * NS_PER_MS)
#define LATER_LOOK_NS_MAX (10 * NS_PER_MS)
/* Giving the CPU away this often is tried before a timer is set. */
#define YIELD_COUNT 3

/* ---- statements ---- */

static const char *skip_blanks(const char *text)
{
    for (;;) {
        while (isspace((unsigned char)*text))
            text++;
        if (text[0] != '-' || text[1] != '-')
            return text;
        while (*text && *text != '\n')
            text++;
    }
}

static bool begins_with_one_of(const char *text, const char *const *words, size_t word_count)
{
    text = skip_blanks(text);
    size_t size = 0;
    while (isalpha((unsigned char)text[size]))
        size++;
    for (size_t i = 0; i < word_count; i++)
        if (strlen(words[i]) == size && strncasecmp(text, words[i], size) == 0)
            return true;
    return false;
}

/* These must be the first of their transaction, or do not need to know the time. */
static bool controls_transaction(const char *text)
{
    static const char *const words[] = {"BEGIN",    "START", "COMMIT",    "END",
                                        "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE",
                                        "SET",      "RESET", "PREPARE",   "DISCARD"};
    return begins_with_one_of(text, words, FP_COUNT(words));
}

/* A query changes nothing, unless it calls a function of the schema's own. */
static bool may_write(const struct pg_lane *lane, const char *text)
{
    static const char *const words[] = {"SELECT", "SHOW", "VALUES", "TABLE", "FETCH"};
    return lane->has_functions || !begins_with_one_of(text, words, FP_COUNT(words));
}

static bool has_one_of(const char *text, const char *const *words, size_t word_count)
{
    for (size_t i = 0; i < word_count; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

bool sql_names_clock(const char *text)
{
    static const char *const words[] = {"now", "_timestamp", "timeofday"};
    return has_one_of(text, words, FP_COUNT(words));
}

/* Its own words, or a default of a column that it leaves out. In doubt true: it costs a message. */
static bool may_read_clock(const struct pg_lane *lane, const char *text)
{
    static const char *const fillers[] = {"INSERT", "MERGE", "DEFAULT"};
    return lane->has_functions || sql_names_clock(text) ||
           (lane->has_clock_defaults && has_one_of(text, fillers, FP_COUNT(fillers)));
}

enum leavings sql_leaves(const char *text)
{
    static const char *const words[] = {"SELECT", "INSERT", "UPDATE",   "DELETE", "WITH",
                                        "VALUES", "BEGIN",  "START",    "COMMIT", "END",
                                        "ABORT",  "TABLE",  "ROLLBACK", "RELEASE"};
    static const char *const traces[] = {"set_config", "currval", "lastval", "pg_temp"};
    if (has_one_of(text, traces, FP_COUNT(traces)) ||
        !begins_with_one_of(text, words, FP_COUNT(words)))
        return LEAVES_ANYTHING;
    return strcasestr(text, "advisory") ? LEAVES_LOCKS : LEAVES_NOTHING;
}

const char *sql_of_reset(enum leavings left)
{
    static const char *const resets[] = {NULL, "SELECT pg_catalog.pg_advisory_unlock_all()",
                                         "DISCARD ALL"};
    FP_ASSERT((size_t)left < FP_COUNT(resets));
    return resets[left];
}

static bool ends_transaction(const char *text)
{
    static const char *const words[] = {"COMMIT", "END"};
    return begins_with_one_of(text, words, FP_COUNT(words));
}

static const struct statement *statement_of(struct pg_lane *lane, const struct rt_sql *sql)
{
    for (int i = 0; i < lane->statement_count; i++)
        if (lane->statements[i].sql == sql)
            return &lane->statements[i];
    FP_ASSERT(lane->statement_count < STATEMENT_COUNT_MAX);
    struct statement *statement = &lane->statements[lane->statement_count];
    snprintf(statement->name, sizeof statement->name, "s%d", lane->statement_count);
    statement->sql = sql;
    statement->controls_transaction = controls_transaction(sql->text);
    statement->takes_session_locks = strcasestr(sql->text, "advisory") != NULL;
    statement->ends_transaction = ends_transaction(sql->text);
    statement->leaves = lane->has_functions ? LEAVES_ANYTHING : sql_leaves(sql->text);
    statement->reads_clock = !statement->controls_transaction && may_read_clock(lane, sql->text);
    statement->may_write = !statement->controls_transaction && may_write(lane, sql->text);
    lane->statement_count++;
    return statement;
}

static bool is_prepared(const struct pg_session *session, const struct statement *statement)
{
    size_t index = (size_t)(statement - session->lane->statements);
    return session->prepared[index / 64] >> (index % 64) & 1;
}

static void set_prepared(struct pg_session *session, const struct statement *statement)
{
    size_t index = (size_t)(statement - session->lane->statements);
    session->prepared[index / 64] |= UINT64_C(1) << (index % 64);
}

/* ---- sending ---- */

#define CLOCK_SQL "SELECT pg_catalog.set_config('fencepost.clock', $1, false)"
#define NOW_SQL "SELECT pg_catalog.set_config('fencepost.now', $1, true)"

/* One message of the pipeline, whose result will come in its turn. */
static void note_sent(struct pg_session *session, enum sent_kind kind,
                      const struct statement *statement)
{
    FP_ASSERT(session->sent_count < FP_COUNT(session->sent));
    session->sent[session->sent_count++] = (struct sent){kind, statement};
}

static bool send_prepared(struct pg_session *session, enum sent_kind kind,
                          const struct statement *statement, const char *const *params)
{
    const struct rt_sql *sql = statement->sql;
    if (session->lane->pooler) {
        /* Prepared on one connection, it would be executed on another. */
        note_sent(session, kind, statement);
        return PQsendQueryParams(session->conn, sql->text, sql->param_count, NULL, params, NULL,
                                 NULL, 0) == 1;
    }
    if (!is_prepared(session, statement)) {
        note_sent(session, SENT_PREPARE, statement);
        if (!PQsendPrepare(session->conn, statement->name, sql->text, 0, NULL))
            return false;
    }
    note_sent(session, kind, statement);
    return PQsendQueryPrepared(session->conn, statement->name, sql->param_count, params, NULL, NULL,
                               0) == 1;
}

static bool send_setting(struct pg_session *session, const struct rt_sql *sql, int64_t epoch_ns)
{
    char text[WALLTEXT_SIZE];
    walltext_format(epoch_ns, text);
    const char *params[1] = {text};
    return send_prepared(session, SENT_SETTING, statement_of(session->lane, sql), params);
}

/* The database's clock travels with a statement that may read it, and only when it has moved.
 * Within a transaction now() must stay what it was when the transaction began. */
static bool send_clock(struct pg_session *session, const struct statement *statement)
{
    static const struct rt_sql clock_sql = {"clock", CLOCK_SQL, 1};
    static const struct rt_sql now_sql = {"now", NOW_SQL, 1};
    if (!statement->reads_clock || session->transaction_failed)
        return true;
    if (session->in_transaction && !session->transaction_time_sent &&
        session->db_now_ns != session->transaction_began_ns) {
        session->transaction_time_sent = true;
        if (!send_setting(session, &now_sql, session->transaction_began_ns))
            return false;
    }
    if (session->clock_sent_ns == session->db_now_ns)
        return true;
    session->clock_sent_ns = session->db_now_ns;
    return send_setting(session, &clock_sql, session->db_now_ns);
}

/* The session sends itself the signal that an administrator would, just before its statement. */
static bool send_cancel(struct pg_session *session)
{
    static const struct rt_sql cancel_sql = {
        "cancel", "SELECT pg_catalog.pg_cancel_backend(pg_catalog.pg_backend_pid())", 0};
    session->cancel_next = false;
    return send_prepared(session, SENT_SETTING, statement_of(session->lane, &cancel_sql), NULL);
}

/* The changes that the watch has noted in the session travel back with the statement that commits
 * them, or with the COMMIT. */
static bool send_drain(struct pg_session *session)
{
    return send_prepared(session, SENT_DRAIN, statement_of(session->lane, &watch_drain_sql), NULL);
}

static bool send_statement(struct pg_session *session, const char *const *params)
{
    const struct statement *statement = session->statement;
    bool watched = session->lane->watched_count > 0;
    session->sent_count = 0;
    session->received_count = 0;
    session->wrote |= statement->may_write;
    if (watched && statement->ends_transaction && session->in_transaction && session->wrote &&
        !session->transaction_failed && !send_drain(session))
        return false;
    if (session->cancel_next && !send_cancel(session))
        return false;
    if (!send_clock(session, statement) ||
        !send_prepared(session, SENT_STATEMENT, statement, params))
        return false;
    if (watched && statement->may_write && !session->in_transaction && !send_drain(session))
        return false;
    return PQpipelineSync(session->conn) == 1;
}

/* ---- receiving ---- */

enum reading { READING_MORE, READING_COMPLETE, READING_BROKEN };

/* The answer is that of the statement itself, or the first error; what follows an error in the
 * pipeline was not run. */
static bool is_answer(const struct pg_session *session, const struct sent *sent,
                      ExecStatusType status)
{
    if (status == PGRES_FATAL_ERROR)
        return !session->answer || PQresultStatus(session->answer) != PGRES_FATAL_ERROR;
    return sent->kind == SENT_STATEMENT && status != PGRES_PIPELINE_ABORTED;
}

static void keep_answer(struct pg_session *session, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    FP_ASSERT(session->received_count < session->sent_count);
    const struct sent *sent = &session->sent[session->received_count++];
    /* A statement stays prepared even when what follows fails. */
    if (sent->kind == SENT_PREPARE && status == PGRES_COMMAND_OK)
        set_prepared(session, sent->statement);
    if (sent->kind == SENT_DRAIN && status == PGRES_TUPLES_OK)
        watch_take(session, PQgetvalue(result, 0, 0));
    if (!is_answer(session, sent, status)) {
        PQclear(result);
        return;
    }
    PQclear(session->answer);
    session->answer = result;
}

/* Take what has arrived. Complete when the server has said that it is ready again. */
static enum reading read_available(struct pg_session *session)
{
    while (!PQisBusy(session->conn)) {
        PGresult *result = PQgetResult(session->conn);
        if (!result) {
            if (PQstatus(session->conn) != CONNECTION_OK)
                return READING_BROKEN;
            continue;
        }
        if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return READING_COMPLETE;
        }
        keep_answer(session, result);
        if (PQstatus(session->conn) != CONNECTION_OK)
            return READING_BROKEN;
    }
    return READING_MORE;
}

static bool wait_readable(struct pg_session *session, int64_t wait_ns)
{
    struct pollfd socket = {.fd = PQsocket(session->conn), .events = POLLIN};
    struct timespec timeout = {.tv_sec = wait_ns / NS_PER_S, .tv_nsec = wait_ns % NS_PER_S};
    return ppoll(&socket, 1, &timeout, NULL) > 0;
}

/* Can anybody hold a lock that this statement might wait for? A session between two transactions
 * holds none but advisory ones, which only matter to who asks for such. Wrong guesses only cost
 * time. */
static bool is_calm(const struct pg_session *session)
{
    const struct pg_lane *lane = session->lane;
    bool wants_session_locks = session->statement->takes_session_locks || lane->has_functions;
    if (lane->gated || lane->blocked_count > 0 || (lane->pooler && wants_session_locks))
        return false;
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        const struct pg_session *other = &lane->sessions[i];
        if (other == session)
            continue;
        if (other->in_transaction || (wants_session_locks && other->holds_session_locks))
            return false;
    }
    return true;
}

/* Wait for the first sign of an answer. Lane and server share a CPU: who gives it away gets it back
 * when the other has answered, or waits. */
static bool wait_first(struct pg_session *session)
{
    if (is_calm(session))
        return wait_readable(session, FIRST_LOOK_CALM_NS);
    for (int i = 0; i < YIELD_COUNT; i++) {
        sched_yield();
        if (wait_readable(session, 0))
            return true;
    }
    return wait_readable(session, FIRST_LOOK_NS);
}

static void take_rows(struct pg_session *session)
{
    const PGresult *answer = session->answer;
    struct rt_rows *rows = &session->result.rows;
    rows->row_count = PQntuples(answer);
    rows->column_count = PQnfields(answer);
    rows->affected_count = atoi(PQcmdTuples(session->answer));
    size_t cell_count = (size_t)rows->row_count * (size_t)rows->column_count;
    if (cell_count > session->cell_capacity) {
        session->cells = fp_realloc(session->cells, cell_count * sizeof session->cells[0]);
        session->cell_capacity = cell_count;
    }
    size_t at = 0;
    for (int row = 0; row < rows->row_count; row++)
        for (int column = 0; column < rows->column_count; column++)
            session->cells[at++] =
                PQgetisnull(answer, row, column) ? NULL : PQgetvalue(answer, row, column);
    rows->cells = session->cells;
}

static void take_result(struct pg_session *session)
{
    struct pg_result *result = &session->result;
    memset(result, 0, sizeof *result);
    FP_ASSERT(session->answer);
    result->ok = PQresultStatus(session->answer) != PGRES_FATAL_ERROR;
    result->message = "";
    result->tag = "";
    if (result->ok) {
        result->tag = PQcmdStatus(session->answer);
        take_rows(session);
        return;
    }
    const char *sqlstate = PQresultErrorField(session->answer, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(session->answer, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(result->sqlstate, sizeof result->sqlstate, "%s", sqlstate ? sqlstate : "XX000");
    result->message = message ? message : PQresultErrorMessage(session->answer);
}

/* Changes count once their transaction is durable, and are forgotten when it is rolled back. */
static void take_changes(struct pg_session *session)
{
    struct pg_result *result = &session->result;
    if (session->in_transaction)
        return;
    session->wrote = false;
    if (!result->committed) {
        change_buffer_clear(&session->pending);
        return;
    }
    struct change_buffer emptied = session->committed;
    session->committed = session->pending;
    session->pending = emptied;
    result->changes = session->committed.list;
    result->change_count = session->committed.count;
}

static void finish_statement(struct pg_session *session)
{
    struct pg_result *result = &session->result;
    take_result(session);
    bool was_in_transaction = session->in_transaction;
    PGTransactionStatusType status = PQtransactionStatus(session->conn);
    session->in_transaction = status != PQTRANS_IDLE;
    session->transaction_failed = status == PQTRANS_INERROR;
    if (session->in_transaction && !was_in_transaction) {
        session->transaction_began_ns = session->db_now_ns;
        session->transaction_time_sent = false;
    }
    /* Behind a pooler each transaction may be on a connection that has not heard of it. */
    if (session->lane->pooler && !(was_in_transaction && session->in_transaction))
        session->clock_sent_ns = -1;
    bool rolled_back = !result->ok || strcmp(result->tag, "ROLLBACK") == 0;
    /* A setting made within what was rolled back is undone with it. */
    if (rolled_back)
        session->clock_sent_ns = -1;
    result->in_transaction = session->in_transaction;
    result->committed = !session->in_transaction && !rolled_back;
    take_changes(session);
    session->state = SESSION_IDLE;
    park_stir(session);
}

static enum pg_answer answer_lost(struct pg_session *session)
{
    session->state = SESSION_IDLE;
    park_stir(session);
    change_buffer_clear(&session->pending);
    return route_lost(session);
}

/* What has arrived so far, as an answer; false when there is none yet. */
static bool take_answer(struct pg_session *session, enum pg_answer *answer)
{
    enum reading reading = read_available(session);
    if (reading == READING_MORE)
        return false;
    if (reading == READING_BROKEN) {
        *answer = answer_lost(session);
        return true;
    }
    finish_statement(session);
    if (strcmp(session->result.sqlstate, "40P01") == 0)
        park_missed(session);
    *answer = PG_DONE;
    return true;
}

static enum pg_answer trouble_patience(struct pg_session *session)
{
    route_spoil(session->lane);
    lane_trouble(session->lane, "the statement %s is neither answered nor blocked after %d s",
                 session->statement->sql->name, (int)(PATIENCE_NS / NS_PER_S));
    return PG_TROUBLE;
}

/* Nothing has come for a while: is it blocked? False: listen on. */
static bool look_blocked(struct pg_session *session, enum pg_answer *answer)
{
    bool blocked, at_gate;
    if (park_ask(session, &blocked, &at_gate) != ERR_OK) {
        *answer = PG_TROUBLE;
        return true;
    }
    if (at_gate) {
        session->state = SESSION_AT_GATE;
        session->lane->counts.gates++;
        *answer = PG_AT_GATE;
        return true;
    }
    if (!blocked)
        return false;
    park_stop(session);
    *answer = PG_BLOCKED;
    return true;
}

static enum pg_answer session_await(struct pg_session *session)
{
    int64_t deadline_ns = 0, asked_ns = 0;
    int64_t look_ns = FIRST_LOOK_NS;
    enum pg_answer answer;
    bool readable = wait_first(session);
    for (;; readable = wait_readable(session, look_ns)) {
        if (readable) {
            if (!PQconsumeInput(session->conn))
                return answer_lost(session);
            if (take_answer(session, &answer))
                return answer;
            continue;
        }
        if (look_blocked(session, &answer))
            return answer;
        if (look_ns < LATER_LOOK_NS_MAX)
            look_ns *= 2;
        if (!deadline_ns)
            deadline_ns = realtime_ns() + PATIENCE_NS;
        if (route_is_dumb(session->lane, &asked_ns))
            return PG_TROUBLE;
        if (realtime_ns() > deadline_ns)
            return trouble_patience(session);
    }
}

bool session_wait_answer(struct pg_session *session)
{
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS, asked_ns = 0;
    enum pg_answer answer;
    while (realtime_ns() < deadline_ns) {
        if (!wait_readable(session, LATER_LOOK_NS_MAX)) {
            if (route_is_dumb(session->lane, &asked_ns))
                return false;
            continue;
        }
        if (!PQconsumeInput(session->conn))
            return false;
        if (take_answer(session, &answer))
            return answer == PG_DONE;
    }
    return false;
}

enum pg_answer pg_session_send(struct pg_session *session, const struct rt_sql *sql,
                               const char *const *params, int64_t db_now_ns)
{
    FP_ASSERT(session->state == SESSION_IDLE);
    /* Nobody gives a connection back while this one waits, so the pooler's patience ends. */
    if (route_is_exhausted(session))
        return PG_LOST;
    session->is_victim = false;
    session->statement = statement_of(session->lane, sql);
    session->holds_session_locks |= session->statement->takes_session_locks;
    if (session->statement->leaves > session->left)
        session->left = session->statement->leaves;
    session->db_now_ns = db_now_ns;
    PQclear(session->answer);
    session->answer = NULL;
    change_buffer_clear(&session->committed);
    session->lane->counts.statements++;
    session->state = SESSION_BUSY;
    session->wait_began_ns = realtime_ns();
    struct tape *tape = session->lane->tape;
    if (tape)
        tape_send(tape, session->slot, sql, params);
    if (!send_statement(session, params))
        return answer_lost(session);
    enum pg_answer answer = session_await(session);
    if (tape)
        tape_answer(tape, answer, &session->result);
    return answer;
}

/* ---- going on ---- */

/* The server looks for a deadlock once the waiter runs again: it either ends the statement with
 * 40P01 or finds an order of the queue in which there is none. */
static enum pg_answer continue_deadlocked(struct pg_session *session)
{
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS;
    enum pg_answer answer;
    session->lane->counts.deadlocks++;
    session->is_victim = true;
    park_continue(session);
    for (;;) {
        if (wait_readable(session, NS_PER_MS)) {
            if (!PQconsumeInput(session->conn))
                return answer_lost(session);
            if (take_answer(session, &answer))
                return answer;
            continue;
        }
        if (realtime_ns() > deadline_ns)
            return trouble_patience(session);
        bool blocked, at_gate;
        if (park_ask(session, &blocked, &at_gate) != ERR_OK)
            return PG_TROUBLE;
        if (!blocked)
            return session_await(session);
        session->state = SESSION_BLOCKED;
        enum err err = park_review(session->lane);
        session->state = SESSION_BUSY;
        if (err != ERR_OK)
            return PG_TROUBLE;
        /* Not blocked any more: the error, or the lock, is on its way. */
        if (session->deadlocked || session->granted)
            continue;
        /* Who waits for whom is not read in one moment: the waiter may have given up in between,
         * and with it the locks that made the cycle. If it still waits now, it did so then. */
        if (park_ask(session, &blocked, &at_gate) != ERR_OK)
            return PG_TROUBLE;
        if (!blocked)
            return session_await(session);
        session->wait_began_ns = realtime_ns();
        session->is_victim = false;
        park_stop(session);
        return PG_BLOCKED;
    }
}

static enum pg_answer session_continue(struct pg_session *session)
{
    if (session->state == SESSION_AT_GATE) {
        session->state = SESSION_BUSY;
        session->wait_began_ns = realtime_ns();
        if (gate_pass(session) != ERR_OK)
            return PG_TROUBLE;
        return session_await(session);
    }
    FP_ASSERT(session->state == SESSION_BLOCKED);
    if (session->deadlocked && !session->granted)
        return continue_deadlocked(session);
    park_continue(session);
    return session_await(session);
}

enum pg_answer pg_session_continue(struct pg_session *session)
{
    enum pg_answer answer = session_continue(session);
    if (session->lane->tape && answer == PG_DONE)
        tape_finish(session->lane->tape, session->slot, &session->result);
    return answer;
}

bool pg_session_is_granted(const struct pg_session *session)
{
    return session->state == SESSION_BLOCKED && session->granted;
}

bool pg_session_is_deadlocked(const struct pg_session *session)
{
    return session->state == SESSION_BLOCKED && session->deadlocked;
}

const struct pg_result *pg_session_result(const struct pg_session *session)
{
    return &session->result;
}

static void clear_answer(void *answer)
{
    PQclear(answer);
}

void pg_session_keep_rows(struct pg_session *session, struct arena *arena)
{
    FP_ASSERT(session->state == SESSION_IDLE);
    if (!session->answer)
        return;
    arena_defer(arena, clear_answer, session->answer);
    arena_defer(arena, free, session->cells);
    session->answer = NULL;
    session->cells = NULL;
    session->cell_capacity = 0;
}

bool pg_session_in_transaction(const struct pg_session *session)
{
    return session->in_transaction;
}

void pg_session_set_data(struct pg_session *session, void *data)
{
    session->data = data;
}

void *pg_session_data(const struct pg_session *session)
{
    return session->data;
}

void pg_lane_each_blocked(struct pg_lane *lane, pg_session_visit *visit, void *self)
{
    if (lane->blocked_count == 0)
        return;
    for (int64_t sequence = 0;;) {
        struct pg_session *next = NULL;
        for (int i = 0; i < SESSION_COUNT_MAX; i++) {
            struct pg_session *session = &lane->sessions[i];
            if (session->state == SESSION_BLOCKED && session->opened_sequence > sequence &&
                (!next || session->opened_sequence < next->opened_sequence))
                next = session;
        }
        if (!next)
            return;
        sequence = next->opened_sequence;
        visit(self, next);
    }
}
