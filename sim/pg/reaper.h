/* A process that outlives a killed fencepost for just as long as it takes to clean up.
 *
 * It holds one end of a socket whose other end the fencepost and its lanes hold, and no program
 * they execute. When the last of them is gone, however that came about, it cleans up. It ignores
 * what a terminal or a supervisor sends, and keeps nothing of the caller's open. */
#ifndef FENCEPOST_REAPER_H
#define FENCEPOST_REAPER_H

#include <sys/types.h>

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"

struct reaper {
    pid_t pid;
    int socket_fd;
};

/* What it does then; `self` is as it was when the reaper was started. */
typedef void reaper_clean(const void *self);

/* Before any lane is forked. It keeps `kept_fd`, -1 for none, open until it is done.
 * ERR_INFRASTRUCTURE with `why`. */
enum err reaper_start(reaper_clean *clean, const void *self, int kept_fd, struct reaper *reaper,
                      struct strbuf *why);
/* Nothing is left to clean up: send it home, and wait for it. */
void reaper_dismiss(struct reaper *reaper);

#endif
