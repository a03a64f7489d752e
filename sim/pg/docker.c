#include "sim/pg/docker.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/pg/owner.h"
#include "sim/pg/spawn.h"

#define TIMEOUT_MS_DEFAULT 60000
#define WAIT_SLICE_MS 100
#define KILL_TIMEOUT_MS 5000
#define OUTPUT_SIZE_MAX 65536

/* ---- arguments ---- */

void docker_args_init(struct docker_args *args)
{
    memset(args, 0, sizeof *args);
    args->count = 1; /* the program, found when it is run */
}

static void add_copy(struct docker_args *args, char *text)
{
    FP_ASSERT(args->count < DOCKER_ARG_COUNT_MAX);
    args->list[args->count++] = text;
}

void docker_arg(struct docker_args *args, const char *format, ...)
{
    char text[1024];
    va_list values;
    va_start(values, format);
    int size = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    FP_ASSERT(size >= 0 && (size_t)size < sizeof text);
    add_copy(args, fp_strdup(text));
}

void docker_args_release(struct docker_args *args)
{
    for (size_t i = 0; i < args->count; i++)
        free(args->list[i]);
    docker_args_init(args);
}

void docker_call_init(struct docker_call *call, const char *first, ...)
{
    memset(call, 0, sizeof *call);
    docker_args_init(&call->args);
    call->timeout_ms = TIMEOUT_MS_DEFAULT;
    va_list words;
    va_start(words, first);
    for (const char *word = first; word != NULL; word = va_arg(words, const char *))
        add_copy(&call->args, fp_strdup(word));
    va_end(words);
}

/* ---- one call ---- */

/* A file in memory: no pipe that fills up while nobody reads. */
static int memory_file(const char *text)
{
    int fd = memfd_create("docker", MFD_CLOEXEC);
    if (fd < 0 || text == NULL)
        return fd;
    size_t size = strlen(text);
    bool written = write(fd, text, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0;
    FP_ASSERT(written);
    return fd;
}

static void read_back(int fd, struct strbuf *out)
{
    static char text[OUTPUT_SIZE_MAX];
    ssize_t size = pread(fd, text, sizeof text, 0);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    if (size > 0)
        strbuf_add(out, text, (size_t)size);
}

static bool wait_for(const struct docker_call *call, pid_t pid, int *status, struct strbuf *why)
{
    for (int waited_ms = 0; waited_ms < call->timeout_ms; waited_ms += WAIT_SLICE_MS) {
        if (spawn_wait(pid, WAIT_SLICE_MS, status))
            return true;
        if (call->interrupted != NULL && *call->interrupted)
            break;
    }
    bool interrupted = call->interrupted != NULL && *call->interrupted;
    (void)kill(pid, SIGKILL);
    (void)spawn_wait(pid, KILL_TIMEOUT_MS, status);
    if (interrupted)
        strbuf_printf(why, "docker %s was interrupted", call->args.list[1]);
    else
        strbuf_printf(why, "docker %s has not ended within %d s", call->args.list[1],
                      call->timeout_ms / 1000);
    return false;
}

static enum err run_program(const struct docker_call *call, int output_fd, int error_fd,
                            struct strbuf *why)
{
    int input_fd = call->input != NULL ? memory_file(call->input) : -1;
    struct spawn spawn = {
        .argv = (const char *const *)call->args.list,
        .stdin_fd = input_fd,
        .stdout_fd = call->shows ? STDERR_FILENO : output_fd,
        .stderr_fd = call->shows   ? STDERR_FILENO
                     : call->joins ? output_fd
                                   : error_fd,
        .cpu = -1,
        .death_signal = SIGKILL,
        .keeps_environment = true,
    };
    pid_t pid;
    int status = -1;

    enum err err = spawn_start(&spawn, &pid, why);
    if (input_fd >= 0)
        close(input_fd);
    if (err != ERR_OK)
        return err;
    if (!wait_for(call, pid, &status, why))
        return ERR_INFRASTRUCTURE;
    if (status == 0)
        return ERR_OK;
    strbuf_printf(why, "docker %s failed with ", call->args.list[1]);
    spawn_status_text(status, why);
    if (!call->shows)
        strbuf_puts(why, ": ");
    return ERR_INFRASTRUCTURE;
}

enum err docker_run(struct docker_call *call, struct strbuf *out, struct strbuf *why)
{
    enum err err = ERR_INFRASTRUCTURE;
    call->args.list[0] = pg_find_program("docker");
    int output_fd = memory_file(NULL), error_fd = memory_file(NULL);
    if (call->args.list[0] == NULL) {
        strbuf_puts(why, "there is no program docker on PATH: install Docker (apt-get install "
                         "docker.io), or use --pg local");
    } else if (output_fd < 0 || error_fd < 0) {
        strbuf_printf(why, "no memory for the output of docker: %s", strerror(errno));
    } else {
        err = run_program(call, output_fd, error_fd, why);
        if (err != ERR_OK)
            read_back(error_fd, why);
        else if (out != NULL)
            read_back(output_fd, out);
    }
    if (output_fd >= 0)
        close(output_fd);
    if (error_fd >= 0)
        close(error_fd);
    docker_args_release(&call->args);
    return err;
}

/* ---- removing ---- */

bool docker_remove(const char *container)
{
    struct strbuf why = STRBUF_INIT;
    struct docker_call call;
    docker_call_init(&call, "rm", "--force", "--volumes", container, NULL);
    bool removed = docker_run(&call, NULL, &why) == ERR_OK;
    /* Somebody else, a reaper say, may have been quicker. */
    removed = removed || strstr(strbuf_str(&why), "No such container") != NULL ||
              strstr(strbuf_str(&why), "already in progress") != NULL;
    strbuf_release(&why);
    return removed;
}

/* Lines of a container's number, a space and the value of its owner's label. */
static bool list_containers(const char *filter, struct strbuf *lines)
{
    struct strbuf why = STRBUF_INIT;
    struct docker_call call;
    docker_call_init(&call, "ps", "--all", "--no-trunc", "--filter", filter, "--format",
                     "{{.ID}} {{.Label \"" DOCKER_LABEL_OWNER "\"}}", NULL);
    bool listed = docker_run(&call, lines, &why) == ERR_OK;
    strbuf_release(&why);
    return listed;
}

/* Removes those that `only_dead` leaves; gives how many were, and how many should have been. */
static int remove_listed(char *lines, bool only_dead, int *wanted_count)
{
    int removed_count = 0;
    char *rest = lines;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        char *owner = strchr(line, ' ');
        if (owner == NULL)
            continue;
        *owner++ = '\0';
        if (only_dead && owner_judge(owner) != OWNER_DEAD)
            continue;
        (*wanted_count)++;
        removed_count += docker_remove(line);
    }
    return removed_count;
}

