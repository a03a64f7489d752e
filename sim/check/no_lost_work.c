/* Verifies: at the end all work is done, except what the service has refused for good. Work that
 * says that it failed though nobody refused it was given up for a crash, a timeout or a slow
 * worker; work that is neither done nor failed was forgotten.
 *
 * Does not verify: that what says that it is done was done, or was done once (exactly_once_effect
 * does); how long it took; that the refusal came from the latest attempt. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

struct refusal {
    struct refusal *next;
    const char *resource; /* "service:subject" */
    const char *op;
};

struct no_lost_work {
    struct refusal *refusals;
};

static bool no_lost_work_applies(const struct strategy *strategy)
{
    return strategy->work_count > 0;
}

static void no_lost_work_event(struct check *check, const struct event *event)
{
    struct no_lost_work *state = check_state(check);
    const char *result = event_is(event, "effect.start") ? event_text(event, "result") : NULL;
    const char *resource = event_text(event, "resource");
    const char *op = event_text(event, "op");

    if (result == NULL || strcmp(result, "ERR_SERVICE_REJECTED") != 0)
        return;
    if (resource == NULL || op == NULL) {
        check_unknown(check, event, "a refusal that cannot be read: %s", event->line);
        return;
    }
    struct refusal *refusal = arena_alloc(check_arena(check), sizeof *refusal);
    *refusal = (struct refusal){.next = state->refusals,
                                .resource = arena_strdup(check_arena(check), resource),
                                .op = arena_strdup(check_arena(check), op)};
    state->refusals = refusal;
}

static bool was_refused(struct check *check, const struct effect_view *view, const char *subject)
{
    const struct no_lost_work *state = check_state(check);
    const char *resource = arena_printf(check_arena(check), "%s:%s", view->service, subject);

    for (const struct refusal *refusal = state->refusals; refusal; refusal = refusal->next)
        if (strcmp(refusal->resource, resource) == 0 && strcmp(refusal->op, view->op) == 0)
            return true;
    return false;
}

static void judge(struct check *check, const struct check_end *end, const struct work_view *work,
                  const struct row *row)
{
    const struct effect_view *view = work->effect;
    const char *status = row_text(row, view->status_column);

    if (strcmp(status, view->done) == 0)
        return;
    if (strcmp(status, work->failed) != 0)
        check_fail(check, &end->last, "%s %s is still %s at the end: nobody came back to it",
                   view->table, row_key(row), status);
    else if (!was_refused(check, view, row_key(row)))
        check_fail(check, &end->last,
                   "%s %s is %s at the end, though %s has never refused to %s it", view->table,
                   row_key(row), status, view->service, view->op);
}

static void no_lost_work_end(struct check *check, const struct check_end *end)
{
    const struct strategy *strategy = check_setup(check)->strategy;

    for (size_t i = 0; i < strategy->work_count; i++)
        for (const struct row *row =
                 rows_first(check_rows(check), strategy->works[i].effect->table);
             row != NULL; row = row->next)
            judge(check, end, &strategy->works[i], row);
}

const struct invariant invariant_no_lost_work = {
    .name = "no_lost_work",
    .verifies = "at the end all work is done, except what the service has refused for good",
    .does_not_verify = "that what says that it is done was done; how long it took",
    .state_size = sizeof(struct no_lost_work),
    .applies = no_lost_work_applies,
    .event = no_lost_work_event,
    .end = no_lost_work_end,
};
