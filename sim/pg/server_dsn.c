/* A server that somebody else runs, reached by a connection string. On it a lane has a database of
 * its own, with a name that nobody else would choose. Nothing else there is touched: the given
 * database is only used to make that one, and to drop it. */
#include <inttypes.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/owner.h"
#include "sim/pg/process.h"
#include "sim/pg/reaper.h"
#include "sim/pg/server_kind.h"

#define VERSION_MIN 150000
#define RANDOM_SIZE 9
#define NAME_SIZE_MAX 64
#define DATABASE_COUNT_MAX 1000
#define DATABASE_COUNT_LIMIT "1000"
/* Of what is done in the given database: never wait for ever on somebody else's server. */
#define PATIENCE_SQL "SET statement_timeout = '60s'"
#define COMMENT_PREFIX "fencepost, owner "
/* Of the place, of the process and its start, chance, the lane. */
#define NAME_FORMAT "fencepost_%016" PRIx64 "_%d_%" PRIu64 "_%s_%d"
#define NAME_PATTERN "'^fencepost_[0-9a-f]{16}_[0-9]+_[0-9]+_[0-9a-f]{8}_[0-9]+$'"

struct dsn_server {
    struct pg_server base;
    bool can_signal;
    struct strbuf off; /* what the role may not set */
};

/* One a process. Lanes have it from the fork. */
static struct {
    char *where;
    char *role;
    char random[RANDOM_SIZE];
    char owner[OWNER_ID_SIZE_MAX];
    pid_t pid;
    struct reaper reaper;
} run;

/* What a session must have for a run to repeat itself, as a server of our own is set. */
static const char *const session_settings[] = {
    "synchronous_commit = on",
    "jit = off",
    "synchronize_seqscans = off",
    "plan_cache_mode = force_generic_plan",
    "statement_timeout = 0",
    "lock_timeout = 0",
    "idle_in_transaction_session_timeout = 0",
    "max_parallel_workers_per_gather = 0",
    "default_transaction_isolation = 'read committed'",
    "timezone = 'UTC'",
    "datestyle = 'ISO, MDY'",
};

/* ---- SQL ---- */

static void ignore_notice(void *self, const PGresult *notice)
{
    (void)self;
    (void)notice;
}

static PGconn *connect_to(const char *conninfo, struct strbuf *why)
{
    PGconn *conn = PQconnectdb(conninfo);
    if (PQstatus(conn) == CONNECTION_OK) {
        PQsetNoticeReceiver(conn, ignore_notice, NULL);
        return conn;
    }
    strbuf_printf(why, "--pg: %s", PQerrorMessage(conn));
    PQfinish(conn);
    return NULL;
}

