/* Verifies: no statement is ended by the server to resolve a deadlock: the design takes its locks
 * in one order.
 *
 * Does not verify: that nobody waits for long; deadlocks that the server cannot see, such as an
 * advisory lock taken in one session while another of the same process waits for it. */
#include <string.h>

#include "sim/check/check.h"

static void no_deadlock_event(struct check *check, const struct event *event)
{
    const char *sqlstate = event_text(event, "sqlstate");
    if (!sqlstate || strcmp(sqlstate, "40P01") != 0)
        return;
    check_fail(check, event, "%s found a deadlock in %s at %s, and its transaction was rolled back",
               event->who, event_text(event, "sql"), check_time_text(check, event->t_ns));
}

const struct invariant invariant_no_deadlock = {
    .name = "no_deadlock",
    .verifies = "no statement is ended by the server to resolve a deadlock",
    .does_not_verify = "that nobody waits for long; deadlocks that the server cannot see",
    .event = no_deadlock_event,
};
