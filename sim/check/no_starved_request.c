/* Verifies: every request is answered within the time that the strategy promises (struct
 * request_view), counted without what its handler was stopped for; at the end none is without an
 * answer for longer. And a request is refused for a conflict only with a reason: another request
 * about the same subject was under way between its sending and its answer, or had been under way
 * when its handler died, no longer ago than a dead handler may keep others out.
 *
 * Does not verify: that an answer is true, or that a refused request succeeds when it is sent
 * again; that any request succeeds; other refusals than conflicts (no connection, a service that
 * refuses); requests whose process has died: that is an answer too. While the database's clock is
 * wrong, and for as long after it as a dead handler may keep others out, one that lives may do so
 * as well. */
#include <string.h>

#include "sim/check/check.h"

/* One that was sent. */
struct asked {
    struct asked *next;
    int64_t number;
    const char *subject;
    const char *handler; /* the actor that has accepted it; NULL: none has */
    int64_t sent_ns, accepted_ns;
    int64_t sent_db_ns;  /* by the database's clock */
    int64_t stopped_ns;  /* for so long, in all, its handler has been stopped since */
    int64_t ended_ns;    /* -1: it is under way */
    int64_t ended_db_ns; /* the same by the database's clock */
    bool died;           /* its handler has */
    bool failed;         /* it was answered, neither as done nor as in conflict */
};

/* An actor that is stopped now. */
struct stopped {
    struct stopped *next;
    const char *actor;
    int64_t since_ns;
};

struct no_starved_request {
    struct asked *asked;
    struct stopped *stopped;
};

static const struct request_view *view_of(const struct check *check)
{
    return &check_setup(check)->strategy->requests;
}

/* "app-1" of "app-1.2/handler-3". */
static bool is_of(const char *actor, const char *who)
{
    size_t size = strcspn(who, "./");
    return strlen(actor) == size && strncmp(actor, who, size) == 0;
}

static struct asked *asked_find(const struct no_starved_request *state, int64_t number)
{
    struct asked *asked = state->asked;
    while (asked != NULL && asked->number != number)
        asked = asked->next;
    return asked;
}

/* ---- how long ---- */

/* What its handler has been stopped for until `t_ns`, as far as it had the request by then. */
static int64_t stopped_ns(const struct no_starved_request *state, const struct asked *asked,
                          int64_t t_ns)
{
    int64_t sum_ns = asked->stopped_ns;
    for (const struct stopped *at = state->stopped; at != NULL; at = at->next) {
        int64_t from_ns = at->since_ns > asked->accepted_ns ? at->since_ns : asked->accepted_ns;
        if (asked->handler != NULL && is_of(at->actor, asked->handler) && t_ns > from_ns)
            sum_ns += t_ns - from_ns;
    }
    return sum_ns;
}

static void judge_time(struct check *check, const struct event *event, const struct asked *asked,
                       const char *end)
{
    int64_t took_ns = event->t_ns - asked->sent_ns;
    if (took_ns - stopped_ns(check_state(check), asked, event->t_ns) <=
        view_of(check)->answer_within_ns)
        return;
    check_fail(check, event, "request %lld about %s, sent at %s and %s%s, %s at %s, after %s",
               (long long)asked->number, asked->subject, check_time_text(check, asked->sent_ns),
               asked->handler != NULL ? "accepted by " : "accepted by nobody",
               asked->handler != NULL ? asked->handler : "", end,
               check_time_text(check, event->t_ns), check_time_text(check, took_ns));
}

/* ---- why refused ---- */

/* How long `other` had been over, by the database's clock, while `refused` was under way: at the
 * least. And was that clock put back since? */
static int64_t over_db_ns(struct check *check, const struct asked *other,
                          const struct asked *refused, int64_t t_ns, bool *was_put_back)
{
    int64_t at_sending_ns = refused->sent_db_ns - other->ended_db_ns;
    int64_t at_answer_ns = check_db_ns(check_setup(check), t_ns) - other->ended_db_ns;

    *was_put_back =
        at_sending_ns < refused->sent_ns - other->ended_ns || at_answer_ns < t_ns - other->ended_ns;
    return at_sending_ns < at_answer_ns ? at_sending_ns : at_answer_ns;
}

static bool is_reason(struct check *check, const struct asked *other, const struct asked *refused,
                      int64_t t_ns)
{
    bool was_put_back;

    if (other == refused || other->handler == NULL ||
        strcmp(other->subject, refused->subject) != 0 || other->accepted_ns > t_ns)
        return false;
    if (other->ended_ns < 0 || other->ended_ns >= refused->sent_ns)
        return true;
    int64_t over_ns = over_db_ns(check, other, refused, t_ns, &was_put_back);
    return (other->died || (other->failed && was_put_back)) && over_ns <= view_of(check)->stale_ns;
}

