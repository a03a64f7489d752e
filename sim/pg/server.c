#include "sim/pg/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/process.h"
#include "sim/pg/rundir.h"
#include "sim/pg/spawn.h"
#include "sim/pg/template.h"

#define COPY_TIMEOUT_MS 60000
#define START_TIMEOUT_MS 30000
#define START_PAUSE_MS 2
#define STOP_TIMEOUT_MS 100
#define COLLECT_TIMEOUT_MS 5000

struct pg_server {
    pid_t pid; /* the postmaster's; 0 once it is collected */
    int lane;
    char *dir;
    char *data_dir;
    char *log_path;
    char *cluster_name; /* with the colon that ends it in a process title */
    char *conninfo;
    char *admin_conninfo;
    char *version;
};

/* A value of a connection string: in quotes, with quotes and backslashes escaped. */
static char *conninfo_value(const char *text)
{
    struct strbuf value = STRBUF_INIT;

    strbuf_putc(&value, '\'');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'' || *c == '\\')
            strbuf_putc(&value, '\\');
        strbuf_putc(&value, *c);
    }
    strbuf_putc(&value, '\'');
    return strbuf_detach(&value);
}

/* Says what the environment could otherwise decide (PGSSLMODE, PGOPTIONS, ...). */
static char *make_conninfo(const char *dir, const char *user)
{
    char *host = conninfo_value(dir);
    char *conninfo = fp_format("host=%s port=5432 dbname=fencepost user=%s client_encoding=UTF8 "
                               "sslmode=disable gssencmode=disable channel_binding=disable "
                               "target_session_attrs=any options=''",
                               host, user);
    free(host);
    return conninfo;
}

static void server_free(struct pg_server *server)
{
    free(server->dir);
    free(server->data_dir);
    free(server->log_path);
    free(server->cluster_name);
    free(server->conninfo);
    free(server->admin_conninfo);
    free(server->version);
    free(server);
}