static bool remove_filtered(const char *filter, bool only_dead, int *removed_count)
{
    struct strbuf lines = STRBUF_INIT;
    int wanted_count = 0;
    *removed_count = 0;
    bool listed = list_containers(filter, &lines);
    if (listed && lines.size > 0)
        *removed_count = remove_listed(lines.text, only_dead, &wanted_count);
    strbuf_release(&lines);
    return listed && *removed_count == wanted_count;
}

bool docker_remove_session(const char *session)
{
    int removed_count;
    char *filter = fp_format("label=" DOCKER_LABEL_SESSION "=%s", session);
    bool all = remove_filtered(filter, false, &removed_count);
    free(filter);
    return all;
}

void docker_remove_named(const char *name)
{
    int removed_count;
    char *filter = fp_format("name=^/%s[.]", name);
    (void)remove_filtered(filter, false, &removed_count);
    free(filter);
}

int docker_remove_dead(void)
{
    int removed_count;
    (void)remove_filtered("label=" DOCKER_LABEL_OWNER, true, &removed_count);
    return removed_count;
}

void docker_log_tail(const char *container, struct strbuf *out)
{
    struct strbuf ignored = STRBUF_INIT;
    struct docker_call call;
    docker_call_init(&call, "logs", "--tail=20", container, NULL);
    call.joins = true;
    (void)docker_run(&call, out, &ignored);
    strbuf_release(&ignored);
}

/* ---- names ---- */

/* The part before the first slash is a registry when it looks like a host. */
static bool names_registry(const char *image)
{
    size_t size = strcspn(image, "/");
    if (image[size] == '\0')
        return false;
    return memchr(image, '.', size) != NULL || memchr(image, ':', size) != NULL ||
           strncmp(image, "localhost/", strlen("localhost/")) == 0;
}

char *docker_image_name(const char *image, const char *prefix)
{
    if (prefix == NULL || names_registry(image))
        return fp_strdup(image);
    bool ends_in_slash = prefix[strlen(prefix) - 1] == '/';
    return fp_format("%s%s%s", prefix, ends_in_slash ? "" : "/", image);
}
