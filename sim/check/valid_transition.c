/* Verifies: every committed change of a status, of resources and of jobs, is one that the
 * strategy's state machine for it has.
 *
 * Does not verify: commits that a failover took back; with which status a row begins; that the
 * status is true (that a READY cluster works); who made the change; that a status is ever left
 * again. */
#include <string.h>

#include "sim/check/status_changes.h"

static bool valid_transition_applies(const struct strategy *strategy)
{
    return strategy->state_count > 0;
}

static bool is_allowed(const struct state_machine *states, const char *from, const char *to)
{
    for (size_t i = 0; states->allowed[i][0] != NULL; i++)
        if (strcmp(states->allowed[i][0], from) == 0 && strcmp(states->allowed[i][1], to) == 0)
            return true;
    return false;
}

static void judge(struct check *check, const struct event *event,
                  const struct status_change *change)
{
    if (!is_allowed(change->states, change->from, change->to))
        check_fail(check, event, "%s took %s from %s to %s at %s, which no job may do", change->who,
                   change->key, change->from, change->to, check_time_text(check, event->t_ns));
}

static void valid_transition_event(struct check *check, const struct event *event)
{
    status_change_judge(check, event, judge);
}

const struct invariant invariant_valid_transition = {
    .name = "valid_transition",
    .verifies = "every committed change of a status is one that its state machine has",
    .does_not_verify = "with which status a row begins, that it is true, that it is ever left",
    .applies = valid_transition_applies,
    .event = valid_transition_event,
};
