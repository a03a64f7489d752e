#include "sim/pg/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/pg/spawn.h"

#define PROC_PATH_SIZE_MAX 64
#define PROC_NAME_SIZE_MAX 40
#define PROC_TEXT_SIZE_MAX 4096
#define KILL_ROUND_COUNT_MAX 2000
#define KILL_PAUSE_MS 2

/* Fields of /proc/<pid>/stat, counted from the one after the program's name. */
#define STAT_FIELD_START_TICKS 19

/* Lines of postmaster.pid, from 0. */
enum { PID_FILE_LINE_PID = 0, PID_FILE_LINE_STATUS = 7 };

int process_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

ssize_t process_read_file(const char *path, char *text, size_t text_size)
{
    FP_ASSERT(text_size > 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    ssize_t size;
    do {
        size = read(fd, text, text_size - 1);
    } while (size < 0 && errno == EINTR);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size;
}

static ssize_t read_proc(pid_t pid, const char *name, char *text, size_t text_size)
{
    char path[PROC_PATH_SIZE_MAX];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return process_read_file(path, text, text_size);
}

uint64_t process_start_ticks(pid_t pid)
{
    char text[PROC_TEXT_SIZE_MAX];
    if (read_proc(pid, "stat", text, sizeof(text)) <= 0)
        return PROCESS_START_TICKS_UNKNOWN;
    /* The program's name is in brackets and may hold anything: start behind the last one. */
    const char *field = strrchr(text, ')');
    if (field == NULL)
        return PROCESS_START_TICKS_UNKNOWN;
    for (int i = 0; i <= STAT_FIELD_START_TICKS; i++) {
        field = strchr(field + 1, ' ');
        if (field == NULL)
            return PROCESS_START_TICKS_UNKNOWN;
    }
    return strtoull(field + 1, NULL, 10);
}

void process_boot_id(char boot_id[static BOOT_ID_SIZE_MAX])
{
    if (process_read_file("/proc/sys/kernel/random/boot_id", boot_id, BOOT_ID_SIZE_MAX) < 0)
        boot_id[0] = '\0';
    boot_id[strcspn(boot_id, "\n")] = '\0';
}

static bool is_server_program(pid_t pid)
{
    static const char *const ours[] = {"postgres", "initdb", "toxiproxy", "pgbouncer"};
    char name[PROC_PATH_SIZE_MAX];
    if (read_proc(pid, "comm", name, sizeof(name)) <= 0)
        return false;
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < FP_COUNT(ours); i++)
        if (strcmp(name, ours[i]) == 0)
            return true;
    return false;
}

static bool is_below(const char *path, const char *dir)
{
    size_t size = strlen(dir);
    if (strncmp(path, dir, size) != 0)
        return false;
    return path[size] == '\0' || path[size] == '/' || path[size] == ' '; /* "... (deleted)" */
}

/* "postgres: NAME...", as the server's processes call themselves. */
static bool has_cluster_title(const char *command, const char *cluster_name)
{
    static const char prefix[] = "postgres: ";
    if (cluster_name == NULL || strncmp(command, prefix, strlen(prefix)) != 0)
        return false;
    return strncmp(command + strlen(prefix), cluster_name, strlen(cluster_name)) == 0;
}

bool process_title_holds(pid_t pid, const char *text)
{
    static const char prefix[] = "postgres: ";
    char command[PROC_TEXT_SIZE_MAX];
    if (read_proc(pid, "cmdline", command, sizeof(command)) <= 0)
        return false;
    return strncmp(command, prefix, strlen(prefix)) == 0 && strstr(command, text) != NULL;
}

pid_t process_inner_pid(pid_t pid)
{
    static const char key[] = "\nNSpid:";
    char text[PROC_TEXT_SIZE_MAX];
    if (read_proc(pid, "status", text, sizeof(text)) <= 0)
        return 0;
    char *line = strstr(text, key);
    if (line == NULL)
        return 0;
    line += strlen(key);
    line[strcspn(line, "\n")] = '\0';
    const char *last = strrchr(line, '\t');
    return last != NULL ? (pid_t)strtol(last, NULL, 10) : 0;
}

