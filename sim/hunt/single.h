/* One lane inside this process, for commands that look at single runs: replay, traces. */
#ifndef FENCEPOST_SINGLE_H
#define FENCEPOST_SINGLE_H

#include "sim/run/run.h"
#include "sim/scenario/scenario.h"

struct single {
    struct pg_server *server;
    struct pg_lane *pg;
    struct run_lane *runs;
    const struct scenario *installed;
};

/* Start a server of our own, after removing what dead fenceposts left. False with `why`: the
 * environment does not allow it; nothing is left then. The caller ends it with single_close. */
bool single_open(struct single *single, const struct pg_server_options *options,
                 struct strbuf *why);
/* The same in a process that was forked after pg_template_make, as the lane of this number. */
bool single_join(struct single *single, const struct pg_server_options *options, int lane,
                 struct strbuf *why);
/* Stops the server and removes everything on disk. Also after a failed single_open. */
void single_close(struct single *single);

/* Put the scenario's schema into the database unless it is there. single_run does so by itself. */
bool single_install(struct single *single, const struct scenario *scenario, struct strbuf *why);

/* Run one seed; the schema is installed when the scenario changes. A schema that does not install
 * is RUN_INFRASTRUCTURE. `replay` may be NULL. `result` is initialized by the caller. */
void single_run(struct single *single, const struct scenario *scenario, uint64_t seed,
                const struct run_replay *replay, struct run_result *result);

#endif
