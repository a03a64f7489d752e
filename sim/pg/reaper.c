#include "sim/pg/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/pg/spawn.h"

#define DISMISS_TIMEOUT_MS 10000
#define DISMISSAL 'd'

/* The reaper's own descriptors. */
enum { SOCKET_FD = 3, KEPT_FD = 4, FIRST_UNUSED_FD = 5, PARKING_FD_MIN = 16 };

static void ignore_signals(void)
{
    static const int ignored[] = {
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2,
    };
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    spawn_reset_signals();
    for (size_t i = 0; i < FP_COUNT(ignored); i++)
        (void)sigaction(ignored[i], &ignore, NULL);
}

/* A caller that reads our standard output to its end must not wait for the reaper. */
static bool take_descriptors(int socket_fd, int kept_fd)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int parked_null = fcntl(null_fd, F_DUPFD, PARKING_FD_MIN);
    int parked_socket = fcntl(socket_fd, F_DUPFD, PARKING_FD_MIN);
    int parked_kept = fcntl(kept_fd >= 0 ? kept_fd : null_fd, F_DUPFD, PARKING_FD_MIN);

    if (parked_null < 0 || parked_socket < 0 || parked_kept < 0)
        return false;
    for (int target = 0; target < SOCKET_FD; target++)
        (void)dup2(parked_null, target);
    if (dup2(parked_socket, SOCKET_FD) < 0 || dup2(parked_kept, KEPT_FD) < 0)
        return false;
    closefrom(FIRST_UNUSED_FD);
    return true;
}

static bool wait_for_end(void)
{
    char message;
    ssize_t size;
    do {
        size = read(SOCKET_FD, &message, 1);
    } while (size < 0 && errno == EINTR);
    return size == 0 || message != DISMISSAL;
}

_Noreturn static void reaper_run(reaper_clean *clean, const void *self, int kept_fd, int socket_fd)
{
    ignore_signals();
    (void)setsid();
    (void)prctl(PR_SET_NAME, "fencepost-reap");
    (void)chdir("/");
    if (!take_descriptors(socket_fd, kept_fd))
        _exit(1);
    if (wait_for_end())
        clean(self);
    _exit(0);
}

enum err reaper_start(reaper_clean *clean, const void *self, int kept_fd, struct reaper *reaper,
                      struct strbuf *why)
{
    sigset_t all, before;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        strbuf_printf(why, "cannot make a socket pair: %s", strerror(errno));
        return ERR_INFRASTRUCTURE;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        reaper_run(clean, self, kept_fd, ends[1]);
    int fork_error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        strbuf_printf(why, "cannot start a process: %s", strerror(fork_error));
        return ERR_INFRASTRUCTURE;
    }
    reaper->pid = pid;
    reaper->socket_fd = ends[0];
    return ERR_OK;
}

void reaper_dismiss(struct reaper *reaper)
{
    const char message = DISMISSAL;
    int status;

    /* It fails when the reaper was killed, which is as good. */
    (void)send(reaper->socket_fd, &message, 1, MSG_NOSIGNAL);
    (void)spawn_wait(reaper->pid, DISMISS_TIMEOUT_MS, &status);
    close(reaper->socket_fd);
    reaper->socket_fd = -1;
}
