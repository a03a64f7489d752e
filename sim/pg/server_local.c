/* A server of our own on this machine, copied from the template. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/loopback.h"
#include "sim/pg/process.h"
#include "sim/pg/rundir.h"
#include "sim/pg/server_local.h"
#include "sim/pg/spawn.h"
#include "sim/pg/template.h"

#define COPY_TIMEOUT_MS 60000
#define START_TIMEOUT_MS 30000
#define START_PAUSE_MS 2
#define STOP_TIMEOUT_MS 100
#define PORT_DEFAULT 5432
#define LOOPBACK "127.0.0.1"
#define LISTEN_ATTEMPT_COUNT 5

void local_log_tail(const struct pg_server *base, struct strbuf *out)
{
    const struct local_server *server = (const struct local_server *)base;
    if (server->box != NULL)
        box_log_tail(server->box, out);
    if (server->log_path != NULL)
        log_tail(server->log_path, out);
}

char *pg_make_conninfo(const char *host, int port, const char *user)
{
    char *quoted = pg_conninfo_value(host);
    char *conninfo = fp_format("host=%s port=%d dbname=fencepost user=%s " PG_CONNINFO_FIXED,
                               quoted, port, user);
    free(quoted);
    return conninfo;
}

static void make_conninfos(struct local_server *server)
{
    free(server->base.conninfo);
    free(server->base.admin_conninfo);
    server->base.conninfo = pg_make_conninfo(server->dir, server->beside.port, "fencepost");
    server->base.admin_conninfo =
        pg_make_conninfo(server->dir, server->beside.port, "fencepost_admin");
}

void local_free(struct local_server *server)
{
    free(server->dir);
    free(server->data_dir);
    free(server->log_path);
    free(server->cluster_name);
    free(server->box);
    free(server->password);
    free(server->toxiproxy);
    free(server->pgbouncer);
    pg_server_release(&server->base);
    free(server);
}

/* What the lane's programs say. -1: nothing can be written. */
static int open_log(const struct local_server *server)
{
    return open(server->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

enum err local_copy(struct local_server *server, const char *from, struct strbuf *why)
{
    const struct pg_template *template = pg_template_get();
    const char *const argv[] = {
        "/bin/cp", "-a", "--reflink=auto", "--", from, server->data_dir, NULL,
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
    strbuf_printf(why, "cannot copy %s to %s, cp ended with ", from, server->data_dir);
    spawn_status_text(status, why);
    strbuf_puts(why, ":\n");
    local_log_tail(&server->base, why);
    return ERR_INFRASTRUCTURE;
}

struct box local_box(const struct local_server *server)
{
    return (struct box){.name = server->box,
                        .dir = server->dir,
                        .cpu = server->cpu,
                        .port = server->password ? server->beside.port : 0};
}

/* In a container every postmaster has the same number, so an old file could be taken for a new one.
 */
static enum err start_boxed(struct local_server *server, const char *const *argv,
                            struct strbuf *why)
{
    local_forget_postmaster(server);
    struct box box = local_box(server);
    return box_start(&box, argv, &server->pid, why);
}

static enum err start_here(struct local_server *server, const char *const *argv, struct strbuf *why)
{
    int log_fd = open_log(server);
    struct spawn spawn = {
        .argv = argv,
        .user = &pg_template_get()->user,
        .cwd = server->dir,
        .stdin_fd = -1,
        .stdout_fd = log_fd,
        .stderr_fd = log_fd,
        .cpu = server->cpu,
        .death_signal = SIGQUIT, /* an immediate shutdown */
    };

    enum err err = spawn_start(&spawn, &server->pid, why);
    if (log_fd >= 0)
        close(log_fd);
    return err;
}

/* Within a container it listens to the network that the container alone is in. */
static const char *listen_setting(const struct local_server *server)
{
    if (server->password == NULL)
        return "listen_addresses=";
    return server->box != NULL ? "listen_addresses=*" : "listen_addresses=" LOOPBACK;
}

static enum err start_postmaster(struct local_server *server, struct strbuf *why)
{
    char *program = template_program("postgres");
    char *cluster =
        fp_format("cluster_name=%.*s", (int)strlen(server->cluster_name) - 1, server->cluster_name);
    char *port = fp_format("port=%d", server->beside.port);
    const char *const argv[] = {program, "-D", server->data_dir,       "-c", cluster, "-c",
                                port,    "-c", listen_setting(server), NULL};
    enum err err =
        server->box != NULL ? start_boxed(server, argv, why) : start_here(server, argv, why);
    free(program);
    free(cluster);
    free(port);
    return err;
}

/* Waits a moment. What ends in a container is nobody's child here. */
static bool has_ended(const struct local_server *server, int *status)
{
    if (server->box == NULL)
        return spawn_wait(server->pid, START_PAUSE_MS, status);
    spawn_pause_ms(START_PAUSE_MS);
    return kill(server->pid, 0) != 0 && errno == ESRCH;
}

enum err local_wait(struct local_server *server, struct strbuf *why)
{
    pid_t pid = server->box != NULL ? BOX_POSTMASTER_PID : server->pid;
    int status = -1;

    for (int waited_ms = 0; waited_ms < START_TIMEOUT_MS; waited_ms += START_PAUSE_MS) {
        if (postmaster_is_ready(server->data_dir, pid))
            return ERR_OK;
        if (!has_ended(server, &status))
            continue;
        server->pid = 0;
        strbuf_puts(why, "the server ended while it started, with ");
        spawn_status_text(status, why);
        strbuf_puts(why, ":\n");
        local_log_tail(&server->base, why);
        return ERR_INFRASTRUCTURE;
    }
    strbuf_printf(why, "the server was not ready within %d s:\n", START_TIMEOUT_MS / 1000);
    local_log_tail(&server->base, why);
    return ERR_INFRASTRUCTURE;
}

/* It is in the name of the socket too. */
static void choose_port(struct local_server *server)
{
    server->beside.port = loopback_free_port(LOOPBACK);
    make_conninfos(server);
}

void local_set_password(struct local_server *server, const char *password)
{
    free(server->password);
    server->password = password != NULL ? fp_strdup(password) : NULL;
    server->beside.password = server->password;
    if (password != NULL)
        choose_port(server);
}

/* The postmaster waits for its children, and a stopped one does not answer it: kill those, and it
 * ends at once and in order. */
static void stop_postmaster(struct local_server *server)
{
    const struct process_place place = {.dir = server->dir, .cluster_name = server->cluster_name};
    int status;

    FP_ASSERT(server->pid > 0);
    if (server->box != NULL) {
        box_remove(server->box);
        return;
    }
    (void)kill(server->pid, SIGQUIT);
    (void)process_kill_once(&place, server->pid);
    if (spawn_wait(server->pid, STOP_TIMEOUT_MS, &status))
        return;
    (void)kill(server->pid, SIGKILL);
    (void)spawn_wait(server->pid, COLLECT_TIMEOUT_MS, &status);
}

static enum err run_once(struct local_server *server, struct strbuf *why)
{
    FP_ASSERT(server->pid == 0);
    enum err err = start_postmaster(server, why);
    return err == ERR_OK ? local_wait(server, why) : err;
}

/* Somebody else may have taken the port while the server was away: then with another one. */
enum err local_run(struct local_server *server, struct strbuf *why)
{
    enum err err = run_once(server, why);
    for (int attempt = 1; server->password && attempt < LISTEN_ATTEMPT_COUNT && err != ERR_OK;
         attempt++) {
        strbuf_clear(why);
        if (server->pid > 0)
            stop_postmaster(server);
        server->pid = 0;
        choose_port(server);
        err = run_once(server, why);
    }
    return err;
}

void local_set_dir(struct local_server *server, char *dir)
{
    server->dir = dir;
    server->data_dir = fp_format("%s/data", dir);
    server->log_path = fp_format("%s/log", dir);
    server->beside.dir = server->dir;
    server->beside.log_path = server->log_path;
    make_conninfos(server);
}

struct local_server *local_new(int lane, int cpu)
{
    struct local_server *server = fp_alloc(sizeof(*server));

    server->base.kind = pg_template_get()->boxed ? &pg_server_kind_box : &pg_server_kind_local;
    server->base.lane = lane;
    server->base.version = fp_strdup(pg_template_get()->version);
    server->base.role = fp_strdup("fencepost");
    server->base.database = fp_strdup("fencepost");
    server->cpu = cpu;
    server->beside.cpu = cpu;
    server->beside.port = PORT_DEFAULT;
    return server;
}

void local_set_name(struct local_server *server, char *cluster_name)
{
    server->cluster_name = cluster_name;
    if (pg_template_get()->boxed)
        server->box = box_name(cluster_name);
}

void local_forget_postmaster(const struct local_server *server)
{
    static const char *const names[] = {"postmaster.pid", "postmaster.opts"};
    for (size_t i = 0; i < FP_COUNT(names); i++) {
        char *path = fp_format("%s/%s", server->data_dir, names[i]);
        (void)unlink(path);
        free(path);
    }
}

/* The directory with a copy of the template in it. */
static enum err prepare_dir(struct local_server *server, struct strbuf *why)
{
    const struct pg_template *template = pg_template_get();

    if (server->box != NULL)
        box_remove_cluster(server->cluster_name);
    if (!rundir_destroy_lane(template->rundir.path, server->base.lane)) {
        strbuf_printf(why, "cannot remove what is left in lane %d of %s", server->base.lane,
                      template->rundir.path);
        return ERR_INFRASTRUCTURE;
    }
    enum err err = rundir_check_room(template->rundir.path, why);
    if (err != ERR_OK)
        return err;
    char *name = fp_format("lane-%d", server->base.lane);
    char *dir = rundir_make_inside(&template->rundir, name, &template->user, why);
    free(name);
    if (dir == NULL)
        return ERR_INFRASTRUCTURE;
    local_set_dir(server, dir);
    return local_copy(server, template->data_dir, why);
}

static void note_beside(struct local_server *server, const struct pg_server_options *options)
{
    server->toxiproxy = options->toxiproxy ? fp_strdup(options->toxiproxy) : NULL;
    server->pgbouncer = options->pgbouncer ? fp_strdup(options->pgbouncer) : NULL;
    server->beside.toxiproxy = server->toxiproxy;
    server->beside.pgbouncer = server->pgbouncer;
}

enum err local_start(const struct pg_server_options *options, int lane,
                     struct pg_server **server_out, struct strbuf *why)
{
    FP_ASSERT(lane >= 0 && lane < RUNDIR_LANE_COUNT_MAX);
    struct local_server *server = local_new(lane, options->cpu);
    local_set_name(server, rundir_cluster_name(pg_template_get()->rundir.path, lane));
    note_beside(server, options);
    enum err err = prepare_dir(server, why);
    if (err == ERR_OK)
        err = local_run(server, why);
    if (err != ERR_OK) {
        local_stop(&server->base);
        return err;
    }
    *server_out = &server->base;
    return ERR_OK;
}

void local_stop(struct pg_server *base)
{
    struct local_server *server = (struct local_server *)base;

    if (server->pid > 0)
        stop_postmaster(server);
    if (server->box != NULL)
        box_remove_cluster(server->cluster_name);
    (void)rundir_destroy_lane(pg_template_get()->rundir.path, server->base.lane);
    local_free(server);
}

/* ---- over TCP ---- */

/* Whoever comes over TCP needs the password. */
static bool write_hba(const struct local_server *server)
{
    static const char here[] = "local all all trust\n"
                               "local replication all trust\n"
                               "host fencepost fencepost " LOOPBACK "/32 scram-sha-256\n";
    /* From its loopback interface ours looks like another machine. */
    static const char boxed[] = "local all all trust\n"
                                "local replication all trust\n"
                                "host fencepost fencepost all scram-sha-256\n";
    const char *rules = server->box != NULL ? boxed : here;
    size_t size = strlen(rules);
    char *path = fp_format("%s/pg_hba.conf", server->data_dir);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
    free(path);
    if (fd < 0)
        return false;
    bool written = write(fd, rules, size) == (ssize_t)size;
    return close(fd) == 0 && written;
}

enum err local_listen(struct pg_server *base, struct strbuf *why)
{
    struct local_server *server = (struct local_server *)base;
    if (server->password)
        return ERR_OK;
    stop_postmaster(server);
    server->pid = 0;
    if (!write_hba(server)) {
        strbuf_printf(why, "cannot write who may connect to %s: %s", server->data_dir,
                      strerror(errno));
        return ERR_INFRASTRUCTURE;
    }
    char *password = loopback_secret();
    local_set_password(server, password);
    free(password);
    return local_run(server, why);
}

const struct pg_beside *local_beside(const struct pg_server *base)
{
    const struct local_server *server = (const struct local_server *)base;
    return &server->beside;
}

bool local_can_signal(const struct pg_server *base)
{
    const struct local_server *server = (const struct local_server *)base;
    return server->pid > 0 && kill(server->pid, 0) == 0;
}

static int local_remove_leftovers(const struct pg_server_options *options)
{
    return rundir_destroy_leftovers(options->work_dir);
}

static bool is_local(const char *where)
{
    return strcmp(where, "local") == 0;
}

const struct pg_server_kind pg_server_kind_local = {
    .name = "local",
    .is_meant = is_local,
    .prepare = template_make,
    .release = template_remove,
    .start = local_start,
    .stop = local_stop,
    .can_signal = local_can_signal,
    .beside = local_beside,
    .listen = local_listen,
    .log_tail = local_log_tail,
    .remove_leftovers = local_remove_leftovers,
};
