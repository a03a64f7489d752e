#include "sim/pg/box.h"

#include <stdlib.h>
#include <string.h>

#include "sim/pg/docker_session.h"
#include "sim/pg/process.h"
#include "sim/pg/template.h"

/* A user whom the image does not know has no name there, and initdb wants one. */
static void add_surroundings(struct docker_args *args, const char *dir)
{
    const struct server_user *user = &pg_template_get()->user;
    docker_arg(args, "--pull=never");
    docker_session_label(args);
    docker_arg(args, "--user=%u:%u", (unsigned)user->uid, (unsigned)user->gid);
    docker_arg(args, "--mount=type=bind,source=/etc/passwd,target=/etc/passwd,readonly");
    docker_arg(args, "--mount=type=bind,source=%s,target=%s", dir, dir);
}

static void add_program(struct docker_args *args, const char *const *argv)
{
    docker_arg(args, "--entrypoint=%s", argv[0]);
    docker_arg(args, "%s", docker_session_get()->image);
    for (const char *const *word = argv + 1; *word; word++)
        docker_arg(args, "%s", *word);
}

enum err box_run(const char *dir, const char *const *argv, const char *input, int timeout_ms,
                 struct strbuf *why)
{
    struct docker_call call;
    docker_call_init(&call, "run", "--rm", "--network=none", NULL);
    call.timeout_ms = timeout_ms;
    call.input = input;
    if (input != NULL)
        docker_arg(&call.args, "--interactive");
    add_surroundings(&call.args, dir);
    add_program(&call.args, argv);
    return docker_run(&call, NULL, why);
}

static enum err run_detached(const struct box *box, const char *const *argv, struct strbuf *why)
{
    struct docker_call call;
    docker_call_init(&call, "run", "--detach", NULL);
    docker_arg(&call.args, "--name=%s", box->name);
    if (box->port > 0)
        docker_arg(&call.args, "--publish=127.0.0.1:%d:%d", box->port, box->port);
    else
        docker_arg(&call.args, "--network=none");
    if (box->cpu >= 0)
        docker_arg(&call.args, "--cpuset-cpus=%d", box->cpu);
    add_surroundings(&call.args, box->dir);
    add_program(&call.args, argv);
    return docker_run(&call, NULL, why);
}

enum err box_find(const char *name, const char *word, pid_t *pid, struct strbuf *why)
{
    struct strbuf output = STRBUF_INIT;
    struct docker_call call;
    docker_call_init(&call, "inspect", "--format", "{{.State.Pid}}", name, NULL);
    enum err err = docker_run(&call, &output, why);
    *pid = err == ERR_OK ? atoi(strbuf_str(&output)) : 0;
    strbuf_release(&output);
    if (err == ERR_OK && *pid == 0) {
        strbuf_puts(why, "what is in the container ended while it started:\n");
        box_log_tail(name, why);
        err = ERR_INFRASTRUCTURE;
    } else if (err == ERR_OK && !process_command_names(*pid, word)) {
        /* The number is of another process namespace than ours. */
        strbuf_printf(why, "the processes of the container %s cannot be seen from here", name);
        err = ERR_INFRASTRUCTURE;
    }
    return err;
}

enum err box_start(const struct box *box, const char *const *argv, pid_t *pid, struct strbuf *why)
{
    enum err err = run_detached(box, argv, why);
    if (err == ERR_OK)
        err = box_find(box->name, box->dir, pid, why);
    if (err != ERR_OK) {
        *pid = 0;
        box_remove(box->name);
    }
    return err;
}

enum err box_start_beside(const char *name, const char *image, const char *const *arguments,
                          const char *word, pid_t *pid, struct strbuf *why)
{
    struct docker_call call;
    box_remove(name); /* of a lane that died */
    docker_call_init(&call, "run", "--detach", "--pull=never", "--network=host", NULL);
    docker_arg(&call.args, "--name=%s", name);
    docker_session_label(&call.args);
    docker_arg(&call.args, "%s", image);
    for (; *arguments; arguments++)
        docker_arg(&call.args, "%s", *arguments);
    enum err err = docker_run(&call, NULL, why);
    if (err == ERR_OK)
        err = box_find(name, word, pid, why);
    if (err != ERR_OK) {
        *pid = 0;
        box_remove(name);
    }
    return err;
}

enum err box_do(const char *name, const char *verb, const char *option, struct strbuf *why)
{
    struct docker_call call;
    docker_call_init(&call, verb, NULL);
    if (option != NULL)
        docker_arg(&call.args, "%s", option);
    docker_arg(&call.args, "%s", name);
    return docker_run(&call, NULL, why);
}

void box_remove(const char *name)
{
    (void)docker_remove(name);
}

void box_log_tail(const char *name, struct strbuf *out)
{
    docker_log_tail(name, out);
}

/* A colon may not be in a container's name. */
char *box_name(const char *cluster_name)
{
    char *name = fp_strdup(cluster_name);
    for (char *colon = strchr(name, ':'); colon != NULL; colon = strchr(colon, ':'))
        *colon = '.';
    return name;
}

void box_remove_cluster(const char *cluster_name)
{
    char *name = box_name(cluster_name);
    size_t size = strlen(name);
    FP_ASSERT(size > 0 && name[size - 1] == '.');
    name[size - 1] = '\0';
    docker_remove_named(name);
    free(name);
}
