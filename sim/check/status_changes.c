#include "sim/check/status_changes.h"

#include <string.h>

#include "sim/check/views.h"

static bool read_change(const struct strategy *strategy, const struct event *event,
                        const struct state_machine *states, struct status_change *change)
{
    const struct watched_table *watched = watched_find(strategy, states->table);
    const char *key = watched != NULL ? event_text(event, watched->key[0]) : NULL;
    const char *op = event_text(event, "op");

    *change = (struct status_change){.states = states,
                                     .key = key != NULL ? key : "a row",
                                     .who = event->who != NULL ? event->who : "somebody",
                                     .from = value_before(event, states->column),
                                     .to = event_text(event, states->column)};
    if (change->from == NULL || change->to == NULL || strcmp(change->from, change->to) == 0)
        return false;
    return op == NULL || strcmp(op, "delete") != 0;
}

void status_change_judge(struct check *check, const struct event *event,
                         void (*judge)(struct check *check, const struct event *event,
                                       const struct status_change *change))
{
    const struct strategy *strategy = check_setup(check)->strategy;
    struct status_change change;

    for (size_t i = 0; i < strategy->state_count; i++)
        if (is_commit_of(event, strategy->states[i].table) &&
            read_change(strategy, event, &strategy->states[i], &change))
            judge(check, event, &change);
}
