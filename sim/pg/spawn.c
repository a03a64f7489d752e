#include "sim/pg/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/pg/process.h"
#include "sim/pg/rundir.h"

#define CAPTURE_SIZE_MAX 65536
#define CAPTURE_TIMEOUT_MS 10000
#define WAIT_PAUSE_MS 2
#define ENVIRONMENT_COUNT_MAX 8

/* Descriptors of the child while it prepares itself: its own three, then the one it reports on. */
enum { REPORT_FD = 3, FIRST_UNUSED_FD = 4, PARKING_FD_MIN = 16 };

enum spawn_stage {
    STAGE_DESCRIPTORS,
    STAGE_USER,
    STAGE_DIRECTORY,
    STAGE_EXECUTE,
};

struct spawn_failure {
    enum spawn_stage stage;
    int error;
};

static void user_fill(struct server_user *user, const struct passwd *entry, bool is_other)
{
    user->uid = entry->pw_uid;
    user->gid = entry->pw_gid;
    user->is_other = is_other;
    snprintf(user->name, sizeof(user->name), "%s", entry->pw_name);
}

static void user_fill_oneself(struct server_user *user)
{
    const struct passwd *entry = getpwuid(geteuid());
    if (entry != NULL) {
        user_fill(user, entry, false);
        return;
    }
    user->uid = geteuid();
    user->gid = getegid();
    user->is_other = false;
    snprintf(user->name, sizeof(user->name), "uid %u", (unsigned)user->uid);
}

enum err server_user_find(struct server_user *user, struct strbuf *why)
{
    static const char *const names[] = {"postgres", "nobody"};

    if (geteuid() != 0) {
        user_fill_oneself(user);
        return ERR_OK;
    }
    for (size_t i = 0; i < FP_COUNT(names); i++) {
        const struct passwd *entry = getpwnam(names[i]);
        if (entry == NULL || entry->pw_uid == 0)
            continue;
        user_fill(user, entry, true);
        return ERR_OK;
    }
    strbuf_puts(why, "PostgreSQL does not run as root, and there is neither a user postgres nor a "
                     "user nobody to run it as");
    return ERR_INFRASTRUCTURE;
}

bool spawn_become(const struct server_user *user)
{
    if (!user->is_other)
        return true;
    FP_ASSERT(user->uid != 0);
    if (setgroups(0, NULL) != 0 || setgid(user->gid) != 0 || setuid(user->uid) != 0)
        return false;
    return true;
}

void spawn_reset_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &standard, NULL); /* SIGKILL, SIGSTOP refuse, and need no reset */
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

void spawn_pause_ms(int pause_ms)
{
    FP_ASSERT(pause_ms >= 0);
    (void)poll(NULL, 0, pause_ms);
}

/* Put `fd`, or /dev/null, out of the way of the numbers 0 to 3. */
static int park_fd(int fd, int flags)
{
    int source = fd;
    if (source < 0)
        source = open("/dev/null", flags | O_CLOEXEC);
    if (source < 0)
        return -1;
    return fcntl(source, F_DUPFD_CLOEXEC, PARKING_FD_MIN);
}

static bool child_take_descriptors(const struct spawn *spawn, int report_fd)
{
    int parked[] = {
        park_fd(spawn->stdin_fd, O_RDONLY),
        park_fd(spawn->stdout_fd, O_WRONLY),
        park_fd(spawn->stderr_fd, O_WRONLY),
        park_fd(report_fd, O_WRONLY),
    };

    for (int target = 0; target <= REPORT_FD; target++) {
        if (parked[target] < 0)
            return false;
        if (dup3(parked[target], target, target == REPORT_FD ? O_CLOEXEC : 0) < 0)
            return false;
    }
    closefrom(FIRST_UNUSED_FD);
    return true;
}

static void child_pin(int cpu)
{
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    /* A container may forbid it; the server is then slower, not wrong. */
    (void)sched_setaffinity(0, sizeof(set), &set);
}

/* The kernel forgets the death signal when the user changes, so this comes after that. A parent
 * that died before sends nothing any more: notice it by our new parent. */
static void child_die_with_parent(int death_signal, pid_t parent)
{
    if (death_signal == 0)
        return;
    (void)prctl(PR_SET_PDEATHSIG, death_signal);
    if (getppid() != parent)
        _exit(1);
}

/* Nothing of the caller's PG* settings, locale or time zone may reach the server. */
static void environment_fill(const char **environment, struct strbuf *library_path)
{
    int count = 0;
    const char *path = rundir_environment("LD_LIBRARY_PATH");

    environment[count++] = "PATH=/usr/local/bin:/usr/bin:/bin";
    environment[count++] = "LC_ALL=C";
    environment[count++] = "TZ=UTC";
    if (path != NULL) {
        strbuf_printf(library_path, "LD_LIBRARY_PATH=%s", path);
        environment[count++] = strbuf_str(library_path);
    }
    environment[count] = NULL;
    FP_ASSERT(count < ENVIRONMENT_COUNT_MAX);
}

_Noreturn static void child_fail(enum spawn_stage stage, int report_fd)
{
    struct spawn_failure failure = {.stage = stage, .error = errno};
    if (write(report_fd, &failure, sizeof(failure)) < 0)
        _exit(126);
    _exit(127);
}

_Noreturn static void child_run(const struct spawn *spawn, const char *const *environment,
                                pid_t parent, int report_fd)
{
    const struct rlimit no_core = {0, 0};

    spawn_reset_signals();
    (void)setsid();
    (void)umask(077);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    child_pin(spawn->cpu);
    if (!child_take_descriptors(spawn, report_fd))
        child_fail(STAGE_DESCRIPTORS, report_fd);
    if (spawn->user != NULL && !spawn_become(spawn->user))
        child_fail(STAGE_USER, REPORT_FD);
    if (chdir(spawn->cwd != NULL ? spawn->cwd : "/") != 0)
        child_fail(STAGE_DIRECTORY, REPORT_FD);
    child_die_with_parent(spawn->death_signal, parent);
    execve(spawn->argv[0], (char *const *)spawn->argv, (char *const *)environment);
    child_fail(STAGE_EXECUTE, REPORT_FD);
}

