/* Verifies: at most one step is made for a request, however often it is sent; and a request that is
 * answered as done has its step, committed by then.
 *
 * Does not verify: that the step is the one that its sender had in mind; that a request answered
 * otherwise has made none; that two requests of one user were meant as two; steps and answers from
 * before a failover that lost commits. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

struct one_step_per_request {
    bool lost_commits; /* a failover has taken something back: an answer may rightly have no step */
};

static const struct request_view *view_of(const struct check *check)
{
    return &check_setup(check)->strategy->requests;
}

static bool is_request(const struct row *row, const char *column, const char *id, size_t size)
{
    const char *text = row_text(row, column);
    return strlen(text) == size && strncmp(text, id, size) == 0;
}

static int step_count(struct check *check, const char *id, size_t size)
{
    const struct request_view *view = view_of(check);
    int count = 0;

    for (const struct row *row = rows_first(check_rows(check), view->step_table); row != NULL;
         row = row->next)
        count += is_request(row, view->request_column, id, size);
    return count;
}

static void take_step(struct check *check, const struct event *event)
{
    const char *op = event_text(event, "op");
    const char *id = event_text(event, view_of(check)->request_column);

    if (op == NULL || id == NULL) {
        check_unknown(check, event, "a step that cannot be read: %s", event->line);
        return;
    }
    if (strcmp(op, "insert") == 0 && step_count(check, id, strlen(id)) > 1)
        check_fail(check, event, "%s made another step for request %s at %s",
                   event->who != NULL ? event->who : "somebody", id,
                   check_time_text(check, event->t_ns));
}

static void take_answer(struct check *check, const struct event *event)
{
    struct one_step_per_request *state = check_state(check);
    const char *body = event_text(event, "body");

    if (event_number(event, "status", 0) != view_of(check)->ok_status || state->lost_commits)
        return;
    size_t size = body != NULL ? strcspn(body, " ") : 0;
    if (size == 0)
        check_unknown(check, event, "a request without an id: %s", event->line);
    else if (step_count(check, body, size) == 0)
        check_fail(check, event, "request %.*s was answered as done at %s, but no step was made",
                   (int)size, body, check_time_text(check, event->t_ns));
}

static void one_step_per_request_event(struct check *check, const struct event *event)
{
    struct one_step_per_request *state = check_state(check);
    const char *table = view_of(check)->step_table;

    if (is_commit_of(event, table))
        take_step(check, event);
    else if (is_change_of(event, table))
        state->lost_commits = true;
    else if (event_is(event, "request.answered"))
        take_answer(check, event);
}

static bool one_step_per_request_applies(const struct strategy *strategy)
{
    const struct request_view *view = &strategy->requests;
    return view->role != NULL && watched_has(strategy, view->step_table, view->request_column);
}

const struct invariant invariant_one_step_per_request = {
    .name = "one_step_per_request",
    .verifies = "a request that is sent again makes no second step, and one that is answered as "
                "done has made one",
    .does_not_verify = "that it is the step that its sender meant, that a request answered "
                       "otherwise has made none, what a failover lost",
    .state_size = sizeof(struct one_step_per_request),
    .applies = one_step_per_request_applies,
    .event = one_step_per_request_event,
};
