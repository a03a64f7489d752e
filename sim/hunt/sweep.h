/* A sweep: one run for each point at which a fault can strike, all of the same schedule.
 *
 * In a scenario whose fault has `nth: sweep`, seed N is the run in which it strikes at its Nth
 * visit; up to there every one of these runs is the same. Seed 0 is the run in which it does not
 * strike. */
#ifndef FENCEPOST_SWEEP_H
#define FENCEPOST_SWEEP_H

#include "sim/pg/server.h"
#include "sim/scenario/scenario.h"

/* How many visits there are: so many seeds, from 1 on, strike. The scenario must sweep. False with
 * `why`: the environment failed. */
bool sweep_count_points(const struct scenario *scenario, const struct pg_server_options *server,
                        int64_t *point_count, struct strbuf *why);

#endif
