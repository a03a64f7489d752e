#include "sim/pg/tape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sim/core/realtime.h"
#include "sim/pg/internal.h"

#define BARE_DATABASE "fencepost_bare"
/* Whoever waits for a lock longer than this waits for something that comes later on the tape: an
 * error ends it. Costs nothing as long as nobody waits. */
#define BARE_LOCK_TIMEOUT_MS 2000
/* As pg_lane_slate does. */
#define BARE_SLATES_PER_SWEEP 256

enum tape_kind { TAPE_OPEN, TAPE_SEND, TAPE_FINISH, TAPE_CLOSE, TAPE_CUT };

struct tape_operation {
    enum tape_kind kind;
    int slot;
    size_t statement;          /* TAPE_SEND: index */
    const char *const *params; /* TAPE_SEND */
    bool waits;                /* TAPE_SEND: for a lock; its answer comes with TAPE_FINISH */
    const char *answer;        /* command tag or SQLSTATE; NULL: none */
};

struct tape_statement {
    const struct rt_sql *sql;
    char name[16];
};

struct tape_take {
    size_t first, count; /* operations */
};

struct tape {
    struct arena *arena;
    struct tape_statement statements[STATEMENT_COUNT_MAX];
    size_t statement_count;
    struct tape_operation *operations;
    size_t operation_count, operation_capacity;
    struct tape_take *takes;
    size_t take_count, take_capacity;
};

/* ---- recording ---- */

struct tape *tape_new(void)
{
    struct tape *tape = fp_alloc(sizeof *tape);
    tape->arena = arena_new();
    return tape;
}

void tape_free(struct tape *tape)
{
    if (!tape)
        return;
    arena_free(tape->arena);
    free(tape->operations);
    free(tape->takes);
    free(tape);
}

void pg_lane_record(struct pg_lane *lane, struct tape *tape)
{
    lane->tape = tape;
}

void tape_begin_take(struct tape *tape)
{
    if (tape->take_count == tape->take_capacity) {
        tape->take_capacity = tape->take_capacity ? 2 * tape->take_capacity : 64;
        tape->takes = fp_realloc(tape->takes, tape->take_capacity * sizeof tape->takes[0]);
    }
    tape->takes[tape->take_count++] = (struct tape_take){.first = tape->operation_count};
}

static struct tape_take *last_take(const struct tape *tape)
{
    FP_ASSERT(tape->take_count > 0);
    return &tape->takes[tape->take_count - 1];
}

void tape_slate(struct tape *tape)
{
    struct tape_take *take = last_take(tape);
    take->count = 0;
    tape->operation_count = take->first;
}

void tape_drop_take(struct tape *tape)
{
    tape_slate(tape);
    tape->take_count--;
}

size_t tape_take_count(const struct tape *tape)
{
    return tape->take_count;
}

bool tape_is_playable(const struct tape *tape)
{
    const struct tape_take *take = last_take(tape);
    int waiting_count = 0;
    for (size_t i = 0; i < take->count; i++) {
        const struct tape_operation *operation = &tape->operations[take->first + i];
        if (operation->kind == TAPE_SEND && !operation->answer && !operation->waits)
            return false;
        waiting_count += operation->waits;
        waiting_count -= operation->kind == TAPE_FINISH;
        if (waiting_count > 1)
            return false;
    }
    return waiting_count == 0;
}

int64_t tape_statement_count(const struct tape *tape)
{
    int64_t count = 0;
    for (size_t i = 0; i < tape->operation_count; i++)
        count += tape->operations[i].kind == TAPE_SEND;
    return count;
}

static struct tape_operation *add_operation(struct tape *tape, enum tape_kind kind, int slot)
{
    if (tape->operation_count == tape->operation_capacity) {
        tape->operation_capacity = tape->operation_capacity ? 2 * tape->operation_capacity : 1024;
        tape->operations =
            fp_realloc(tape->operations, tape->operation_capacity * sizeof tape->operations[0]);
    }
    FP_ASSERT(slot >= 0 && slot < SESSION_COUNT_MAX);
    last_take(tape)->count++;
    struct tape_operation *operation = &tape->operations[tape->operation_count++];
    *operation = (struct tape_operation){.kind = kind, .slot = slot};
    return operation;
}

