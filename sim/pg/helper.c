#include "sim/pg/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/box.h"
#include "sim/pg/rundir.h"
#include "sim/pg/spawn.h"
#include "sim/pg/template.h"

#define STOP_TIMEOUT_MS 10000
#define ARGUMENT_COUNT_MAX 16
#define PATH_PART_COUNT_MAX 256

/* As a real path: it is started in another directory than ours. */
static char *real_program(const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real) || access(real, X_OK) != 0)
        return NULL;
    return fp_strdup(real);
}

static char *find_in_path(const char *path, const char *name)
{
    for (int i = 0; path && i < PATH_PART_COUNT_MAX; i++) {
        size_t size = strcspn(path, ":");
        char *candidate = fp_format("%.*s/%s", (int)size, path, name);
        char *found = path[0] == '/' ? real_program(candidate) : NULL;
        free(candidate);
        if (found)
            return found;
        path = path[size] ? path + size + 1 : NULL;
    }
    return NULL;
}

char *helper_find(const char *wanted, const char *const *names)
{
    if (wanted)
        return real_program(wanted);
    for (const char *const *name = names; *name; name++) {
        char *found = find_in_path(rundir_environment("PATH"), *name);
        if (!found)
            found = find_in_path("/usr/sbin", *name);
        if (found)
            return found;
    }
    return NULL;
}

enum err helper_start(struct helper *helper, const struct pg_beside *server, const char *name,
                      const char *program, const char *const *arguments, struct strbuf *why)
{
    const char *argv[ARGUMENT_COUNT_MAX + 2];
    size_t count = 1;
    FP_ASSERT(helper->pid == 0);
    char *link = fp_format("%s/%s", server->dir, name);
    argv[0] = link;
    for (; arguments[count - 1]; count++) {
        FP_ASSERT(count <= ARGUMENT_COUNT_MAX);
        argv[count] = arguments[count - 1];
    }
    argv[count] = NULL;
    int log_fd = open(server->log_path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    struct spawn spawn = {
        .argv = argv,
        .user = &pg_template_get()->user,
        .cwd = server->dir,
        .stdin_fd = -1,
        .stdout_fd = -1,
        .stderr_fd = log_fd,
        .cpu = server->cpu,
        .death_signal = SIGKILL,
    };
    enum err err = ERR_INFRASTRUCTURE;
    (void)unlink(link);
    if (symlink(program, link) != 0)
        strbuf_printf(why, "cannot make %s: %s", link, strerror(errno));
    else
        err = spawn_start(&spawn, &helper->pid, why);
    if (err != ERR_OK)
        helper->pid = 0;
    if (log_fd >= 0)
        close(log_fd);
    free(link);
    return err;
}

/* "fencepost-0-123-89abcdef-lane-0.toxiproxy": whose it is, and free when that
 * one is dead. */
static char *container_name(const struct pg_beside *server, const char *name)
{
    const char *lane = strrchr(server->dir, '/');
    FP_ASSERT(lane != NULL && lane > server->dir);
    const char *run = lane - 1;
    while (run > server->dir && run[-1] != '/')
        run--;
    return fp_format("%.*s-%s.%s", (int)(lane - run), run, lane + 1, name);
}

enum err helper_start_image(struct helper *helper, const struct pg_beside *server, const char *name,
                            const char *image, const char *const *arguments, const char *word,
                            struct strbuf *why)
{
    FP_ASSERT(helper->pid == 0 && helper->container == NULL);
    char *container = container_name(server, name);
    enum err err = box_start_beside(container, image, arguments, word, &helper->pid, why);
    if (err == ERR_OK)
        helper->container = container;
    else
        free(container);
    return err;
}

bool helper_lives(struct helper *helper)
{
    int status;
    if (helper->container != NULL)
        return kill(helper->pid, 0) == 0;
    if (helper->pid > 0 && spawn_wait(helper->pid, 0, &status))
        helper->pid = 0;
    return helper->pid > 0;
}

void helper_stop(struct helper *helper)
{
    int status;
    if (helper->container != NULL) {
        box_remove(helper->container);
        free(helper->container);
        *helper = (struct helper){0};
    }
    if (helper->pid == 0)
        return;
    (void)kill(helper->pid, SIGKILL);
    (void)spawn_wait(helper->pid, STOP_TIMEOUT_MS, &status);
    helper->pid = 0;
}