/* What the lane's programs say. -1: nothing can be written. */
static int open_log(const struct pg_server *server)
{
    return open(server->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static enum err copy_template(struct pg_server *server, struct strbuf *why)
{
    const struct pg_template *template = pg_template_get();
    const char *const argv[] = {
        "/bin/cp", "-a", "--reflink=auto", "--", template->data_dir, server->data_dir, NULL,
    };
    int log_fd = open_log(server);
    struct spawn spawn = {
        .argv = argv,
        .user = &template->user,
        .cwd = template->rundir.path,
        .stdin_fd = -1,
        .stdout_fd = log_fd,
        .stderr_fd = log_fd,
        .cpu = -1,
        .death_signal = SIGKILL,
    };
    pid_t pid;
    int status = -1;

    enum err err = spawn_start(&spawn, &pid, why);
    if (log_fd >= 0)
        close(log_fd);
    if (err != ERR_OK)
        return err;
    if (!spawn_wait(pid, COPY_TIMEOUT_MS, &status)) {
        kill(pid, SIGKILL);
        (void)spawn_wait(pid, COLLECT_TIMEOUT_MS, &status);
    }
    if (status == 0)
        return ERR_OK;
    strbuf_printf(why, "cannot copy the template to %s, cp ended with ", server->data_dir);
    spawn_status_text(status, why);
    strbuf_puts(why, ":\n");
    pg_server_log_tail(server, why);
    return ERR_INFRASTRUCTURE;
}

static enum err start_postmaster(struct pg_server *server, int cpu, struct strbuf *why)
{
    const struct pg_template *template = pg_template_get();
    char *program = fp_format("%s/postgres", template->bin_dir);
    char *cluster = fp_format("cluster_name=%.*s", (int)strcspn(server->cluster_name, ":"),
                              server->cluster_name);
    const char *const argv[] = {program, "-D", server->data_dir, "-c", cluster, NULL};
    int log_fd = open_log(server);
    struct spawn spawn = {
        .argv = argv,
        .user = &template->user,
        .cwd = server->dir,
        .stdin_fd = -1,
        .stdout_fd = log_fd,
        .stderr_fd = log_fd,
        .cpu = cpu,
        .death_signal = SIGQUIT, /* an immediate shutdown */
    };

    enum err err = spawn_start(&spawn, &server->pid, why);
    if (log_fd >= 0)
        close(log_fd);
    free(program);
    free(cluster);
    return err;
}

static enum err wait_until_ready(struct pg_server *server, struct strbuf *why)
{
    int status = -1;

    for (int waited_ms = 0; waited_ms < START_TIMEOUT_MS; waited_ms += START_PAUSE_MS) {
        if (postmaster_is_ready(server->data_dir, server->pid))
            return ERR_OK;
        if (!spawn_wait(server->pid, START_PAUSE_MS, &status))
            continue;
        server->pid = 0;
        strbuf_puts(why, "the server ended while it started, with ");
        spawn_status_text(status, why);
        strbuf_puts(why, ":\n");
        pg_server_log_tail(server, why);
        return ERR_INFRASTRUCTURE;
    }
    strbuf_printf(why, "the server was not ready within %d s:\n", START_TIMEOUT_MS / 1000);
    pg_server_log_tail(server, why);
    return ERR_INFRASTRUCTURE;
}

/* The directory with a copy of the template in it. */
static enum err prepare_dir(struct pg_server *server, struct strbuf *why)
{
    const struct pg_template *template = pg_template_get();

    if (!rundir_destroy_lane(template->rundir.path, server->lane)) {
        strbuf_printf(why, "cannot remove what is left in lane %d of %s", server->lane,
                      template->rundir.path);
        return ERR_INFRASTRUCTURE;
    }
    enum err err = rundir_check_room(template->rundir.path, why);
    if (err != ERR_OK)
        return err;
    char *name = fp_format("lane-%d", server->lane);
    server->dir = rundir_make_inside(&template->rundir, name, &template->user, why);
    free(name);
    if (server->dir == NULL)
        return ERR_INFRASTRUCTURE;
    server->data_dir = fp_format("%s/data", server->dir);
    server->log_path = fp_format("%s/log", server->dir);
    return copy_template(server, why);
}

enum err pg_server_start(const struct pg_server_options *options, int lane,
                         struct pg_server **server_out, struct strbuf *why)
{
    const struct pg_template *template = pg_template_get();

    FP_ASSERT(lane >= 0 && lane < RUNDIR_LANE_COUNT_MAX);
    struct pg_server *server = fp_alloc(sizeof(*server));
    server->lane = lane;
    server->version = fp_strdup(template->version);
    server->cluster_name = rundir_cluster_name(template->rundir.path, lane);
    enum err err = prepare_dir(server, why);
    if (err == ERR_OK)
        err = start_postmaster(server, options->cpu, why);
    if (err == ERR_OK)
        err = wait_until_ready(server, why);
    if (err != ERR_OK) {
        pg_server_stop(server);
        return err;
    }
    server->conninfo = make_conninfo(server->dir, "fencepost");
    server->admin_conninfo = make_conninfo(server->dir, "fencepost_admin");
    *server_out = server;
    return ERR_OK;
}

/* The postmaster waits for its children, and a stopped one does not answer it: kill those, and it
 * ends at once and in order. */
static void stop_postmaster(struct pg_server *server)
{
    const struct process_place place = {.dir = server->dir, .cluster_name = server->cluster_name};
    int status;

    FP_ASSERT(server->pid > 0);
    (void)kill(server->pid, SIGQUIT);
    (void)process_kill_once(&place, server->pid);
    if (spawn_wait(server->pid, STOP_TIMEOUT_MS, &status))
        return;
    (void)kill(server->pid, SIGKILL);
    (void)spawn_wait(server->pid, COLLECT_TIMEOUT_MS, &status);
}

void pg_server_stop(struct pg_server *server)
{
    if (server == NULL)
        return;
    if (server->pid > 0)
        stop_postmaster(server);
    (void)rundir_destroy_lane(pg_template_get()->rundir.path, server->lane);
    server_free(server);
}

const char *pg_server_conninfo(const struct pg_server *server)
{
    FP_ASSERT(server->conninfo != NULL);
    return server->conninfo;
}

const char *pg_server_admin_conninfo(const struct pg_server *server)
{
    FP_ASSERT(server->admin_conninfo != NULL);
    return server->admin_conninfo;
}

const char *pg_server_version(const struct pg_server *server)
{
    return server->version;
}

bool pg_server_can_signal(const struct pg_server *server)
{
    return server->pid > 0 && kill(server->pid, 0) == 0;
}

void pg_server_log_tail(const struct pg_server *server, struct strbuf *out)
{
    if (server->log_path != NULL)
        log_tail(server->log_path, out);
}
