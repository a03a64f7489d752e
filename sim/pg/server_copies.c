/* The death of a server of our own, and copies of it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/process.h"
#include "sim/pg/rundir.h"
#include "sim/pg/server_local.h"
#include "sim/pg/spawn.h"
#include "sim/pg/template.h"
#include "sim/pg/tree.h"

#define KILL_TIMEOUT_MS 10000 /* an immediate stop, on a machine that is busy */

bool pg_server_is_ours(const struct pg_server *server)
{
    return server->kind == &pg_server_kind_local || server->kind == &pg_server_kind_box;
}

static struct local_server *local(struct pg_server *server)
{
    FP_ASSERT(pg_server_is_ours(server));
    return (struct local_server *)server;
}

static const struct local_server *local_const(const struct pg_server *server)
{
    FP_ASSERT(pg_server_is_ours(server));
    return (const struct local_server *)server;
}

enum err pg_server_start_again(struct pg_server *server, struct strbuf *why)
{
    return local_run(local(server), why);
}

void pg_server_kill(struct pg_server *base)
{
    struct local_server *server = local(base);
    const struct process_place place = {.dir = server->data_dir};
    int status;

    if (server->pid == 0)
        return;
    if (server->box != NULL) {
        box_remove(server->box);
        server->pid = 0;
        return;
    }
    (void)kill(server->pid, SIGQUIT);
    if (!spawn_wait(server->pid, KILL_TIMEOUT_MS, &status)) {
        (void)process_kill_once(&place, server->pid);
        (void)kill(server->pid, SIGKILL);
        (void)spawn_wait(server->pid, COLLECT_TIMEOUT_MS, &status);
        (void)process_kill_all(&place);
    }
    server->pid = 0;
}

static enum err remove_data(const struct local_server *server, struct strbuf *why)
{
    FP_ASSERT(server->pid == 0);
    if (tree_remove(server->data_dir, NULL))
        return ERR_OK;
    strbuf_printf(why, "cannot remove %s", server->data_dir);
    return ERR_INFRASTRUCTURE;
}

enum err pg_server_copy(struct pg_server *base, const struct pg_server *from, struct strbuf *why)
{
    struct local_server *server = local(base);
    const char *data_dir = from ? local_const(from)->data_dir : pg_template_get()->data_dir;
    enum err err = remove_data(server, why);
    if (err == ERR_OK)
        err = rundir_check_room(server->dir, why);
    if (err == ERR_OK)
        err = local_copy(server, data_dir, why);
    /* The template knows no password, and trusts whoever comes. */
    if (from == NULL)
        local_set_password(server, NULL);
    /* It belongs to the one that was copied. */
    local_forget_postmaster(server);
    return err;
}

enum err pg_server_make_another(const struct pg_server *home, const char *name,
                                struct pg_server **out, struct strbuf *why)
{
    const struct pg_template *template = pg_template_get();
    char *inside = fp_format("lane-%d/%s", home->lane, name);
    char *dir = rundir_make_inside(&template->rundir, inside, &template->user, why);

    free(inside);
    if (dir == NULL)
        return ERR_INFRASTRUCTURE;
    struct local_server *server = local_new(home->lane, local_const(home)->cpu);
    local_set_dir(server, dir);
    char *lane_name = rundir_cluster_name(template->rundir.path, home->lane);
    local_set_name(server, fp_format("%s%s:", lane_name, name));
    free(lane_name);
    if (local_const(home)->password != NULL)
        local_set_password(server, local_const(home)->password);
    *out = &server->base;
    return ERR_OK;
}

void pg_server_discard(struct pg_server *server)
{
    if (server == NULL)
        return;
    pg_server_kill(server);
    (void)tree_remove(local(server)->dir, NULL);
    local_free(local(server));
}

void pg_server_swap(struct pg_server *a, struct pg_server *b)
{
    struct local_server other = *local(a);
    *local(a) = *local(b);
    *local(b) = other;
}

enum err pg_server_write(const struct pg_server *server, const char *name, const char *text,
                         struct strbuf *why)
{
    const struct server_user *user = &pg_template_get()->user;
    char *path = fp_format("%s/%s", pg_server_data_dir(server), name);
    size_t size = strlen(text);

    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && write(fd, text, size) == (ssize_t)size;
    if (written && user->is_other)
        written = fchown(fd, user->uid, user->gid) == 0;
    if (!written)
        strbuf_printf(why, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    return written ? ERR_OK : ERR_INFRASTRUCTURE;
}

enum err pg_server_promote(struct pg_server *server, struct strbuf *why)
{
    FP_ASSERT(local(server)->pid > 0);
    enum err err = pg_server_write(server, "promote", "", why);
    if (err == ERR_OK)
        (void)kill(local(server)->pid, SIGUSR1);
    return err;
}

const char *pg_server_data_dir(const struct pg_server *server)
{
    return local_const(server)->data_dir;
}