void tape_open(struct tape *tape, int slot)
{
    add_operation(tape, TAPE_OPEN, slot);
}

void tape_close(struct tape *tape, int slot)
{
    add_operation(tape, TAPE_CLOSE, slot);
}

void tape_cut(struct tape *tape, int slot)
{
    add_operation(tape, TAPE_CUT, slot);
}

static size_t statement_index(struct tape *tape, const struct rt_sql *sql)
{
    for (size_t i = 0; i < tape->statement_count; i++)
        if (tape->statements[i].sql == sql)
            return i;
    FP_ASSERT(tape->statement_count < STATEMENT_COUNT_MAX);
    struct tape_statement *statement = &tape->statements[tape->statement_count];
    snprintf(statement->name, sizeof statement->name, "b%zu", tape->statement_count);
    statement->sql = sql;
    return tape->statement_count++;
}

void tape_send(struct tape *tape, int slot, const struct rt_sql *sql, const char *const *params)
{
    struct tape_operation *operation = add_operation(tape, TAPE_SEND, slot);
    operation->statement = statement_index(tape, sql);
    const char **copy = arena_alloc(tape->arena, ((size_t)sql->param_count + 1) * sizeof copy[0]);
    for (int i = 0; i < sql->param_count; i++)
        copy[i] = params[i] ? arena_strdup(tape->arena, params[i]) : NULL;
    operation->params = copy;
}

static const char *keep_answer(struct tape *tape, const struct pg_result *result)
{
    return arena_strdup(tape->arena, result->ok ? result->tag : result->sqlstate);
}

void tape_answer(struct tape *tape, enum pg_answer answer, const struct pg_result *result)
{
    struct tape_operation *operation = &tape->operations[tape->operation_count - 1];
    FP_ASSERT(operation->kind == TAPE_SEND);
    if (answer == PG_DONE)
        operation->answer = keep_answer(tape, result);
    operation->waits = answer == PG_BLOCKED;
}

void tape_finish(struct tape *tape, int slot, const struct pg_result *result)
{
    add_operation(tape, TAPE_FINISH, slot)->answer = keep_answer(tape, result);
}

/* ---- plain connections ---- */

struct bare_connection {
    PGconn *conn; /* NULL: none */
    int pid;
    bool in_use;
    uint64_t prepared[STATEMENT_COUNT_MAX / 64];
    enum leavings left;                /* as in struct pg_session */
    const struct tape_operation *sent; /* its answer has not been taken yet */
    bool prepares;                     /* with a Parse before it */
};

struct bare {
    PGconn *control;
    char *conninfo, *admin_conninfo;
    char *wipe_sql;
    struct bare_connection connections[SESSION_COUNT_MAX];
    struct bare_connection *by_slot[SESSION_COUNT_MAX];
    int64_t slate_count;
};

static enum err connection_failed(const PGconn *conn, struct strbuf *why)
{
    strbuf_printf(why, "a plain connection failed: %s", PQerrorMessage(conn));
    return ERR_INFRASTRUCTURE;
}

/* Several statements that must succeed, no result wanted. */
static enum err plain_run(PGconn *conn, const char *sql, struct strbuf *why)
{
    enum err err = ERR_OK;
    PGresult *result;
    if (!PQsendQuery(conn, sql))
        return connection_failed(conn, why);
    while ((result = PQgetResult(conn)) != NULL) {
        ExecStatusType status = PQresultStatus(result);
        if (err == ERR_OK && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            strbuf_printf(why, "plain SQL failed: %s", PQresultErrorMessage(result));
            err = ERR_INFRASTRUCTURE;
        }
        PQclear(result);
    }
    return err;
}

static void ignore_notice(void *self, const PGresult *notice)
{
    (void)self;
    (void)notice;
}

static enum err plain_connect(const char *conninfo, PGconn **conn, struct strbuf *why)
{
    *conn = PQconnectdb(conninfo);
    if (PQstatus(*conn) != CONNECTION_OK)
        return connection_failed(*conn, why);
    PQsetNoticeReceiver(*conn, ignore_notice, NULL);
    return ERR_OK;
}

