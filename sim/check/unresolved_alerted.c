/* Verifies: a row that is left to an operator is alerted about: the alert fires when the status is
 * committed, and for as long as the row has it.
 *
 * Does not verify: that the status was called for; alerts about rows that do not have it (an alert
 * may come before the commit, and stay for a while after); that an operator comes. */
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

#define SUBJECT_SIZE_MAX 256

struct firing {
    struct firing *next;
    const char *subject;
    bool fires;
};

struct unresolved_alerted {
    struct firing *alerts;
};

static const struct unresolved_view *view_of(const struct check *check)
{
    return &check_setup(check)->strategy->unresolved;
}

static bool unresolved_alerted_applies(const struct strategy *strategy)
{
    const struct unresolved_view *view = &strategy->unresolved;
    return watched_has(strategy, view->table, view->status_column) &&
           watched_has(strategy, view->table, view->version_column);
}

static struct firing *find(struct check *check, const char *subject)
{
    struct unresolved_alerted *state = check_state(check);
    for (struct firing *alert = state->alerts; alert != NULL; alert = alert->next)
        if (strcmp(alert->subject, subject) == 0)
            return alert;
    return NULL;
}

static void set(struct check *check, const char *subject, bool fires)
{
    struct unresolved_alerted *state = check_state(check);
    struct firing *alert = find(check, subject);
    if (alert == NULL) {
        alert = arena_alloc(check_arena(check), sizeof *alert);
        alert->subject = arena_strdup(check_arena(check), subject);
        alert->next = state->alerts;
        state->alerts = alert;
    }
    alert->fires = fires;
}

/* Every row that has the status is told of. */
static void judge(struct check *check, const struct event *event)
{
    const struct unresolved_view *view = view_of(check);

    for (const struct row *row = rows_first(check_rows(check), view->table); row; row = row->next) {
        if (strcmp(row_text(row, view->status_column), view->status) != 0)
            continue;
        char subject[SUBJECT_SIZE_MAX];
        snprintf(subject, sizeof subject, "%s:%s", row_key(row),
                 row_text(row, view->version_column));
        const struct firing *alert = find(check, subject);
        if (alert == NULL || !alert->fires)
            check_fail(check, event, "%s is %s at %s, and %s does not fire", row_key(row),
                       view->status, check_time_text(check, event->t_ns), view->alert);
    }
}

static void unresolved_alerted_event(struct check *check, const struct event *event)
{
    const struct unresolved_view *view = view_of(check);
    const char *alert = event_text(event, "alert");
    const char *subject = event_text(event, "subject");
    bool is_cleared = event_is(event, "alert.cleared");
    bool is_about = (is_cleared || event_is(event, "alert")) && alert != NULL && subject != NULL &&
                    strcmp(alert, view->alert) == 0;

    if (is_about)
        set(check, subject, !is_cleared);
    if (is_about || is_change_of(event, view->table))
        judge(check, event);
}

const struct invariant invariant_unresolved_alerted = {
    .name = "unresolved_alerted",
    .verifies = "a row that is left to an operator is alerted about, from the commit until it is "
                "resolved",
    .does_not_verify = "that the status was called for; false alarms; that an operator comes",
    .state_size = sizeof(struct unresolved_alerted),
    .applies = unresolved_alerted_applies,
    .event = unresolved_alerted_event,
};
