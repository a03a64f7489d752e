/* Verifies: when all is over no session holds an advisory lock any more. The harness asks the
 * server, not the actors.
 *
 * Does not verify: when a lock was given back, by whom, or whether it was the right one; locks on
 * rows, which end with their transactions. */
#include "sim/check/check.h"

static bool locks_released_applies(const struct strategy *strategy)
{
    return strategy->advisory_locks;
}

static void locks_released_event(struct check *check, const struct event *event)
{
    if (event_is(event, "world.advisory_lock"))
        check_fail(check, event, "a session still holds the advisory lock %s when all is over",
                   event_text(event, "key"));
}

const struct invariant invariant_locks_released = {
    .name = "locks_released",
    .verifies = "when all is over no session holds an advisory lock",
    .does_not_verify = "when and by whom a lock was given back",
    .applies = locks_released_applies,
    .event = locks_released_event,
};
