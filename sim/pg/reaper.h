/* A process that outlives a killed fencepost for just as long as it takes to clean up.
 *
 * It holds one end of a socket whose other end the fencepost and its lanes hold, and no program
 * they execute. When the last of them is gone, however that came about, it destroys the run
 * directory. It ignores what a terminal or a supervisor sends, and keeps nothing of the caller's
 * open. */
#ifndef FENCEPOST_REAPER_H
#define FENCEPOST_REAPER_H

#include <sys/types.h>

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"
#include "sim/pg/rundir.h"

struct reaper {
    pid_t pid;
    int socket_fd;
};

/* Before any lane is forked. ERR_INFRASTRUCTURE with `why`. */
enum err reaper_start(const struct rundir *rundir, struct reaper *reaper, struct strbuf *why);
/* Nothing is left to clean up: send it home, and wait for it. */
void reaper_dismiss(struct reaper *reaper);

#endif