static void judge_refusal(struct check *check, const struct event *event,
                          const struct asked *refused)
{
    const struct no_starved_request *state = check_state(check);
    const struct asked *last = NULL;

    for (const struct asked *at = state->asked; at != NULL; at = at->next) {
        if (is_reason(check, at, refused, event->t_ns))
            return;
        bool is_before = at != refused && strcmp(at->subject, refused->subject) == 0;
        if (is_before && at->ended_ns >= 0 && (last == NULL || at->ended_ns > last->ended_ns))
            last = at;
    }
    if (last == NULL)
        check_fail(
            check, event, "request %lld about %s was refused at %s, and there had been no other",
            (long long)refused->number, refused->subject, check_time_text(check, event->t_ns));
    else
        check_fail(
            check, event,
            "request %lld about %s was refused at %s, and nobody was at work on it: the last "
            "one before, %lld, %s at %s",
            (long long)refused->number, refused->subject, check_time_text(check, event->t_ns),
            (long long)last->number, last->died ? "died with its handler" : "was answered",
            check_time_text(check, last->ended_ns));
}

/* ---- events ---- */

static void take_sent(struct check *check, const struct event *event)
{
    struct no_starved_request *state = check_state(check);
    const char *subject = event_text(event, "subject");
    int64_t number = event_number(event, "number", 0);

    if (subject == NULL || number == 0) {
        check_unknown(check, event, "a request that cannot be read: %s", event->line);
        return;
    }
    struct asked *asked = arena_alloc(check_arena(check), sizeof *asked);
    asked->number = number;
    asked->subject = arena_strdup(check_arena(check), subject);
    asked->sent_ns = event->t_ns;
    asked->sent_db_ns = check_db_ns(check_setup(check), event->t_ns);
    asked->ended_ns = -1;
    asked->next = state->asked;
    state->asked = asked;
}

static void request_ends(struct check *check, const struct event *event, struct asked *asked)
{
    asked->ended_ns = event->t_ns;
    asked->ended_db_ns = check_db_ns(check_setup(check), event->t_ns);
}

static void take_answer(struct check *check, const struct event *event, struct asked *asked)
{
    const struct request_view *view = view_of(check);
    int64_t status = event_number(event, "status", 0);

    request_ends(check, event, asked);
    asked->failed = status != view->ok_status && status != view->conflict_status;
    judge_time(check, event, asked, "was answered");
    if (status == view->conflict_status)
        judge_refusal(check, event, asked);
}

static void take_request(struct check *check, const struct event *event)
{
    struct asked *asked = asked_find(check_state(check), event_number(event, "number", 0));

    if (event_is(event, "request.sent")) {
        take_sent(check, event);
        return;
    }
    if (asked == NULL || asked->ended_ns >= 0)
        return;
    if (event_is(event, "request.accepted")) {
        asked->handler = arena_strdup(check_arena(check), event->who);
        asked->accepted_ns = event->t_ns;
    } else if (event_is(event, "request.answered")) {
        take_answer(check, event, asked);
    } else if (event_is(event, "request.lost")) {
        request_ends(check, event, asked);
        asked->died = true;
    } else if (event_is(event, "request.given_up")) {
        judge_time(check, event, asked, "was given up by its sender");
    }
}

static void take_stop(struct check *check, const struct event *event)
{
    struct no_starved_request *state = check_state(check);
    struct stopped *stopped = arena_alloc(check_arena(check), sizeof *stopped);
    stopped->actor =
        arena_printf(check_arena(check), "%.*s", (int)strcspn(event->who, "./"), event->who);
    stopped->since_ns = event->t_ns;
    stopped->next = state->stopped;
    state->stopped = stopped;
}

static void take_resumption(struct check *check, const struct event *event)
{
    struct no_starved_request *state = check_state(check);

    for (struct stopped **at = &state->stopped; *at != NULL; at = &(*at)->next) {
        if (!is_of((*at)->actor, event->who))
            continue;
        struct stopped *over = *at;
        *at = over->next;
        for (struct asked *asked = state->asked; asked != NULL; asked = asked->next) {
            struct no_starved_request only = {.stopped = over};
            over->next = NULL;
            if (asked->ended_ns < 0)
                asked->stopped_ns = stopped_ns(&only, asked, event->t_ns);
        }
        return;
    }
}

static void no_starved_request_event(struct check *check, const struct event *event)
{
    if (strncmp(event->kind, "request.", 8) == 0)
        take_request(check, event);
    else if (event_is(event, "fault.pause"))
        take_stop(check, event);
    else if (event_is(event, "fault.resumed"))
        take_resumption(check, event);
}

static void no_starved_request_end(struct check *check, const struct check_end *end)
{
    const struct no_starved_request *state = check_state(check);

    for (const struct asked *asked = state->asked; asked != NULL; asked = asked->next)
        if (asked->ended_ns < 0)
            judge_time(check, &end->last, asked, "is without an answer");
}

static bool no_starved_request_applies(const struct strategy *strategy)
{
    return strategy->requests.role != NULL;
}

const struct invariant invariant_no_starved_request = {
    .name = "no_starved_request",
    .verifies = "every request is answered in time, and refused for a conflict only when there is "
                "somebody to be in conflict with",
    .does_not_verify = "that answers are true, that any request succeeds, other refusals than "
                       "conflicts, requests whose process has died",
    .state_size = sizeof(struct no_starved_request),
    .applies = no_starved_request_applies,
    .event = no_starved_request_event,
    .end = no_starved_request_end,
};
