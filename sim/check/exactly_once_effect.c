/* Verifies: what a strategy asks of an outside service is done at most once to each subject. At the
 * end a row whose status says that it was done has had it done, and one whose status says that it
 * was not has not (see struct effect_view).
 *
 * Does not verify: that every subject has had it done (a row may rightly say that it failed),
 * effects on the cloud and the artifact store, effects that were refused or only repeated an
 * answer, and services and operations that no effect_view names: of those only the count is judged.
 */
#include <string.h>

#include "sim/check/check.h"

struct deed {
    struct deed *next;
    const char *service, *op, *subject;
    const char *by; /* whose call did it first */
    int64_t t_ns;
};

struct exactly_once_effect {
    struct deed *deeds;
};

static const struct deed *find(const struct exactly_once_effect *state, const char *service,
                               const char *op, const char *subject)
{
    for (const struct deed *at = state->deeds; at != NULL; at = at->next)
        if (strcmp(at->subject, subject) == 0 && strcmp(at->op, op) == 0 &&
            strcmp(at->service, service) == 0)
            return at;
    return NULL;
}

static bool is_deed(const struct event *event)
{
    const char *repeated = event_text(event, "repeated");
    const char *result = event_text(event, "result");
    return event_is(event, "effect.end") && repeated != NULL && strcmp(repeated, "no") == 0 &&
           result != NULL && strcmp(result, "ERR_OK") == 0;
}

static void exactly_once_effect_event(struct check *check, const struct event *event)
{
    struct exactly_once_effect *state = check_state(check);
    if (!is_deed(event))
        return;
    const char *service = event_text(event, "service");
    const char *op = event_text(event, "op");
    const char *subject = event_text(event, "subject");
    const char *by = event_text(event, "instance");
    if (service == NULL || op == NULL || subject == NULL || by == NULL) {
        check_unknown(check, event, "an effect without service, op, subject or instance: %s",
                      event->line);
        return;
    }
    const struct deed *before = find(state, service, op, subject);
    if (before != NULL) {
        check_fail(check, event, "%s: %s of %s was done twice: by %s at %s, and again by %s",
                   service, op, subject, before->by, check_time_text(check, before->t_ns), by);
        return;
    }
    struct arena *arena = check_arena(check);
    struct deed *deed = arena_alloc(arena, sizeof *deed);
    *deed = (struct deed){.next = state->deeds,
                          .service = arena_strdup(arena, service),
                          .op = arena_strdup(arena, op),
                          .subject = arena_strdup(arena, subject),
                          .by = arena_strdup(arena, by),
                          .t_ns = event->t_ns};
    state->deeds = deed;
}

static bool is_one_of(const char *const *list, const char *text)
{
    for (; list != NULL && *list != NULL; list++)
        if (strcmp(*list, text) == 0)
            return true;
    return false;
}

static void compare(struct check *check, const struct check_end *end,
                    const struct effect_view *view, const struct row *row)
{
    const char *status = row_text(row, view->status_column);
    const struct deed *deed = find(check_state(check), view->service, view->op, row_key(row));
    if (strcmp(status, view->done) == 0 && deed == NULL)
        check_fail(check, &end->last, "%s %s is %s at the end, but %s never did its %s",
                   view->table, row_key(row), status, view->service, view->op);
    else if (deed != NULL && is_one_of(view->undone, status))
        check_fail(check, &end->last, "%s %s is %s at the end, but %s did its %s at %s for %s",
                   view->table, row_key(row), status, view->service, view->op,
                   check_time_text(check, deed->t_ns), deed->by);
}

static void exactly_once_effect_end(struct check *check, const struct check_end *end)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    for (size_t i = 0; i < strategy->effect_count; i++) {
        const struct effect_view *view = &strategy->effects[i];
        for (const struct row *row = rows_first(check_rows(check), view->table); row != NULL;
             row = row->next)
            compare(check, end, view, row);
    }
}

static bool exactly_once_effect_applies(const struct strategy *strategy)
{
    return strategy->effect_count > 0;
}

const struct invariant invariant_exactly_once_effect = {
    .name = "exactly_once_effect",
    .verifies = "an outside service does the same thing to a subject once at most, and at the end "
                "the rows agree with what was done",
    .does_not_verify = "that every subject has had it done, effects on the cloud and the artifact "
                       "store, effects that were refused",
    .state_size = sizeof(struct exactly_once_effect),
    .applies = exactly_once_effect_applies,
    .event = exactly_once_effect_event,
    .end = exactly_once_effect_end,
};
