/* Verifies: every committed change of a resource's status is one that the strategy's state
 * machine has.
 *
 * Does not verify: that the status is true (that a READY cluster works); who made the change;
 * that a status is ever left again. */
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"

static bool valid_transitions_applies(const struct strategy *strategy)
{
    return strategy->states.table != NULL;
}

static bool is_allowed(const struct state_machine *states, const char *from, const char *to)
{
    for (size_t i = 0; states->allowed[i][0] != NULL; i++)
        if (strcmp(states->allowed[i][0], from) == 0 && strcmp(states->allowed[i][1], to) == 0)
            return true;
    return false;
}

static const struct watched_table *watched_of(const struct strategy *strategy)
{
    for (size_t i = 0; i < strategy->watched_count; i++)
        if (strcmp(strategy->watched[i].table, strategy->states.table) == 0)
            return &strategy->watched[i];
    return NULL;
}

static void valid_transitions_event(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const char *table = event_is(event, "row") ? event_text(event, "table") : NULL;

    if (table == NULL || strcmp(table, strategy->states.table) != 0)
        return;
    char was_key[64];
    int length = snprintf(was_key, sizeof was_key, "was.%s", strategy->states.column);
    FP_ASSERT(length > 0 && (size_t)length < sizeof was_key);
    const char *from = event_text(event, was_key);
    const char *to = event_text(event, strategy->states.column);
    if (from == NULL || to == NULL || is_allowed(&strategy->states, from, to))
        return;
    const struct watched_table *watched = watched_of(strategy);
    const char *key = watched != NULL ? event_text(event, watched->key[0]) : NULL;
    check_fail(check, event, "%s took %s from %s to %s at %s, which no job may do",
               event->who != NULL ? event->who : "somebody", key != NULL ? key : "a row", from, to,
               check_time_text(check, event->t_ns));
}

const struct invariant invariant_valid_transitions = {
    .name = "valid_transitions",
    .verifies = "every committed change of a status is one that the state machine has",
    .does_not_verify = "that the status is true, or that it is ever left again",
    .applies = valid_transitions_applies,
    .event = valid_transitions_event,
};