static void failure_text(const struct spawn *spawn, const struct spawn_failure *failure,
                         struct strbuf *why)
{
    const char *user = spawn->user != NULL ? spawn->user->name : "this user";
    const char *reason = strerror(failure->error);

    switch (failure->stage) {
    case STAGE_DESCRIPTORS:
        strbuf_printf(why, "cannot start %s: %s", spawn->argv[0], reason);
        return;
    case STAGE_USER:
        strbuf_printf(why, "cannot become the user %s to run %s: %s", user, spawn->argv[0], reason);
        return;
    case STAGE_DIRECTORY:
        strbuf_printf(why, "the user %s cannot enter %s: %s: choose another FENCEPOST_TMPDIR", user,
                      spawn->cwd, reason);
        return;
    case STAGE_EXECUTE:
        strbuf_printf(why, "the user %s cannot execute %s: %s", user, spawn->argv[0], reason);
        return;
    }
}

/* The report pipe closes by itself when the program is executed. */
static bool child_reported_failure(int report_fd, struct spawn_failure *failure)
{
    ssize_t size;
    do {
        size = read(report_fd, failure, sizeof(*failure));
    } while (size < 0 && errno == EINTR);
    return size == (ssize_t)sizeof(*failure);
}

enum err spawn_start(const struct spawn *spawn, pid_t *pid, struct strbuf *why)
{
    const char *environment[ENVIRONMENT_COUNT_MAX];
    struct strbuf library_path = STRBUF_INIT;
    struct spawn_failure failure;
    sigset_t all, before;
    int report[2];
    int status;

    FP_ASSERT(spawn->argv[0] != NULL);
    if (pipe2(report, O_CLOEXEC) != 0) {
        strbuf_printf(why, "cannot start %s: %s", spawn->argv[0], strerror(errno));
        return ERR_INFRASTRUCTURE;
    }
    environment_fill(environment, &library_path);
    /* The child must not run our signal handlers before it has reset them. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0)
        child_run(spawn, spawn->keeps_environment ? (const char *const *)environ : environment,
                  parent, report[1]);
    int fork_error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    strbuf_release(&library_path);
    close(report[1]);
    if (child < 0) {
        close(report[0]);
        strbuf_printf(why, "cannot start %s: %s", spawn->argv[0], strerror(fork_error));
        return ERR_INFRASTRUCTURE;
    }
    bool failed = child_reported_failure(report[0], &failure);
    close(report[0]);
    if (failed) {
        (void)spawn_wait(child, CAPTURE_TIMEOUT_MS, &status);
        failure_text(spawn, &failure, why);
        return ERR_INFRASTRUCTURE;
    }
    *pid = child;
    return ERR_OK;
}

/* True when there is nothing more to wait for. */
static bool collect(pid_t pid, int *status)
{
    pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid)
        return true;
    if (ended < 0 && errno == ECHILD) {
        *status = -1;
        return true;
    }
    return false;
}

bool spawn_wait(pid_t pid, int timeout_ms, int *status)
{
    FP_ASSERT(pid > 0);
    FP_ASSERT(timeout_ms >= 0);
    if (collect(pid, status))
        return true;
    int pidfd = process_open(pid);
    for (int waited_ms = 0; waited_ms < timeout_ms; waited_ms += WAIT_PAUSE_MS) {
        struct pollfd ended = {.fd = pidfd, .events = POLLIN};
        /* An old kernel gives -1, and poll just waits. */
        (void)poll(&ended, 1, WAIT_PAUSE_MS);
        if (!collect(pid, status))
            continue;
        if (pidfd >= 0)
            close(pidfd);
        return true;
    }
    if (pidfd >= 0)
        close(pidfd);
    return false;
}

void spawn_status_text(int status, struct strbuf *out)
{
    if (status == -1)
        strbuf_puts(out, "status unknown");
    else if (WIFSIGNALED(status))
        strbuf_printf(out, "signal %d", WTERMSIG(status));
    else
        strbuf_printf(out, "exit status %d", WEXITSTATUS(status));
}

static void read_all(int fd, struct strbuf *out)
{
    char chunk[4096];

    while (out->size < CAPTURE_SIZE_MAX) {
        ssize_t size = read(fd, chunk, sizeof(chunk));
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return;
        strbuf_add(out, chunk, (size_t)size);
    }
}

enum err spawn_capture(const struct spawn *spawn, struct strbuf *out, struct strbuf *why)
{
    struct spawn with_pipe = *spawn;
    int output[2];
    int status = 0;
    pid_t pid;

    if (pipe2(output, O_CLOEXEC) != 0) {
        strbuf_printf(why, "cannot start %s: %s", spawn->argv[0], strerror(errno));
        return ERR_INFRASTRUCTURE;
    }
    with_pipe.stdout_fd = output[1];
    enum err err = spawn_start(&with_pipe, &pid, why);
    close(output[1]);
    if (err != ERR_OK) {
        close(output[0]);
        return err;
    }
    read_all(output[0], out);
    close(output[0]);
    if (!spawn_wait(pid, CAPTURE_TIMEOUT_MS, &status)) {
        kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
    }
    if (status == 0)
        return ERR_OK;
    strbuf_printf(why, "%s failed: ", spawn->argv[0]);
    spawn_status_text(status, why);
    return ERR_INFRASTRUCTURE;
}
