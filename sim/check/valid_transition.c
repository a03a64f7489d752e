/* Verifies: every committed change of a status, of resources and of jobs, is one that the
 * strategy's state machine for it has.
 *
 * Does not verify: commits that a failover took back; with which status a row begins; that the
 * status is true (that a READY cluster works); who made the change; that a status is ever left
 * again. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

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
                  const struct state_machine *states)
{
    const struct watched_table *watched = watched_find(check_setup(check)->strategy, states->table);
    const char *from = value_before(event, states->column);
    const char *to = event_text(event, states->column);
    const char *op = event_text(event, "op");

    if (from == NULL || to == NULL || strcmp(from, to) == 0 || is_allowed(states, from, to))
        return;
    if (op != NULL && strcmp(op, "delete") == 0)
        return;
    const char *key = watched != NULL ? event_text(event, watched->key[0]) : NULL;
    check_fail(check, event, "%s took %s from %s to %s at %s, which no job may do",
               event->who != NULL ? event->who : "somebody", key != NULL ? key : "a row", from, to,
               check_time_text(check, event->t_ns));
}

static void valid_transition_event(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;

    for (size_t i = 0; i < strategy->state_count; i++)
        if (is_commit_of(event, strategy->states[i].table))
            judge(check, event, &strategy->states[i]);
}

const struct invariant invariant_valid_transition = {
    .name = "valid_transition",
    .verifies = "every committed change of a status is one that its state machine has",
    .does_not_verify = "with which status a row begins, that it is true, that it is ever left",
    .applies = valid_transition_applies,
    .event = valid_transition_event,
};
