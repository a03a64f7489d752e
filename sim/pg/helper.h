/* A program that stands between a lane's sessions and its server: found, started in the lane's
 * directory, and gone with it in every case.
 *
 * It is executed by a link in that directory, so that its path and its name tell whose it is: the
 * reaper and the next fencepost find it as they find a server. */
#ifndef FENCEPOST_HELPER_H
#define FENCEPOST_HELPER_H

#include <sys/types.h>

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"
#include "sim/pg/server.h"

struct helper {
    pid_t pid;       /* 0: does not run */
    char *container; /* that it runs in; NULL: on this machine */
};

/* The real path of `wanted`, or of the first of `names` (ended by NULL) that is in PATH or in
 * /usr/sbin; NULL: there is none. Caller frees. */
char *helper_find(const char *wanted, const char *const *names);

/* Run `program` with `arguments` (ended by NULL, without the program itself) as the server's user,
 * under the name `name`: one that process.c knows. What it prints goes nowhere, what it complains
 * of to the lane's log. It dies with the calling thread. ERR_INFRASTRUCTURE with `why`. */
enum err helper_start(struct helper *helper, const struct pg_beside *server, const char *name,
                      const char *program, const char *const *arguments, struct strbuf *why);
/* Run an image instead; `word` is one of the arguments, which nobody else has.
 */
enum err helper_start_image(struct helper *helper, const struct pg_beside *server, const char *name,
                            const char *image, const char *const *arguments, const char *word,
                            struct strbuf *why);
/* False also when it never ran. */
bool helper_lives(struct helper *helper);
/* At once. Its connections are closed when this returns. */
void helper_stop(struct helper *helper);

#endif