static enum err make_database(const struct pg_lane *lane, struct strbuf *why)
{
    PGconn *conn;
    enum err err = plain_connect(pg_server_admin_conninfo(lane->server), &conn, why);
    if (err == ERR_OK)
        err = plain_run(conn, "DROP DATABASE IF EXISTS " BARE_DATABASE, why);
    if (err == ERR_OK)
        err = plain_run(conn, "CREATE DATABASE " BARE_DATABASE " OWNER fencepost", why);
    PQfinish(conn);
    return err;
}

static enum err make_tables(struct bare *bare, const char *plain_sql, struct strbuf *why)
{
    struct strbuf sql = STRBUF_INIT;
    strbuf_printf(&sql,
                  "ALTER DATABASE " BARE_DATABASE " SET lock_timeout = %d;"
                  "SET ROLE fencepost;\n%s;\nRESET ROLE",
                  BARE_LOCK_TIMEOUT_MS, plain_sql);
    enum err err = plain_run(bare->control, strbuf_str(&sql), why);
    strbuf_release(&sql);
    return err;
}

enum err bare_open(struct pg_lane *lane, const char *plain_sql, struct bare **out,
                   struct strbuf *why)
{
    struct bare *bare = fp_alloc(sizeof *bare);
    *out = NULL;
    /* Of a keyword that comes twice, the last counts. */
    bare->conninfo = fp_format("%s dbname=" BARE_DATABASE, pg_server_conninfo(lane->server));
    bare->admin_conninfo =
        fp_format("%s dbname=" BARE_DATABASE, pg_server_admin_conninfo(lane->server));
    bare->wipe_sql = fp_strdup(strbuf_str(&lane->wipe_sql));
    enum err err = make_database(lane, why);
    if (err == ERR_OK)
        err = plain_connect(bare->admin_conninfo, &bare->control, why);
    if (err == ERR_OK)
        err = make_tables(bare, plain_sql, why);
    if (err != ERR_OK) {
        bare_close(bare);
        return err;
    }
    *out = bare;
    return ERR_OK;
}

void bare_close(struct bare *bare)
{
    if (!bare)
        return;
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        PQfinish(bare->connections[i].conn);
    PQfinish(bare->control);
    free(bare->conninfo);
    free(bare->admin_conninfo);
    free(bare->wipe_sql);
    free(bare);
}

int bare_connection_count(const struct bare *bare)
{
    int count = 0;
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        count += bare->connections[i].conn != NULL;
    return count;
}

const char *bare_admin_conninfo(const struct bare *bare)
{
    return bare->admin_conninfo;
}

/* ---- one statement ---- */

/* Wait for everything that was sent. The answer is the first error, or else the last result; the
 * caller clears it. NULL: the connection is broken. */
static PGresult *await(struct bare_connection *connection, bool *first_ok)
{
    PGresult *answer = NULL;
    for (bool is_first = true;;) {
        PGresult *result = PQgetResult(connection->conn);
        if (!result) {
            if (PQstatus(connection->conn) == CONNECTION_OK)
                continue;
            PQclear(answer);
            return NULL;
        }
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return answer;
        }
        if (is_first)
            *first_ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
        is_first = false;
        if (status == PGRES_PIPELINE_ABORTED ||
            (answer && PQresultStatus(answer) == PGRES_FATAL_ERROR)) {
            PQclear(result);
            continue;
        }
        PQclear(answer);
        answer = result;
    }
}

/* What is recorded of an answer. */
static const char *answer_text(PGresult *answer)
{
    if (PQresultStatus(answer) != PGRES_FATAL_ERROR)
        return PQcmdStatus(answer);
    const char *sqlstate = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    return sqlstate ? sqlstate : "XX000";
}

static enum err compare(PGresult *answer, const char *name, const char *expected,
                        struct strbuf *why)
{
    const char *text = answer_text(answer);
    if (strcmp(text, expected) == 0)
        return ERR_OK;
    strbuf_printf(why, "%s: recorded %s, played %s", name, expected, text);
    return ERR_DB_SQL;
}

