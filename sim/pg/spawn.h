/* Start a program as the user a server may run as, with nothing of ours but what it is given.
 *
 * The program gets a session of its own (a terminal's Ctrl-C does not reach it), default signal
 * handling, a short fixed environment, no file descriptor above 2 and no core dumps. */
#ifndef FENCEPOST_SPAWN_H
#define FENCEPOST_SPAWN_H

#include <sys/types.h>

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"

#define SERVER_USER_NAME_SIZE_MAX 64

struct server_user {
    uid_t uid;
    gid_t gid;
    bool is_other; /* we are root, and the server runs as somebody else */
    char name[SERVER_USER_NAME_SIZE_MAX];
};

/* Oneself; when root, the user postgres, else nobody, because the server refuses to run as root.
 * ERR_INFRASTRUCTURE: root, and there is neither of them. */
enum err server_user_find(struct server_user *user, struct strbuf *why);

struct spawn {
    const char *const *argv;        /* argv[0] is the program's path; ended by NULL */
    const struct server_user *user; /* NULL: as oneself */
    const char *cwd;                /* NULL: the root directory */
    int stdin_fd;                   /* -1: /dev/null */
    int stdout_fd;                  /* -1: /dev/null */
    int stderr_fd;                  /* -1: /dev/null */
    int cpu;                        /* pin to this CPU when that is allowed; -1: do not */
    int death_signal;               /* sent to the program when the calling thread dies; 0: none */
    bool keeps_environment;         /* the caller's, not the short fixed one */
};

/* The path of a program that PATH leads to. Caller frees. NULL: there is none. */
char *pg_find_program(const char *name);

/* Returns once the program runs. The descriptors stay the caller's. ERR_INFRASTRUCTURE: it could
 * not be started, `why` names the step that failed. On ERR_OK the caller waits for *pid. */
enum err spawn_start(const struct spawn *spawn, pid_t *pid, struct strbuf *why);

/* Wait for a child to end, at most about `timeout_ms`. True when it has ended: *status is as from
 * waitpid, or -1 when somebody else has collected it. */
bool spawn_wait(pid_t pid, int timeout_ms, int *status);

/* Run a program to its end and add what it prints to `out`; its complaints go nowhere.
 * ERR_INFRASTRUCTURE: it could not be started, failed, or took too long. */
enum err spawn_capture(const struct spawn *spawn, struct strbuf *out, struct strbuf *why);

/* "exit status 1", "signal 9". */
void spawn_status_text(int status, struct strbuf *out);

/* For a forked child: give up being root for good. False with errno set: not allowed. */
bool spawn_become(const struct server_user *user);

/* For a forked child: every signal is handled by default and none is blocked. */
void spawn_reset_signals(void);

/* Let real time pass. Only for waiting on the operating system, never inside a simulated run. */
void spawn_pause_ms(int pause_ms);

#endif
