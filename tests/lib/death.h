/* What a function does that must end the program: it runs in a child, whose end is looked at. */
#ifndef FENCEPOST_TESTS_DEATH_H
#define FENCEPOST_TESTS_DEATH_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEATH_MESSAGE_SIZE 512

struct death {
    int exit_code;                    /* -1: it did not end by exiting */
    char message[DEATH_MESSAGE_SIZE]; /* the start of what it wrote to standard error */
};

static inline void death_read(int fd, char message[DEATH_MESSAGE_SIZE])
{
    size_t used = 0;
    ssize_t got;
    while (used < DEATH_MESSAGE_SIZE - 1 &&
           (got = read(fd, message + used, DEATH_MESSAGE_SIZE - 1 - used)) > 0)
        used += (size_t)got;
    message[used] = '\0';
}

/* Run `body` in a child. When it returns, the child exits with 0. */
static inline struct death death_of(void (*body)(void))
{
    struct death death = {.exit_code = -1};
    int ends[2], status;
    fflush(NULL);
    if (pipe(ends) != 0)
        return death;

    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        body();
        _exit(0);
    }
    close(ends[1]);
    death_read(ends[0], death.message);
    close(ends[0]);
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
        death.exit_code = WEXITSTATUS(status);
    return death;
}

#endif