static enum err take_answer(struct bare_connection *connection, const struct tape *tape,
                            const char *expected, struct strbuf *why)
{
    const struct tape_operation *sent = connection->sent;
    bool first_ok = false;
    FP_ASSERT(sent);
    PGresult *answer = await(connection, &first_ok);
    if (!answer)
        return connection_failed(connection->conn, why);
    if (connection->prepares && first_ok)
        connection->prepared[sent->statement / 64] |= UINT64_C(1) << (sent->statement % 64);
    connection->sent = NULL;
    enum err err = compare(answer, tape->statements[sent->statement].sql->name, expected, why);
    PQclear(answer);
    return err;
}

static enum err play_send(struct bare_connection *connection, const struct tape *tape,
                          const struct tape_operation *operation, struct strbuf *why)
{
    const struct tape_statement *statement = &tape->statements[operation->statement];
    PGconn *conn = connection->conn;
    connection->sent = operation;
    enum leavings leaves = sql_leaves(statement->sql->text);
    if (leaves > connection->left)
        connection->left = leaves;
    connection->prepares =
        !(connection->prepared[operation->statement / 64] >> (operation->statement % 64) & 1);
    /* In one round trip, as the harness does it. */
    bool sent = (!connection->prepares ||
                 PQsendPrepare(conn, statement->name, statement->sql->text, 0, NULL)) &&
                PQsendQueryPrepared(conn, statement->name, statement->sql->param_count,
                                    operation->params, NULL, NULL, 0) &&
                PQpipelineSync(conn);
    if (!sent)
        return connection_failed(conn, why);
    return operation->waits ? ERR_OK : take_answer(connection, tape, operation->answer, why);
}

static enum err run_alone(struct bare_connection *connection, const char *sql, struct strbuf *why)
{
    bool first_ok = false;
    bool sent = PQsendQueryParams(connection->conn, sql, 0, NULL, NULL, NULL, NULL, 0) &&
                PQpipelineSync(connection->conn);
    PGresult *answer = sent ? await(connection, &first_ok) : NULL;
    if (!answer)
        return connection_failed(connection->conn, why);
    PQclear(answer);
    if (first_ok)
        return ERR_OK;
    strbuf_printf(why, "%s failed on a plain connection", sql);
    return ERR_INFRASTRUCTURE;
}

/* ---- connections come and go ---- */

static enum err play_connect(struct bare *bare, struct bare_connection *connection,
                             struct strbuf *why)
{
    enum err err = plain_connect(bare->conninfo, &connection->conn, why);
    if (err != ERR_OK)
        return err;
    connection->pid = PQbackendPID(connection->conn);
    memset(connection->prepared, 0, sizeof connection->prepared);
    connection->left = LEAVES_NOTHING;
    int piped = PQenterPipelineMode(connection->conn);
    FP_ASSERT(piped);
    return ERR_OK;
}

/* One that is connected, as the harness prefers it too; else a new one. */
static enum err play_open(struct bare *bare, int slot, struct strbuf *why)
{
    struct bare_connection *found = NULL;
    for (int i = 0; i < SESSION_COUNT_MAX && !found; i++)
        if (bare->connections[i].conn && !bare->connections[i].in_use)
            found = &bare->connections[i];
    for (int i = 0; i < SESSION_COUNT_MAX && !found; i++)
        if (!bare->connections[i].conn)
            found = &bare->connections[i];
    FP_ASSERT(found && !bare->by_slot[slot]);
    enum err err = found->conn ? ERR_OK : play_connect(bare, found, why);
    found->in_use = err == ERR_OK;
    bare->by_slot[slot] = found;
    return err;
}

static enum err play_close(struct bare *bare, int slot, struct strbuf *why)
{
    struct bare_connection *connection = bare->by_slot[slot];
    enum err err = ERR_OK;
    FP_ASSERT(!connection->sent);
    if (PQtransactionStatus(connection->conn) != PQTRANS_IDLE)
        err = run_alone(connection, "ROLLBACK", why);
    const char *reset = sql_of_reset(connection->left);
    if (err == ERR_OK && reset)
        err = run_alone(connection, reset, why);
    if (connection->left == LEAVES_ANYTHING)
        memset(connection->prepared, 0, sizeof connection->prepared);
    connection->left = LEAVES_NOTHING;
    connection->in_use = false;
    bare->by_slot[slot] = NULL;
    return err;
}

