/* Verifies: a request for an entry gets data. It is never answered with nothing; with "busy" only
 * when somebody had the lock of that entry, or the same process another, while it waited; with
 * "failed" only when something did fail meanwhile. It waits for others no longer than the strategy
 * says, and at the end none waits. Faults excuse: one that struck anybody while the request was
 * under way, and anybody who is stopped or cut off then, since a session of his may hold the lock.
 *
 * Does not verify: that the data are new (with "busy" and "failed" old ones may be given); what
 * becomes of requests whose process died; who is to blame for a failure. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

struct request {
    struct request *next;
    const char *id, *entry, *instance;
    int64_t since_ns;
    bool builds; /* it has begun a rebuild itself */
};

struct work {
    struct work *next;
    const char *request, *entry, *instance;
    bool ended;
    int64_t ended_ns;
};

struct no_empty_answer {
    struct request *requests; /* those that wait */
    struct work *works;
    int64_t trouble_ns;
    int away_count; /* actors that are stopped or cut off */
};

static bool is_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* "" when the event has no such text. */
static const char *copy(struct check *check, const struct event *event, const char *key)
{
    const char *text = event_text(event, key);
    return arena_strdup(check_arena(check), text != NULL ? text : "");
}

/* ---- what excuses ---- */

static bool is_trouble(const struct event *event)
{
    static const char *const kinds[] = {"db.lost", "db.cut", "db.unreachable", "healed"};
    for (size_t i = 0; i < FP_COUNT(kinds); i++)
        if (event_is(event, kinds[i]))
            return true;
    return strncmp(event->kind, "fault.", strlen("fault.")) == 0;
}

static void note_trouble(struct no_empty_answer *state, const struct event *event)
{
    const char *fault = event_text(event, "fault");

    if (!is_trouble(event))
        return;
    state->trouble_ns = event->t_ns;
    if (event_is(event, "healed"))
        state->away_count = 0;
    else if (event_is(event, "fault.pause") || event_is(event, "fault.partition"))
        state->away_count++;
    else if (event_is(event, "fault.resumed") ||
             (event_is(event, "fault.healed") && fault != NULL && is_same(fault, "partition")))
        state->away_count -= state->away_count > 0;
}

static bool is_excused(const struct no_empty_answer *state, const struct request *request)
{
    return state->away_count > 0 || state->trouble_ns >= request->since_ns;
}

/* Was somebody at work on that entry, or this process on another, while the request waited? */
static bool somebody_builds(const struct no_empty_answer *state, const struct request *request)
{
    for (const struct work *at = state->works; at; at = at->next) {
        if (at->ended && at->ended_ns < request->since_ns)
            continue;
        if (is_same(at->entry, request->entry) || is_same(at->instance, request->instance))
            return true;
    }
    return false;
}

/* ---- requests ---- */

static void take_received(struct check *check, const struct event *event)
{
    struct no_empty_answer *state = check_state(check);
    struct request *request = arena_alloc(check_arena(check), sizeof *request);

    request->id = copy(check, event, "request");
    request->entry = copy(check, event, "date");
    request->instance = copy(check, event, "instance");
    request->since_ns = event->t_ns;
    request->next = state->requests;
    state->requests = request;
}

static struct request **find_request(struct no_empty_answer *state, const char *id,
                                     const char *instance)
{
    struct request **at = &state->requests;
    while (*at && !(is_same((*at)->id, id) && is_same((*at)->instance, instance)))
        at = &(*at)->next;
    return at;
}

static void fail(struct check *check, const struct event *event, const struct request *request,
                 const char *what)
{
    check_fail(check, event, "request %s for %s, made at %s of %s, %s at %s", request->id,
               request->entry, check_time_text(check, request->since_ns), request->instance, what,
               check_time_text(check, event->t_ns));
}

