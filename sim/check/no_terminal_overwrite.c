/* Verifies: a row whose status is a last word keeps it. No later commit gives it another status,
 * neither another last word nor one from which it would begin again.
 *
 * Does not verify: commits that a failover took back; that the last word is true; that other
 * columns of the row stay as they are (the result of a COMPLETED row that is COMPLETED once more);
 * that the row is not deleted. */
#include <string.h>

#include "sim/check/status_changes.h"

static bool no_terminal_overwrite_applies(const struct strategy *strategy)
{
    for (size_t i = 0; i < strategy->state_count; i++)
        if (strategy->states[i].terminal != NULL)
            return true;
    return false;
}

static bool is_terminal(const struct state_machine *states, const char *status)
{
    for (const char *const *word = states->terminal; word != NULL && *word != NULL; word++)
        if (strcmp(*word, status) == 0)
            return true;
    return false;
}

static void judge(struct check *check, const struct event *event,
                  const struct status_change *change)
{
    if (is_terminal(change->states, change->from))
        check_fail(check, event, "%s took %s %s from %s to %s at %s, though %s was the last word",
                   change->who, change->states->table, change->key, change->from, change->to,
                   check_time_text(check, event->t_ns), change->from);
}

static void no_terminal_overwrite_event(struct check *check, const struct event *event)
{
    status_change_judge(check, event, judge);
}

const struct invariant invariant_no_terminal_overwrite = {
    .name = "no_terminal_overwrite",
    .verifies = "a row whose status is a last word keeps it",
    .does_not_verify = "that it is true, and that other columns of the row stay as they are",
    .applies = no_terminal_overwrite_applies,
    .event = no_terminal_overwrite_event,
};