/* Its locks last until the server has noticed, and what follows must not wait for them. */
static enum err await_gone(struct bare *bare, int pid, struct strbuf *why)
{
    char text[16];
    snprintf(text, sizeof text, "%d", pid);
    const char *params[1] = {text};
    int64_t deadline_ns = realtime_ns() + PATIENCE_NS;
    while (realtime_ns() < deadline_ns) {
        bool present = true;
        PGresult *result;
        if (!PQsendQueryParams(bare->control, "SELECT 1 FROM pg_stat_get_activity($1::int)", 1,
                               NULL, params, NULL, NULL, 0))
            return connection_failed(bare->control, why);
        while ((result = PQgetResult(bare->control)) != NULL) {
            present = PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) > 0;
            PQclear(result);
        }
        if (!present)
            return ERR_OK;
        realtime_sleep_ns(50 * NS_PER_US);
    }
    strbuf_puts(why, "a closed plain connection does not leave the server");
    return ERR_INFRASTRUCTURE;
}

static enum err play_cut(struct bare *bare, int slot, struct strbuf *why)
{
    struct bare_connection *connection = bare->by_slot[slot];
    shutdown(PQsocket(connection->conn), SHUT_RDWR);
    PQfinish(connection->conn);
    connection->conn = NULL;
    connection->in_use = false;
    bare->by_slot[slot] = NULL;
    return await_gone(bare, connection->pid, why);
}

/* ---- one take ---- */

/* A take that came out otherwise was given up, and may have left somebody waiting: it gets its
 * lock, or loses its patience. */
static enum err await_left_over(struct bare_connection *connection, struct strbuf *why)
{
    bool ignored;
    if (!connection->sent)
        return ERR_OK;
    PGresult *answer = await(connection, &ignored);
    if (!answer)
        return connection_failed(connection->conn, why);
    PQclear(answer);
    connection->sent = NULL;
    return ERR_OK;
}

static enum err play_slate(struct bare *bare, struct strbuf *why)
{
    enum err err = ERR_OK;
    for (int slot = 0; slot < SESSION_COUNT_MAX && err == ERR_OK; slot++)
        if (bare->by_slot[slot])
            err = await_left_over(bare->by_slot[slot], why);
    for (int slot = 0; slot < SESSION_COUNT_MAX && err == ERR_OK; slot++)
        if (bare->by_slot[slot])
            err = play_close(bare, slot, why);
    if (err == ERR_OK)
        err = plain_run(bare->control, bare->wipe_sql, why);
    bare->slate_count++;
    if (err == ERR_OK && bare->slate_count % BARE_SLATES_PER_SWEEP == 0)
        err = plain_run(bare->control, "VACUUM pg_catalog.pg_class", why);
    return err;
}

static enum err play_operation(struct bare *bare, const struct tape *tape,
                               const struct tape_operation *operation, struct strbuf *why)
{
    FP_ASSERT(operation->kind == TAPE_OPEN || bare->by_slot[operation->slot]);
    switch (operation->kind) {
    case TAPE_OPEN:
        return play_open(bare, operation->slot, why);
    case TAPE_SEND:
        return play_send(bare->by_slot[operation->slot], tape, operation, why);
    case TAPE_FINISH:
        return take_answer(bare->by_slot[operation->slot], tape, operation->answer, why);
    case TAPE_CLOSE:
        return play_close(bare, operation->slot, why);
    case TAPE_CUT:
        return play_cut(bare, operation->slot, why);
    }
    FP_ASSERT(!"no such operation");
    return ERR_INFRASTRUCTURE;
}

enum err bare_play(struct bare *bare, const struct tape *tape, size_t take, struct strbuf *why)
{
    FP_ASSERT(take < tape->take_count);
    enum err err = play_slate(bare, why);
    size_t end = tape->takes[take].first + tape->takes[take].count;
    for (size_t i = tape->takes[take].first; i < end && err == ERR_OK; i++)
        err = play_operation(bare, tape, &tape->operations[i], why);
    return err;
}
