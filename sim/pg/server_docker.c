/* A server in a container of its own, through the docker command line, in the manner of the
 * testcontainers family: labels, a loopback port that the engine chooses, nothing left afterwards.
 */
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/pg/docker.h"
#include "sim/pg/docker_session.h"
#include "sim/pg/owner.h"
#include "sim/pg/process.h"
#include "sim/pg/server_kind.h"
#include "sim/pg/spawn.h"
#include "sim/pg/template.h"

#define START_TIMEOUT_NS (180 * NS_PER_S)
#define START_PAUSE_MS 50
#define LOOK_INTERVAL_NS NS_PER_S
#define SECRET_SIZE 33

struct docker_server {
    struct pg_server base;
    char *container;
    char *cluster_name; /* in the title of each of its processes */
    char secret[SECRET_SIZE];
    pid_t postmaster; /* as this process sees it; 0: it does not */
    bool can_signal;
};

static bool is_docker(const char *where)
{
    return strcmp(where, "docker") == 0;
}

/* ---- the container ---- */

static bool is_about_listening(const char *line)
{
    static const char *const keys[] = {"listen_addresses", "port ", "unix_socket_"};
    for (size_t i = 0; i < FP_COUNT(keys); i++)
        if (strncmp(line, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

/* The same settings as a local server has, but for where it listens. */
static void add_settings(struct docker_args *args, const char *lines)
{
    for (const char *line = lines; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t key_size = strcspn(line, " \n");
        const char *value = strstr(line, "= ");
        if (key_size == 0 || is_about_listening(line))
            continue;
        FP_ASSERT(value != NULL);
        value += 2;
        bool is_quoted = *value == '\'';
        value += is_quoted;
        docker_arg(args, "-c");
        docker_arg(args, "%.*s=%.*s", (int)key_size, line,
                   (int)strcspn(value, is_quoted ? "'" : "\n"), value);
    }
}

static enum err start_container(struct docker_server *server, int cpu, struct strbuf *why)
{
    struct strbuf id = STRBUF_INIT;
    struct docker_call call;
    char input[512];
    snprintf(input, sizeof input,
             "POSTGRES_USER=fencepost_admin\nPOSTGRES_PASSWORD=%s\nPOSTGRES_DB=fencepost\n"
             "POSTGRES_INITDB_ARGS=-N --no-locale -E UTF8 --wal-segsize=1\n",
             server->secret);
    docker_call_init(&call, "run", "--detach", "--pull=never", "--env-file=/dev/stdin",
                     "--publish=127.0.0.1::5432", NULL);
    call.input = input;
    docker_session_label(&call.args);
    docker_arg(&call.args, "--name=%s", server->cluster_name);
    if (cpu >= 0)
        docker_arg(&call.args, "--cpuset-cpus=%d", cpu);
    docker_arg(&call.args, "%s", docker_session_get()->image);
    docker_arg(&call.args, "postgres");
    add_settings(&call.args, template_settings);
    if (docker_session_get()->version_major >= 18)
        add_settings(&call.args, template_settings_from_18);
    docker_arg(&call.args, "-c");
    docker_arg(&call.args, "listen_addresses=*");
    docker_arg(&call.args, "-c");
    docker_arg(&call.args, "cluster_name=%s", server->cluster_name);
    enum err err = docker_run(&call, &id, why);
    if (err == ERR_OK)
        server->container = fp_strdup(strbuf_str(&id));
    strbuf_release(&id);
    return err;
}

/* One value of `docker inspect`. */
static enum err inspect(const struct docker_server *server, const char *format, struct strbuf *out,
                        struct strbuf *why)
{
    struct docker_call call;
    docker_call_init(&call, "inspect", "--format", format, server->container, NULL);
    return docker_run(&call, out, why);
}

/* The engine chooses it anew whenever the container starts. "127.0.0.1:32768". */
static enum err read_port(struct docker_server *server, struct strbuf *why)
{
    struct strbuf output = STRBUF_INIT;
    struct docker_call call;
    docker_call_init(&call, "port", server->container, "5432/tcp", NULL);
    enum err err = docker_run(&call, &output, why);
    const char *colon = strrchr(strbuf_str(&output), ':');
    int port = colon != NULL ? atoi(colon + 1) : 0;
    if (err == ERR_OK && port <= 0) {
        strbuf_printf(why, "docker port does not tell the port: %s", strbuf_str(&output));
        err = ERR_INFRASTRUCTURE;
    }
    strbuf_release(&output);
    if (err != ERR_OK)
        return err;
    static const char format[] = "host=127.0.0.1 port=%d dbname=fencepost user=%s password=%s "
                                 "connect_timeout=10 " PG_CONNINFO_FIXED;
    free(server->base.conninfo);
    free(server->base.admin_conninfo);
    server->base.conninfo = fp_format(format, port, "fencepost", server->secret);
    server->base.admin_conninfo = fp_format(format, port, "fencepost_admin", server->secret);
    return ERR_OK;
}

static void docker_server_log_tail(const struct pg_server *base, struct strbuf *out)
{
    const struct docker_server *server = (const struct docker_server *)base;
    if (server->container != NULL)
        docker_log_tail(server->container, out);
}

static bool is_running(const struct docker_server *server)
{
    struct strbuf state = STRBUF_INIT, ignored = STRBUF_INIT;
    bool running = inspect(server, "{{.State.Running}}", &state, &ignored) == ERR_OK &&
                   strcmp(strbuf_str(&state), "true") == 0;
    strbuf_release(&state);
    strbuf_release(&ignored);
    return running;
}

/* While the image makes its data directory its server listens on a Unix socket alone, so the first
 * connection that is accepted is with the server that stays. NULL with `why`. */
static PGconn *connect_when_ready(const struct docker_server *server,
                                  const volatile bool *interrupted, struct strbuf *why)
{
    int64_t began_ns = realtime_ns(), looked_ns = began_ns;
    PGconn *conn = NULL;
    while (interrupted == NULL || !*interrupted) {
        PQfinish(conn);
        conn = PQconnectdb(server->base.admin_conninfo);
        int64_t now_ns = realtime_ns();
        if (PQstatus(conn) == CONNECTION_OK)
            return conn;
        bool looks = now_ns - looked_ns > LOOK_INTERVAL_NS;
        if (looks)
            looked_ns = now_ns;
        if (now_ns - began_ns > START_TIMEOUT_NS || (looks && !is_running(server)))
            break;
        spawn_pause_ms(START_PAUSE_MS);
    }
    strbuf_printf(why, "the server in the container %s (%s) does not answer: %s\n",
                  server->cluster_name, docker_session_get()->image, PQerrorMessage(conn));
    docker_server_log_tail(&server->base, why);
    PQfinish(conn);
    return NULL;
}

static enum err run_sql(PGconn *conn, const char *sql, char *value, size_t value_size,
                        struct strbuf *why)
{
    PGresult *result = PQexecParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good)
        strbuf_printf(why, "%s: %s", sql, PQresultErrorMessage(result));
    if (good && value != NULL && PQntuples(result) == 1)
        snprintf(value, value_size, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return good ? ERR_OK : ERR_INFRASTRUCTURE;
}

/* What the template of a local server has. */
static enum err add_roles(struct docker_server *server, PGconn *conn, struct strbuf *why)
{
    char create[128], version[64] = "";
    snprintf(create, sizeof create, "CREATE ROLE fencepost LOGIN NOSUPERUSER PASSWORD '%s'",
             server->secret);
    enum err err = run_sql(conn, create, NULL, 0, why);
    if (err == ERR_OK)
        err = run_sql(conn, "ALTER DATABASE fencepost OWNER TO fencepost", NULL, 0, why);
    if (err == ERR_OK)
        err = run_sql(conn, "SHOW server_version", version, sizeof version, why);
    version[strcspn(version, " ")] = '\0';
    server->base.version = fp_strdup(version);
    return err;
}

/* ---- its processes, as this machine sees them ---- */

/* Only a process that says in its title that it is of our cluster is ever signalled: with an engine
 * in a virtual machine, its numbers mean somebody else's processes here. */
static pid_t docker_signal_pid(const struct pg_server *base, int backend_pid)
{
    const struct docker_server *server = (const struct docker_server *)base;
    if (server->postmaster <= 0)
        return 0;
    pid_t pid = process_child_by_inner_pid(server->postmaster, backend_pid);
    if (pid <= 0 || !process_title_holds(pid, server->cluster_name))
        return 0;
    return pid;
}

static void find_processes(struct docker_server *server, int backend_pid)
{
    struct strbuf output = STRBUF_INIT, ignored = STRBUF_INIT;
    server->postmaster = 0;
    if (inspect(server, "{{.State.Pid}}", &output, &ignored) == ERR_OK)
        server->postmaster = atoi(strbuf_str(&output));
    pid_t pid = docker_signal_pid(&server->base, backend_pid);
    server->can_signal = pid > 0 && kill(pid, 0) == 0;
    strbuf_release(&output);
    strbuf_release(&ignored);
}

static bool docker_can_signal(const struct pg_server *base)
{
    return ((const struct docker_server *)base)->can_signal;
}

static void docker_describe(const struct pg_server *base, struct pg_environment *environment)
{
    snprintf(environment->image, sizeof environment->image, "%s", docker_session_get()->image);
    if (!docker_can_signal(base))
        snprintf(environment->off, sizeof environment->off,
                 "the container's processes cannot be signalled by this user, so waiters are not "
                 "stopped and the server decides who goes on");
}

/* ---- what is done to it ---- */

static enum err call_with(const struct docker_server *server, const char *verb, const char *option,
                          struct strbuf *why)
{
    struct docker_call call;
    docker_call_init(&call, verb, NULL);
    if (option != NULL)
        docker_arg(&call.args, "%s", option);
    docker_arg(&call.args, "%s", server->container);
    return docker_run(&call, NULL, why);
}

/* It answers again, on a port that may be another. */
static enum err find_again(struct docker_server *server, struct strbuf *why)
{
    enum err err = read_port(server, why);
    PGconn *conn = err == ERR_OK ? connect_when_ready(server, NULL, why) : NULL;
    if (conn == NULL)
        return ERR_INFRASTRUCTURE;
    find_processes(server, PQbackendPID(conn));
    PQfinish(conn);
    return ERR_OK;
}

/* A backend that was stopped answers no polite request, so a restart does not wait for it. */
static enum err docker_hit(struct pg_server *base, enum pg_hit hit, struct strbuf *why)
{
    struct docker_server *server = (struct docker_server *)base;
    bool is_pause = hit == PG_HIT_PAUSE;
    enum err err = ERR_OK;
    if (hit == PG_HIT_RESTART)
        err = call_with(server, "restart", "--time=0", why);
    else
        err = call_with(server, is_pause ? "pause" : "kill", NULL, why);
    if (err == ERR_OK && hit != PG_HIT_RESTART)
        err = call_with(server, is_pause ? "unpause" : "start", NULL, why);
    return err == ERR_OK && !is_pause ? find_again(server, why) : err;
}

/* ---- begin and end ---- */

static void docker_stop(struct pg_server *base)
{
    struct docker_server *server = (struct docker_server *)base;
    if (server->container != NULL)
        (void)docker_remove(server->container);
    free(server->container);
    free(server->cluster_name);
    pg_server_release(base);
    free(server);
}

static enum err begin(struct docker_server *server, const struct pg_server_options *options,
                      struct strbuf *why)
{
    (void)docker_remove(server->cluster_name); /* of a lane that died */
    enum err err = start_container(server, options->cpu, why);
    if (err == ERR_OK)
        err = read_port(server, why);
    if (err != ERR_OK)
        return err;
    PGconn *conn = connect_when_ready(server, options->interrupted, why);
    if (conn == NULL)
        return ERR_INFRASTRUCTURE;
    err = add_roles(server, conn, why);
    if (err == ERR_OK)
        find_processes(server, PQbackendPID(conn));
    PQfinish(conn);
    return err;
}

static enum err docker_start(const struct pg_server_options *options, int lane,
                             struct pg_server **out, struct strbuf *why)
{
    struct docker_server *server = fp_alloc(sizeof *server);
    server->base.kind = &pg_server_kind_docker;
    server->base.lane = lane;
    server->base.role = fp_strdup("fencepost");
    server->base.database = fp_strdup("fencepost");
    server->cluster_name = fp_format("fencepost-%.12s-lane-%d", docker_session_get()->id, lane);
    owner_random_hex(server->secret, sizeof server->secret);
    enum err err = begin(server, options, why);
    if (err != ERR_OK) {
        docker_stop(&server->base);
        return err;
    }
    *out = &server->base;
    return ERR_OK;
}

static int docker_remove_leftovers(const struct pg_server_options *options)
{
    (void)options;
    return docker_remove_dead();
}

const struct pg_server_kind pg_server_kind_docker = {
    .name = "docker",
    .boxed = &pg_server_kind_box,
    .is_meant = is_docker,
    .prepare = docker_session_open,
    .release = docker_session_close,
    .start = docker_start,
    .stop = docker_stop,
    .can_signal = docker_can_signal,
    .signal_pid = docker_signal_pid,
    .hit = docker_hit,
    .log_tail = docker_server_log_tail,
    .describe = docker_describe,
    .remove_leftovers = docker_remove_leftovers,
};
