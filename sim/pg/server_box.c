/* A server in a container, with its files in a folder of ours: a local one in all that is done to
 * it, but for who runs it. */
#include <stdio.h>
#include <string.h>

#include "sim/pg/docker_session.h"
#include "sim/pg/process.h"
#include "sim/pg/server_local.h"
#include "sim/pg/template.h"

/* It is chosen by an option, not by its name. */
static bool is_never_meant(const char *where)
{
    (void)where;
    return false;
}

static enum err box_prepare(const struct pg_server_options *options, struct strbuf *why)
{
    enum err err = docker_session_open(options, why);
    if (err != ERR_OK)
        return err;
    err = template_make(options, why);
    if (err != ERR_OK)
        docker_session_close();
    return err;
}

static void box_release(void)
{
    docker_session_close();
    template_remove();
}

/* A process is signalled only when its title says that it is of our cluster. */
static pid_t box_signal_pid(const struct pg_server *base, int backend_pid)
{
    const struct local_server *server = (const struct local_server *)base;
    if (server->pid <= 0)
        return 0;
    pid_t pid = process_child_by_inner_pid(server->pid, backend_pid);
    return pid > 0 && process_title_holds(pid, server->cluster_name) ? pid : 0;
}

static enum err start_again(struct local_server *server, struct strbuf *why)
{
    local_forget_postmaster(server);
    enum err err = box_do(server->box, "start", NULL, why);
    if (err == ERR_OK)
        err = box_find(server->box, server->dir, &server->pid, why);
    return err == ERR_OK ? local_wait(server, why) : err;
}

static enum err box_hit(struct pg_server *base, enum pg_hit hit, struct strbuf *why)
{
    struct local_server *server = (struct local_server *)base;
    if (hit == PG_HIT_PAUSE) {
        enum err err = box_do(server->box, "pause", NULL, why);
        return err == ERR_OK ? box_do(server->box, "unpause", NULL, why) : err;
    }
    bool is_kill = hit == PG_HIT_KILL;
    enum err err = box_do(server->box, is_kill ? "kill" : "stop", is_kill ? NULL : "--time=0", why);
    return err == ERR_OK ? start_again(server, why) : err;
}

static void box_describe(const struct pg_server *base, struct pg_environment *environment)
{
    (void)base;
    snprintf(environment->image, sizeof environment->image, "%s", docker_session_get()->image);
}

static int box_remove_leftovers(const struct pg_server_options *options)
{
    (void)options;
    return docker_remove_dead();
}

const struct pg_server_kind pg_server_kind_box = {
    .name = "docker",
    .is_meant = is_never_meant,
    .prepare = box_prepare,
    .release = box_release,
    .start = local_start,
    .stop = local_stop,
    .can_signal = local_can_signal,
    .signal_pid = box_signal_pid,
    .hit = box_hit,
    .beside = local_beside,
    .listen = local_listen,
    .log_tail = local_log_tail,
    .describe = box_describe,
    .remove_leftovers = box_remove_leftovers,
};