pid_t process_child_by_inner_pid(pid_t parent, pid_t inner_pid)
{
    char name[PROC_NAME_SIZE_MAX];
    char children[PROC_TEXT_SIZE_MAX];

    snprintf(name, sizeof(name), "task/%d/children", (int)parent);
    if (read_proc(parent, name, children, sizeof(children)) <= 0)
        return 0;
    char *at = children;
    for (long child = strtol(at, &at, 10); child > 0; child = strtol(at, &at, 10))
        if (process_inner_pid((pid_t)child) == inner_pid)
            return (pid_t)child;
    return 0;
}

static bool command_is_in(pid_t pid, const struct process_place *place)
{
    char command[PROC_TEXT_SIZE_MAX];
    ssize_t size = read_proc(pid, "cmdline", command, sizeof(command));
    if (size <= 0)
        return false;
    if (has_cluster_title(command, place->cluster_name))
        return true;
    for (const char *word = command; word < command + size; word += strlen(word) + 1)
        if (is_below(word, place->dir))
            return true;
    return false;
}

bool process_command_names(pid_t pid, const char *dir)
{
    const struct process_place place = {.dir = dir};
    return command_is_in(pid, &place);
}

static bool process_is_in(pid_t pid, const struct process_place *place)
{
    char link[PROC_PATH_SIZE_MAX];
    char cwd[PATH_MAX];

    if (!is_server_program(pid))
        return false;
    snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
    ssize_t size = readlink(link, cwd, sizeof(cwd) - 1);
    if (size >= 0) {
        cwd[size] = '\0';
        return is_below(cwd, place->dir);
    }
    if (errno != EACCES && errno != EPERM)
        return false; /* it has ended */
    return command_is_in(pid, place);
}

/* Looks again after the process is pinned by a descriptor, so that no reused number is hit. */
static void kill_if_in(pid_t pid, const struct process_place *place)
{
    int pidfd = process_open(pid);
    if (pidfd < 0) {
        if (errno == ENOSYS)
            (void)kill(pid, SIGKILL);
        return;
    }
    if (process_is_in(pid, place))
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    close(pidfd);
}

typedef void process_action(pid_t pid, const struct process_place *place);

static int each_process_in(const struct process_place *place, pid_t spare, process_action *action)
{
    FP_ASSERT(place->dir[0] == '/' && place->dir[1] != '\0');
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return 0;
    int count = 0;
    const struct dirent *entry;
    while ((entry = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid == spare || !process_is_in(pid, place))
            continue;
        count++;
        if (action != NULL)
            action(pid, place);
    }
    closedir(proc);
    return count;
}

int process_kill_once(const struct process_place *place, pid_t spare)
{
    return each_process_in(place, spare, kill_if_in);
}

bool process_kill_all(const struct process_place *place)
{
    for (int round = 0; round < KILL_ROUND_COUNT_MAX; round++) {
        if (process_kill_once(place, 0) == 0)
            return true;
        spawn_pause_ms(KILL_PAUSE_MS);
    }
    return false;
}

int process_count(const struct process_place *place)
{
    return each_process_in(place, 0, NULL);
}

static ssize_t read_pid_file(const char *data_dir, char *text, size_t text_size)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s/postmaster.pid", data_dir);
    if (size < 0 || (size_t)size >= sizeof(path))
        return -1;
    return process_read_file(path, text, text_size);
}

pid_t postmaster_pid(const char *data_dir, uid_t *uid)
{
    char text[PROC_TEXT_SIZE_MAX];
    struct stat dir;

    if (read_pid_file(data_dir, text, sizeof(text)) <= 0 || stat(data_dir, &dir) != 0)
        return 0;
    *uid = dir.st_uid;
    /* A stand-alone backend writes its number with a minus. */
    long pid = labs(strtol(text, NULL, 10));
    return pid > INT_MAX ? 0 : (pid_t)pid;
}

bool postmaster_is_ready(const char *data_dir, pid_t pid)
{
    static const char ready[] = "ready";
    char text[PROC_TEXT_SIZE_MAX];

    if (read_pid_file(data_dir, text, sizeof(text)) <= 0 || strtol(text, NULL, 10) != pid)
        return false;
    const char *line = text;
    for (int i = PID_FILE_LINE_PID; i < PID_FILE_LINE_STATUS; i++) {
        line = strchr(line, '\n');
        if (line == NULL)
            return false;
        line++;
    }
    return strncmp(line, ready, strlen(ready)) == 0;
}
