/* The server's programs, run in containers instead of on this machine.
 *
 * Such a program sees one folder of ours under the path that it has out here, and runs as the same
 * user. So a server has its files, its socket and its processes within our reach, and whatever is
 * done to a local server can be done to it. The engine must run on this machine. */
#ifndef FENCEPOST_BOX_H
#define FENCEPOST_BOX_H

#include <sys/types.h>

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"

/* The postmaster is the first process of its container. */
#define BOX_POSTMASTER_PID 1

/* Run a program of the image to its end. argv[0] is its name, ended by NULL; `input` may be NULL.
 * ERR_INFRASTRUCTURE with `why`. */
enum err box_run(const char *dir, const char *const *argv, const char *input, int timeout_ms,
                 struct strbuf *why);

/* One server. */
struct box {
    const char *name; /* of the container */
    const char *dir;  /* its folder */
    int cpu;          /* -1: not pinned */
    int port;         /* where it listens, published on 127.0.0.1; 0: it has no network */
};
/* Start it in a new container. *pid is its first process, as this process sees it.
 * ERR_INFRASTRUCTURE with `why`: no container is left then. */
enum err box_start(const struct box *box, const char *const *argv, pid_t *pid, struct strbuf *why);
/* The first process of a container that runs; `word` is on its command line, or
 * a folder of one. */
enum err box_find(const char *name, const char *word, pid_t *pid, struct strbuf *why);
/* Start the program that an image is made for, in our own network, beside a
 * server. `word` is one of its arguments, which nobody else's process has. */
enum err box_start_beside(const char *name, const char *image, const char *const *arguments,
                          const char *word, pid_t *pid, struct strbuf *why);
/* "pause", "kill", ...: `option` may be NULL. */
enum err box_do(const char *name, const char *verb, const char *option, struct strbuf *why);
/* At once, with all its processes. */
void box_remove(const char *name);
/* The last lines of what it printed. */
void box_log_tail(const char *name, struct strbuf *out);

/* The name of the container of a cluster. Caller frees. */
char *box_name(const char *cluster_name);
/* Those that a lane has left which died. */
void box_remove_cluster(const char *cluster_name);

#endif
