/* Committed changes of a status, for the invariants that judge them: see struct state_machine. */
#ifndef FENCEPOST_STATUS_CHANGES_H
#define FENCEPOST_STATUS_CHANGES_H

#include "sim/check/check.h"

struct status_change {
    const struct state_machine *states;
    const char *key; /* of the row; "a row" when the event does not say */
    const char *who;
    const char *from, *to; /* never the same */
};

/* Call `judge` when somebody has committed a change of a status: not for inserts and deletes, and
 * not for what a failover took back. What is passed lives as long as the event. */
void status_change_judge(struct check *check, const struct event *event,
                         void (*judge)(struct check *check, const struct event *event,
                                       const struct status_change *change));

#endif