static void judge_answer(struct check *check, const struct event *event,
                         const struct request *request, const char *result)
{
    const struct no_empty_answer *state = check_state(check);
    int64_t limit_ns = check_setup(check)->strategy->cache.answer_within_ns;

    if (is_same(result, "nothing")) {
        fail(check, event, request, "was told that there is nothing");
        return;
    }
    if (is_excused(state, request))
        return;
    if (is_same(result, "failed"))
        fail(check, event, request, "failed though nothing had gone wrong");
    else if (is_same(result, "busy") && !somebody_builds(state, request))
        fail(check, event, request, "was told to wait though nobody was rebuilding it");
    else if (!request->builds && event->t_ns - request->since_ns > limit_ns)
        fail(check, event, request, "had to wait for its answer, which came");
}

static void take_answered(struct check *check, const struct event *event)
{
    struct no_empty_answer *state = check_state(check);
    const char *id = event_text(event, "request");
    const char *instance = event_text(event, "instance");
    const char *result = event_text(event, "result");

    if (id == NULL || instance == NULL || result == NULL) {
        check_unknown(check, event, "an answer that cannot be read: %s", event->line);
        return;
    }
    struct request **at = find_request(state, id, instance);
    if (*at == NULL)
        return;
    judge_answer(check, event, *at, result);
    *at = (*at)->next;
}

/* ---- rebuilds ---- */

static void take_started(struct check *check, const struct event *event)
{
    struct no_empty_answer *state = check_state(check);
    struct work *work = arena_alloc(check_arena(check), sizeof *work);

    work->request = copy(check, event, "request");
    work->entry = copy(check, event, "date");
    work->instance = copy(check, event, "instance");
    work->next = state->works;
    state->works = work;
    struct request *request = *find_request(state, work->request, work->instance);
    if (request == NULL)
        return;
    if (!request->builds && !is_excused(state, request) &&
        event->t_ns - request->since_ns > check_setup(check)->strategy->cache.answer_within_ns)
        fail(check, event, request, "had to wait for others before it could rebuild it");
    request->builds = true;
}

static void end_work(struct work *work, int64_t t_ns)
{
    if (!work->ended)
        work->ended_ns = t_ns;
    work->ended = true;
}

static void take_ended(struct no_empty_answer *state, const struct event *event)
{
    const char *request = event_text(event, "request");
    const char *instance = event_text(event, "instance");

    for (struct work *at = state->works; at && request && instance; at = at->next)
        if (is_same(at->request, request) && is_same(at->instance, instance))
            end_work(at, event->t_ns);
}

/* ---- processes ---- */

/* "api-1" of "api-1.2" */
static bool same_actor(const char *a, const char *b)
{
    size_t size = strcspn(a, "./");
    return size == strcspn(b, "./") && strncmp(a, b, size) == 0;
}

/* A new life: what the one before had in hand is nobody's any more. */
static void forget_life_before(struct no_empty_answer *state, const struct event *event)
{
    for (struct request **at = &state->requests; *at;)
        if (same_actor((*at)->instance, event->who))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    for (struct work *at = state->works; at; at = at->next)
        if (same_actor(at->instance, event->who))
            end_work(at, event->t_ns);
}

static void no_empty_answer_event(struct check *check, const struct event *event)
{
    struct no_empty_answer *state = check_state(check);

    note_trouble(state, event);
    if (event_is(event, "request.received"))
        take_received(check, event);
    else if (event_is(event, "request.answered"))
        take_answered(check, event);
    else if (event_is(event, "lock.acquired"))
        take_started(check, event);
    else if (event_is(event, "lock.released"))
        take_ended(state, event);
    else if (event_is(event, "actor.started") && event->who != NULL)
        forget_life_before(state, event);
}

/* Everything was healed long ago. */
static void no_empty_answer_end(struct check *check, const struct check_end *end)
{
    const struct no_empty_answer *state = check_state(check);
    int64_t limit_ns = check_setup(check)->strategy->cache.answer_within_ns;

    for (const struct request *at = state->requests; at; at = at->next)
        if (end->last.t_ns - at->since_ns > limit_ns)
            fail(check, &end->last, at, "still has no answer");
}

const struct invariant invariant_no_empty_answer = {
    .name = "no_empty_answer",
    .verifies = "a request gets data, unless a rebuild is under way or something has failed",
    .does_not_verify = "that the data are new, requests whose process died",
    .state_size = sizeof(struct no_empty_answer),
    .applies = views_have_cache,
    .event = no_empty_answer_event,
    .end = no_empty_answer_end,
};