/* NULL with `why`; `param` may be NULL. */
static PGresult *query(PGconn *conn, const char *sql, const char *param, struct strbuf *why)
{
    PGresult *result = PQexecParams(conn, sql, param != NULL ? 1 : 0, NULL, &param, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return result;
    strbuf_printf(why, "%s", PQresultErrorMessage(result));
    PQclear(result);
    return NULL;
}

static bool run_sql(PGconn *conn, const char *sql, struct strbuf *why)
{
    PGresult *result = query(conn, sql, NULL, why);
    PQclear(result);
    return result != NULL;
}

/* To the given database, to make ours and to drop it. */
static PGconn *connect_to_given(const char *where, struct strbuf *why)
{
    PGconn *conn = connect_to(where, why);
    if (conn != NULL)
        (void)run_sql(conn, PATIENCE_SQL, why);
    return conn;
}

/* ---- databases of ours ---- */

/* A killed fencepost may have left backends that it had stopped. */
static void wake_backends(PGconn *conn, const char *name, struct strbuf *why)
{
    PGresult *pids = query(conn, "SELECT pid FROM pg_stat_activity WHERE datname = $1", name, why);
    for (int row = 0; pids != NULL && row < PQntuples(pids); row++) {
        pid_t pid = atoi(PQgetvalue(pids, row, 0));
        if (process_title_holds(pid, name))
            (void)kill(pid, SIGCONT);
    }
    PQclear(pids);
}

static bool drop_database(PGconn *conn, const char *name)
{
    struct strbuf why = STRBUF_INIT;
    char sql[NAME_SIZE_MAX + 64];
    wake_backends(conn, name, &why);
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", name);
    bool dropped = run_sql(conn, sql, &why);
    strbuf_release(&why);
    return dropped;
}

static bool is_of_this_run(const char *name)
{
    char *mark = fp_format("_%s_", run.random);
    bool found = strstr(name, mark) != NULL;
    free(mark);
    return found;
}

/* By its name when that was given here since the machine was started, else by its comment. */
static bool is_of_dead_run(const char *name, const char *comment)
{
    uint64_t place, start_ticks;
    int pid;
    if (sscanf(name, "fencepost_%16" SCNx64 "_%d_%" SCNu64, &place, &pid, &start_ticks) != 3)
        return false;
    if (place == owner_place())
        return !owner_process_lives(pid, start_ticks);
    size_t prefix_size = strlen(COMMENT_PREFIX);
    return strncmp(comment, COMMENT_PREFIX, prefix_size) == 0 &&
           owner_judge(comment + prefix_size) == OWNER_DEAD;
}

/* To drop a database the server waits until each of its processes has taken note, whatever its
 * database. So all that may be stopped are continued before the first is dropped. */
static int drop_all(PGconn *conn, PGresult *names, const bool *chosen, struct strbuf *why)
{
    int count = 0;
    for (int row = 0; row < PQntuples(names); row++)
        if (chosen[row])
            wake_backends(conn, PQgetvalue(names, row, 0), why);
    for (int row = 0; row < PQntuples(names); row++)
        if (chosen[row])
            count += drop_database(conn, PQgetvalue(names, row, 0));
    return count;
}

/* Those of this run, or those of dead ones. Only databases of the connection's own role. */
static int drop_databases(PGconn *conn, bool only_dead)
{
    struct strbuf ignored = STRBUF_INIT;
    bool chosen[DATABASE_COUNT_MAX];
    int count = 0;
    PGresult *found = query(
        conn,
        "SELECT datname, coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database "
        "WHERE datname ~ " NAME_PATTERN " AND pg_get_userbyid(datdba) = current_user "
        "ORDER BY datname LIMIT " DATABASE_COUNT_LIMIT,
        NULL, &ignored);
    for (int row = 0; found != NULL && row < PQntuples(found); row++) {
        const char *name = PQgetvalue(found, row, 0);
        chosen[row] =
            only_dead ? is_of_dead_run(name, PQgetvalue(found, row, 1)) : is_of_this_run(name);
    }
    if (found != NULL)
        count = drop_all(conn, found, chosen, &ignored);
    PQclear(found);
    strbuf_release(&ignored);
    return count;
}

static void drop_ours(const void *self)
{
    struct strbuf ignored = STRBUF_INIT;
    (void)self;
    PGconn *conn = connect_to_given(run.where, &ignored);
    if (conn != NULL)
        (void)drop_databases(conn, false);
    PQfinish(conn);
    strbuf_release(&ignored);
}

/* ---- once a process ---- */

static bool takes_the_rest(const char *where)
{
    (void)where;
    return true;
}

static bool dsn_check(const struct pg_server_options *options, struct strbuf *why)
{
    char *error = NULL;
    if (strchr(options->where, '=') == NULL && strstr(options->where, "://") == NULL) {
        strbuf_printf(why, "--pg: expected local, docker or a connection string, found \"%s\"",
                      options->where);
        return false;
    }
    PQconninfoOption *parsed = PQconninfoParse(options->where, &error);
    bool good = parsed != NULL;
    if (!good)
        strbuf_printf(why, "--pg: not a connection string: %.*s",
                      error != NULL ? (int)strcspn(error, "\n") : 0, error != NULL ? error : "");
    PQconninfoFree(parsed);
    PQfreemem(error);
    return good;
}

/* Everything that would fail later, said at once. */
static enum err check_server(PGconn *conn, struct strbuf *why)
{
    if (PQserverVersion(conn) < VERSION_MIN) {
        strbuf_printf(why, "--pg: the server has PostgreSQL %s, at least %d is needed",
                      PQparameterStatus(conn, "server_version"), VERSION_MIN / 10000);
        return ERR_INFRASTRUCTURE;
    }
    PGresult *result = query(conn,
                             "SELECT current_user, rolcreatedb OR rolsuper, pg_is_in_recovery() "
                             "FROM pg_roles WHERE rolname = current_user",
                             NULL, why);
    if (result == NULL)
        return ERR_INFRASTRUCTURE;
    bool may_create = strcmp(PQgetvalue(result, 0, 1), "t") == 0;
    bool is_standby = strcmp(PQgetvalue(result, 0, 2), "t") == 0;
    run.role = fp_strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    if (is_standby)
        strbuf_puts(why, "--pg: the server is a standby and takes no writes");
    else if (!may_create)
        strbuf_printf(why,
                      "--pg: the role %s may not create a database, and a run needs one of its "
                      "own: ALTER ROLE %s CREATEDB",
                      run.role, run.role);
    return is_standby || !may_create ? ERR_INFRASTRUCTURE : ERR_OK;
}

static void forget_run(void)
{
    free(run.where);
    free(run.role);
    memset(&run, 0, sizeof run);
}

static enum err dsn_prepare(const struct pg_server_options *options, struct strbuf *why)
{
    PGconn *conn = connect_to_given(options->where, why);
    if (conn == NULL)
        return ERR_INFRASTRUCTURE;
    run.where = fp_strdup(options->where);
    run.pid = getpid();
    owner_id(run.owner);
    owner_random_hex(run.random, sizeof run.random);
    enum err err = check_server(conn, why);
    PQfinish(conn);
    if (err == ERR_OK)
        err = reaper_start(drop_ours, NULL, -1, &run.reaper, why);
    if (err != ERR_OK)
        forget_run();
    return err;
}

static void dsn_release(void)
{
    drop_ours(NULL);
    reaper_dismiss(&run.reaper);
    forget_run();
}

/* ---- a lane ---- */

/* The given connection string, with our database in place of its own. */
static char *conninfo_for(const char *database)
{
    struct strbuf text = STRBUF_INIT;
    PQconninfoOption *parsed = PQconninfoParse(run.where, NULL);
    FP_ASSERT(parsed != NULL);
    for (const PQconninfoOption *option = parsed; option->keyword != NULL; option++) {
        if (option->val == NULL || strcmp(option->keyword, "dbname") == 0 ||
            strcmp(option->keyword, "client_encoding") == 0)
            continue;
        char *value = pg_conninfo_value(option->val);
        strbuf_printf(&text, "%s=%s ", option->keyword, value);
        free(value);
    }
    PQconninfoFree(parsed);
    strbuf_printf(&text, "dbname=%s client_encoding=UTF8", database);
    return strbuf_detach(&text);
}

/* Sorted as a server of our own sorts, and closed to everybody else. */
static enum err create_database(PGconn *conn, const char *name, struct strbuf *why)
{
    char *create = fp_format("CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' "
                             "LOCALE_PROVIDER libc",
                             name);
    char *comment = fp_format("COMMENT ON DATABASE %s IS '" COMMENT_PREFIX "%s'", name, run.owner);
    char *close = fp_format("REVOKE ALL ON DATABASE %s FROM PUBLIC", name);
    bool good =
        run_sql(conn, create, why) && run_sql(conn, comment, why) && run_sql(conn, close, why);
    free(create);
    free(comment);
    free(close);
    return good ? ERR_OK : ERR_INFRASTRUCTURE;
}

static bool set_for_role(PGconn *conn, const struct dsn_server *server, const char *setting,
                         struct strbuf *why)
{
    char *role = PQescapeIdentifier(conn, server->base.role, strlen(server->base.role));
    char *sql =
        fp_format("ALTER ROLE %s IN DATABASE %s SET %s", role, server->base.database, setting);
    bool set = run_sql(conn, sql, why);
    free(sql);
    PQfreemem(role);
    return set;
}

static enum err read_own_timeout(PGconn *conn, struct dsn_server *server, struct strbuf *why)
{
    PGresult *result =
        query(conn, "SELECT setting FROM pg_settings WHERE name = 'deadlock_timeout'", NULL, why);
    if (result == NULL)
        return ERR_INFRASTRUCTURE;
    server->base.deadlock_timeout_ms = atoi(PQgetvalue(result, 0, 0));
    PQclear(result);
    return ERR_OK;
}

static void note_off(struct dsn_server *server, const char *text)
{
    if (server->off.size > 0)
        strbuf_puts(&server->off, "; ");
    strbuf_puts(&server->off, text);
}

static enum err configure(PGconn *conn, struct dsn_server *server, struct strbuf *why)
{
    struct strbuf ignored = STRBUF_INIT;
    for (size_t i = 0; i < FP_COUNT(session_settings); i++) {
        if (set_for_role(conn, server, session_settings[i], &ignored))
            continue;
        char *text = fp_format("the role may not set %s", session_settings[i]);
        note_off(server, text);
        free(text);
    }
    bool sets_timeout = set_for_role(conn, server, "deadlock_timeout = 50", &ignored);
    strbuf_release(&ignored);
    return sets_timeout ? ERR_OK : read_own_timeout(conn, server, why);
}

/* ---- the backends ---- */

/* A process that has the name of our database in its title, and no other. A server elsewhere uses
 * numbers that here are somebody else's. */
static pid_t dsn_signal_pid(const struct pg_server *base, int backend_pid)
{
    return process_title_holds(backend_pid, base->database) ? backend_pid : 0;
}

static bool dsn_can_signal(const struct pg_server *base)
{
    return ((const struct dsn_server *)base)->can_signal;
}

static enum err look_around(struct dsn_server *server, struct strbuf *why)
{
    PGconn *conn = connect_to(server->base.admin_conninfo, why);
    if (conn == NULL)
        return ERR_INFRASTRUCTURE;
    pid_t pid = dsn_signal_pid(&server->base, PQbackendPID(conn));
    server->can_signal = pid > 0 && kill(pid, 0) == 0;
    if (!server->can_signal)
        note_off(server, "its backends cannot be signalled from here, so waiters are not stopped "
                         "and the server decides who goes on");
    const char *version = PQparameterStatus(conn, "server_version");
    server->base.version = fp_format("%.*s", (int)strcspn(version, " "), version);
    PGresult *result = query(conn, "SHOW autovacuum", NULL, why);
    if (result != NULL && strcmp(PQgetvalue(result, 0, 0), "on") == 0)
        note_off(server, "autovacuum and other work on the server may change the order of rows");
    PQclear(result);
    PQfinish(conn);
    return result != NULL ? ERR_OK : ERR_INFRASTRUCTURE;
}

static void dsn_describe(const struct pg_server *base, struct pg_environment *environment)
{
    const struct dsn_server *server = (const struct dsn_server *)base;
    snprintf(environment->off, sizeof environment->off, "%s%sno faults of the server itself",
             strbuf_str(&server->off), server->off.size > 0 ? "; " : "");
}

/* ---- begin and end ---- */

static void dsn_stop(struct pg_server *base)
{
    struct dsn_server *server = (struct dsn_server *)base;
    struct strbuf ignored = STRBUF_INIT;
    PGconn *conn = connect_to_given(run.where, &ignored);
    if (conn != NULL)
        (void)drop_database(conn, base->database);
    PQfinish(conn);
    strbuf_release(&ignored);
    strbuf_release(&server->off);
    pg_server_release(base);
    free(server);
}

static enum err begin(struct dsn_server *server, struct strbuf *why)
{
    PGconn *conn = connect_to_given(run.where, why);
    if (conn == NULL)
        return ERR_INFRASTRUCTURE;
    (void)drop_database(conn, server->base.database); /* of a lane that died */
    enum err err = create_database(conn, server->base.database, why);
    if (err == ERR_OK)
        err = configure(conn, server, why);
    PQfinish(conn);
    if (err == ERR_OK)
        err = look_around(server, why);
    return err;
}

static enum err dsn_start(const struct pg_server_options *options, int lane, struct pg_server **out,
                          struct strbuf *why)
{
    (void)options;
    struct dsn_server *server = fp_alloc(sizeof *server);
    server->base.kind = &pg_server_kind_dsn;
    server->base.lane = lane;
    server->base.role = fp_strdup(run.role);
    server->base.database = fp_format(NAME_FORMAT, owner_place(), (int)run.pid,
                                      process_start_ticks(run.pid), run.random, lane);
    FP_ASSERT(strlen(server->base.database) < NAME_SIZE_MAX);
    server->base.conninfo = conninfo_for(server->base.database);
    server->base.admin_conninfo = fp_strdup(server->base.conninfo);
    enum err err = begin(server, why);
    if (err != ERR_OK) {
        dsn_stop(&server->base);
        return err;
    }
    *out = &server->base;
    return ERR_OK;
}

static int dsn_remove_leftovers(const struct pg_server_options *options)
{
    struct strbuf ignored = STRBUF_INIT;
    int count = 0;
    PGconn *conn = connect_to_given(options->where, &ignored);
    if (conn != NULL)
        count = drop_databases(conn, true);
    PQfinish(conn);
    strbuf_release(&ignored);
    return count;
}

const struct pg_server_kind pg_server_kind_dsn = {
    .name = "dsn",
    .is_meant = takes_the_rest,
    .check = dsn_check,
    .prepare = dsn_prepare,
    .release = dsn_release,
    .start = dsn_start,
    .stop = dsn_stop,
    .can_signal = dsn_can_signal,
    .signal_pid = dsn_signal_pid,
    .describe = dsn_describe,
    .remove_leftovers = dsn_remove_leftovers,
};
