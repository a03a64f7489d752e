/* Verifies: what should have alerted did, stayed as long as its cause, and nothing else did. The
 * causes, read from committed rows and from events:
 * - a lock that expired some time ago and is still there;
 * - a job that has been running for too long, by the start that its row has;
 * - more failed acquisitions within the window than allowed;
 * - a message that has been a dead letter for some time;
 * - a running job without a lock;
 * - two locks on one resource.
 * Silence: a cause that lasts while a monitor has been able to look for two rounds has an alert of
 * its name and subject by then. A cause that somebody has acted on (a job has failed with its code)
 * has one however short it was, at the latest by the end. Tidied away: no alert is cleared while
 * its cause lasts. False alarm: every alert has a cause, at that time or at most two rounds before.
 * The subject is the resource's key, or the job's (long job, dead letter); contention may have any.
 *
 * Does not verify: silence while every monitor is disturbed (killed, stopped, waiting for a lock,
 * cut off) and for two rounds after; what a monitor raises or clears within two rounds of being
 * disturbed itself, or of a step of the database's clock; that an alert is ever cleared;
 * severities; other alerts. */
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"
#include "sim/check/watchers.h"
#include "sim/core/walltext.h"

enum rule {
    RULE_STALE_LOCK,
    RULE_LONG_JOB,
    RULE_CONTENTION,
    RULE_DEAD_LETTER,
    RULE_LOCKLESS,
    RULE_DOUBLE,
    RULE_COUNT
};

#define CONTENTION_COUNT_MAX 1024

/* Something that must be alerted about once `since_ns` has come and `until_ns` has not. */
struct cause {
    struct cause *next;
    enum rule rule;
    const char *subject;
    const char *key; /* tells causes of one rule apart: a job, a resource, a letter */
    int64_t since_ns;
    int64_t until_ns; /* INT64_MAX: it lasts */
    int64_t wall_ns;  /* it is due by the database's clock; 0: by no clock */
    bool acted_on;
    bool alerted;
};

/* An alert that fires. */
struct firing {
    struct firing *next;
    enum rule rule;
    const char *subject;
};

/* The letter that an actor has received last. */
struct reader {
    struct reader *next;
    const char *who;
    const char *letter;
};

struct alerts_raised {
    struct watchers *watchers;
    struct cause *causes; /* the latest first */
    struct firing *firing;
    struct reader *readers;
    int64_t checked_ns;
    bool is_changed; /* rows of jobs or locks, in the commit that is being read */
    int64_t failures_ns[CONTENTION_COUNT_MAX]; /* a ring of the latest */
    int64_t failure_count;
    bool clock_was_stepped;
    int64_t clock_stepped_ns;
};

static const struct alert_view *alert_view(const struct check *check)
{
    return &check_setup(check)->strategy->alerts;
}

static bool alerts_raised_applies(const struct strategy *strategy)
{
    const struct alert_view *view = &strategy->alerts;
    return view->monitor_role != NULL && views_have_jobs(strategy) &&
           views_have_job_locks(strategy) &&
           watched_has(strategy, strategy->lock.table, strategy->lock.expires_column) &&
           watched_has(strategy, strategy->jobs.table, strategy->jobs.started_column) &&
           view->contention_count < CONTENTION_COUNT_MAX;
}

/* How long a cause may last without an alert, and an alert come after its cause. */
static int64_t grace_ns(const struct check *check)
{
    return 2 * alert_view(check)->round_ns;
}

/* NULL: the strategy has no such alert. */
static const char *rule_alert(const struct check *check, enum rule rule)
{
    const struct alert_view *view = alert_view(check);
    const char *const names[RULE_COUNT] = {view->stale_lock,  view->long_job, view->contention,
                                           view->dead_letter, view->lockless, view->double_lock};
    FP_ASSERT(rule < RULE_COUNT);
    return names[rule];
}

/* The code of a job that failed because somebody acted on the cause; NULL: there is none. */
static const char *rule_code(const struct check *check, enum rule rule)
{
    const struct alert_view *view = alert_view(check);
    const char *const codes[RULE_COUNT] = {[RULE_STALE_LOCK] = view->stale_lock_code,
                                           [RULE_LOCKLESS] = view->lockless_code,
                                           [RULE_DOUBLE] = view->double_lock_code};
    return codes[rule];
}

/* A letter that somebody has looked at is hidden for a while. */
static int64_t hidden_ns(const struct check *check, enum rule rule)
{
    return rule == RULE_DEAD_LETTER ? alert_view(check)->dead_letter_hidden_ns : 0;
}

static bool subjects_match(enum rule rule, const char *a, const char *b)
{
    return rule == RULE_CONTENTION || strcmp(a, b) == 0;
}

/* ---- causes ---- */

static struct cause *cause_add(struct check *check, enum rule rule, const char *subject,
                               const char *key, int64_t since_ns)
{
    struct alerts_raised *state = check_state(check);
    struct cause *cause = arena_alloc(check_arena(check), sizeof *cause);
    cause->rule = rule;
    cause->subject = arena_strdup(check_arena(check), subject);
    cause->key = arena_strdup(check_arena(check), key);
    cause->since_ns = since_ns;
    cause->until_ns = INT64_MAX;
    cause->next = state->causes;
    state->causes = cause;
    return cause;
}

/* When the database's clock shows that; not before now, since nobody can have seen it: a
 * transaction may commit long after the time that it has written down. */
static int64_t due_ns(const struct check *check, int64_t wall_ns, int64_t now_ns)
{
    int64_t t_ns = check_when_ns(check_setup(check), wall_ns);
    return t_ns > now_ns ? t_ns : now_ns;
}

static void cause_add_by_clock(struct check *check, enum rule rule, const char *subject,
                               const char *key, int64_t wall_ns, int64_t now_ns)
{
    int64_t since_ns = due_ns(check, wall_ns, now_ns);
    cause_add(check, rule, subject, key, since_ns)->wall_ns = wall_ns;
}

/* The oldest one that lasts, of this rule and key; NULL: none. */
static struct cause *cause_find(struct check *check, enum rule rule, const char *key)
{
    struct alerts_raised *state = check_state(check);
    struct cause *found = NULL;
    for (struct cause *at = state->causes; at != NULL; at = at->next)
        if (at->rule == rule && at->until_ns == INT64_MAX && strcmp(at->key, key) == 0)
            found = at;
    return found;
}

static void cause_end(struct check *check, enum rule rule, const char *key, int64_t t_ns)
{
    struct cause *cause = cause_find(check, rule, key);
    if (cause != NULL)
        cause->until_ns = t_ns;
}

/* There from now on, or no more. */
static void cause_set(struct check *check, enum rule rule, const char *subject, const char *key,
                      bool is_there, int64_t t_ns)
{
    if (!is_there)
        cause_end(check, rule, key, t_ns);
    else if (cause_find(check, rule, key) == NULL)
        cause_add(check, rule, subject, key, t_ns);
}

static bool lasts(const struct cause *cause, int64_t t_ns)
{
    return cause->since_ns <= t_ns && cause->until_ns > t_ns;
}

static bool is_firing(const struct alerts_raised *state, const struct cause *cause)
{
    for (const struct firing *at = state->firing; at != NULL; at = at->next)
        if (at->rule == cause->rule && subjects_match(at->rule, at->subject, cause->subject))
            return true;
    return false;
}

/* "the lock on demo was stale from 1h5m on"; lives in the check's arena. */
static const char *describe(struct check *check, const struct cause *cause)
{
    static const char *const what[RULE_COUNT][2] = {
        {"the lock on ", " was stale"},
        {"job ", " ran too long"},
        {"there was contention (", ")"},
        {"the message of job ", " was a dead letter for too long"},
        {"a job on ", " ran without a lock"},
        {"the lock on ", " was held twice"},
    };
    return arena_printf(check_arena(check), "%s%s%s from %s on", what[cause->rule][0],
                        cause->subject, what[cause->rule][1],
                        check_time_text(check, cause->since_ns));
}

/* The database's clock was stepped, or its rate has changed: what is due by it is due sooner or
 * later than was reckoned. */
static void take_clock(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);

    for (struct cause *at = state->causes; at != NULL; at = at->next)
        if (at->wall_ns != 0 && at->until_ns == INT64_MAX)
            at->since_ns = due_ns(check, at->wall_ns, event->t_ns);
    state->clock_was_stepped = true;
    state->clock_stepped_ns = event->t_ns;
}

/* ---- silence ---- */

/* Has somebody's time to alert passed? What ended in time needs none, unless it was acted on. A
 * burst of contention is over before anybody looks, and is told all the same. */
static bool is_overdue(struct check *check, const struct cause *cause, int64_t t_ns)
{
    const struct alerts_raised *state = check_state(check);
    bool must = cause->acted_on || cause->rule == RULE_CONTENTION || cause->until_ns == INT64_MAX;
    must &= rule_alert(check, cause->rule) != NULL;
    int64_t last_ns = cause->since_ns + hidden_ns(check, cause->rule) + grace_ns(check);

    return must && !cause->alerted && t_ns > last_ns &&
           watchers_able(state->watchers, t_ns - grace_ns(check) - 1, t_ns);
}

static bool is_forgotten(struct check *check, const struct cause *cause, int64_t t_ns)
{
    bool is_owed = (cause->acted_on || cause->rule == RULE_CONTENTION) && !cause->alerted;
    if (cause->until_ns < cause->since_ns)
        return true;
    return !is_owed && cause->until_ns < INT64_MAX && t_ns - cause->until_ns > grace_ns(check);
}

static void fail_silent(struct check *check, const struct cause *cause, int64_t t_ns, int64_t step)
{
    const struct event event = {.step = step, .t_ns = t_ns};
    check_fail(check, &event, "no %s by %s, though %s", rule_alert(check, cause->rule),
               check_time_text(check, t_ns), describe(check, cause));
}

/* Time has passed: look at everything, and forget what can no longer matter. */
static void pass_time(struct check *check, int64_t t_ns, int64_t step)
{
    struct alerts_raised *state = check_state(check);

    state->checked_ns = t_ns;
    for (struct cause **at = &state->causes; *at != NULL;) {
        struct cause *cause = *at;
        if (cause->since_ns <= t_ns && is_firing(state, cause))
            cause->alerted = true;
        if (is_overdue(check, cause, t_ns)) {
            fail_silent(check, cause, t_ns, step);
            return;
        }
        if (is_forgotten(check, cause, t_ns))
            *at = cause->next;
        else
            at = &cause->next;
    }
}

/* ---- where causes come from: locks ---- */

static void take_lock(struct check *check, const struct event *event)
{
    const struct lock_view *lock = &check_setup(check)->strategy->lock;
    const char *resource = event_text(event, lock->resource_column);
    const char *job = event_text(event, lock->job_column);
    const char *expires = event_text(event, lock->expires_column);
    const char *op = event_text(event, "op");
    int64_t expires_ns;

    if (resource == NULL || job == NULL || expires == NULL || op == NULL ||
        !walltext_parse(expires, &expires_ns)) {
        check_unknown(check, event, "a lock that cannot be read: %s", event->line);
        return;
    }
    cause_end(check, RULE_STALE_LOCK, job, event->t_ns);
    if (strcmp(op, "delete") == 0)
        return;
    cause_add_by_clock(check, RULE_STALE_LOCK, resource, job,
                       expires_ns + alert_view(check)->stale_after_ns, event->t_ns);
}

static int lock_count_of(struct check *check, const char *resource)
{
    const struct lock_view *view = &check_setup(check)->strategy->lock;
    int count = 0;
    for (const struct row *lock = rows_first(check_rows(check), view->table); lock != NULL;
         lock = lock->next)
        count += strcmp(row_text(lock, view->resource_column), resource) == 0;
    return count;
}

/* ---- jobs ---- */

/* Whose failure has this code was ended because of the cause. */
static void act_on(struct check *check, enum rule rule, const char *key, int64_t t_ns)
{
    struct alerts_raised *state = check_state(check);
    for (struct cause *at = state->causes; at != NULL; at = at->next)
        if (at->rule == rule && strcmp(at->key, key) == 0 && at->since_ns <= t_ns)
            at->acted_on = true;
}

static void take_code(struct check *check, const struct event *event, const char *job)
{
    const struct job_view *view = &check_setup(check)->strategy->jobs;
    const char *code = event_text(event, view->code_column);
    const char *resource = event_text(event, view->resource_column);

    if (code == NULL || resource == NULL)
        return;
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        const char *acted = rule_code(check, (enum rule)rule);
        if (acted != NULL && strcmp(acted, code) == 0)
            act_on(check, (enum rule)rule, rule == RULE_DOUBLE ? resource : job, event->t_ns);
    }
}

static void take_job(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const char *key = event_text(event, watched_find(strategy, strategy->jobs.table)->key[0]);
    const char *status = event_text(event, strategy->jobs.status_column);
    const char *started = event_text(event, strategy->jobs.started_column);
    const char *op = event_text(event, "op");
    int64_t started_ns;

    if (key == NULL || status == NULL || op == NULL)
        return;
    bool runs = strcmp(status, strategy->jobs.running) == 0 && strcmp(op, "delete") != 0;
    cause_end(check, RULE_LONG_JOB, key, event->t_ns);
    if (!runs) {
        take_code(check, event, key);
        return;
    }
    if (started == NULL || !walltext_parse(started, &started_ns)) {
        check_unknown(check, event, "a job whose start cannot be read: %s", event->line);
        return;
    }
    cause_add_by_clock(check, RULE_LONG_JOB, key, key,
                       started_ns + alert_view(check)->long_after_ns, event->t_ns);
}

/* What can only be said when all of a commit has been read. */
static void alerts_raised_committed(struct check *check, const struct event *last)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    struct alerts_raised *state = check_state(check);
    const struct rows *rows = check_rows(check);

    if (!state->is_changed)
        return;
    state->is_changed = false;
    for (const struct row *job = rows_first(rows, strategy->jobs.table); job; job = job->next) {
        bool is_lockless = job_has_status(strategy, job, strategy->jobs.running) &&
                           job_lock(rows, strategy, row_key(job)) == NULL;
        const char *resource = row_text(job, strategy->jobs.resource_column);
        cause_set(check, RULE_LOCKLESS, resource, row_key(job), is_lockless, last->t_ns);
        cause_set(check, RULE_DOUBLE, resource, resource, lock_count_of(check, resource) > 1,
                  last->t_ns);
    }
}

/* ---- contention ---- */

/* More than so many within the window, up to now? A longer series is one cause. */
static void take_failure(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const struct alert_view *view = alert_view(check);
    int64_t index = state->failure_count++;

    state->failures_ns[index % CONTENTION_COUNT_MAX] = event->t_ns;
    if (index < view->contention_count)
        return;
    int64_t first_ns = state->failures_ns[(index - view->contention_count) % CONTENTION_COUNT_MAX];
    int64_t until_ns = first_ns + view->contention_window_ns;
    if (until_ns <= event->t_ns)
        return;
    for (struct cause *at = state->causes; at != NULL; at = at->next) {
        if (at->rule == RULE_CONTENTION && at->until_ns >= event->t_ns) {
            at->until_ns = until_ns;
            return;
        }
    }
    const char *subject = view->contention_event;
    cause_add(check, RULE_CONTENTION, subject, subject, event->t_ns)->until_ns = until_ns;
}

/* ---- dead letters ---- */

/* Letters with one group and body are in order. */
static const char *letter_key(struct check *check, const struct event *event)
{
    const char *group = event_text(event, "group");
    const char *body = event_text(event, "body");
    if (group == NULL || body == NULL)
        return NULL;
    return arena_printf(check_arena(check), "%s %s", group, body);
}

/* The first word of its body is the job's key. */
static void take_letter(struct check *check, const struct event *event)
{
    const char *key = letter_key(check, event);
    const char *body = event_text(event, "body");
    if (key == NULL)
        return;
    const char *job = arena_printf(check_arena(check), "%.*s", (int)strcspn(body, " "), body);
    cause_add(check, RULE_DEAD_LETTER, job, key,
              event->t_ns + alert_view(check)->dead_letter_after_ns);
}

static struct reader *reader_of(struct check *check, const char *who)
{
    struct alerts_raised *state = check_state(check);
    for (struct reader *at = state->readers; at != NULL; at = at->next)
        if (strcmp(at->who, who) == 0)
            return at;
    struct reader *reader = arena_alloc(check_arena(check), sizeof *reader);
    reader->who = arena_strdup(check_arena(check), who);
    reader->next = state->readers;
    state->readers = reader;
    return reader;
}

/* What becomes of a letter is told by the one who has received it. */
static void take_queue_event(struct check *check, const struct event *event)
{
    const char *result = event_text(event, "result");

    if (event_is(event, "queue.dead")) {
        take_letter(check, event);
    } else if (event_is(event, "dead.received")) {
        reader_of(check, event->who)->letter = letter_key(check, event);
    } else if (event_is(event, "dead.expired")) {
        const char *key = letter_key(check, event);
        if (key != NULL)
            cause_end(check, RULE_DEAD_LETTER, key, event->t_ns);
    } else if (event_is(event, "dead.redriven") || event_is(event, "dead.deleted")) {
        const char *letter = reader_of(check, event->who)->letter;
        if (letter != NULL && result != NULL && strcmp(result, err_name(ERR_OK)) == 0)
            cause_end(check, RULE_DEAD_LETTER, letter, event->t_ns);
    }
}

/* ---- alerts ---- */

static bool find_rule(const struct check *check, const struct event *event, enum rule *rule)
{
    const char *alert = event_text(event, "alert");
    for (int i = 0; alert != NULL && i < RULE_COUNT; i++) {
        *rule = (enum rule)i;
        const char *name = rule_alert(check, *rule);
        if (name != NULL && strcmp(name, alert) == 0)
            return true;
    }
    return false;
}

/* May one who was held up be late with what it says, or have looked by another clock? */
static bool is_excused(struct check *check, const struct event *event)
{
    const struct alerts_raised *state = check_state(check);
    if (state->clock_was_stepped && event->t_ns - state->clock_stepped_ns <= grace_ns(check))
        return true;
    return watchers_interrupted(state->watchers, event->who, event->t_ns - grace_ns(check));
}

static void take_alert(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const char *subject = event_text(event, "subject");
    bool caused = false;
    enum rule rule;

    if (!find_rule(check, event, &rule) || subject == NULL)
        return;
    for (struct cause *at = state->causes; at != NULL; at = at->next) {
        if (at->rule != rule || !subjects_match(rule, at->subject, subject) ||
            at->since_ns > event->t_ns)
            continue;
        at->alerted = true;
        caused = true;
    }
    if (!caused && !is_excused(check, event))
        check_fail(check, event, "%s raised %s about %s at %s without a cause", event->who,
                   rule_alert(check, rule), subject, check_time_text(check, event->t_ns));
    struct firing *firing = arena_alloc(check_arena(check), sizeof *firing);
    firing->rule = rule;
    firing->subject = arena_strdup(check_arena(check), subject);
    firing->next = state->firing;
    state->firing = firing;
}

static void take_clear(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const char *subject = event_text(event, "subject");
    enum rule rule;

    if (!find_rule(check, event, &rule) || subject == NULL)
        return;
    for (const struct cause *at = state->causes; at != NULL; at = at->next)
        if (at->rule == rule && subjects_match(rule, at->subject, subject) &&
            lasts(at, event->t_ns) && !is_excused(check, event))
            check_fail(check, event, "%s tidied %s about %s away at %s, though %s", event->who,
                       rule_alert(check, rule), subject, check_time_text(check, event->t_ns),
                       describe(check, at));
    for (struct firing **at = &state->firing; *at != NULL;)
        if ((*at)->rule == rule && strcmp((*at)->subject, subject) == 0)
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

static void take_event(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const struct strategy *strategy = check_setup(check)->strategy;
    bool is_lock = is_change_of(event, strategy->lock.table);
    bool is_job = is_change_of(event, strategy->jobs.table);

    state->is_changed |= is_lock || is_job;
    if (is_lock)
        take_lock(check, event);
    else if (is_job)
        take_job(check, event);
    else if (event_is(event, strategy->alerts.contention_event))
        take_failure(check, event);
    else if (event_is(event, "db.clock"))
        take_clock(check, event);
    else if (event_is(event, "alert"))
        take_alert(check, event);
    else if (event_is(event, "alert.cleared"))
        take_clear(check, event);
    else if (rule_alert(check, RULE_DEAD_LETTER) != NULL)
        take_queue_event(check, event);
}

static void alerts_raised_event(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);

    if (state->watchers == NULL)
        state->watchers = watchers_new(check_arena(check), alert_view(check)->monitor_role);
    /* First the state up to now: an event that ends a cause does not excuse what came before. */
    if (event->t_ns != state->checked_ns || event_is(event, "alert.cleared"))
        pass_time(check, event->t_ns, event->step);
    watchers_event(state->watchers, event);
    take_event(check, event);
}

/* What was acted on and never told is never going to be. */
static void alerts_raised_end(struct check *check, const struct check_end *end)
{
    struct alerts_raised *state = check_state(check);

    if (state->watchers == NULL)
        return;
    pass_time(check, end->last.t_ns, end->last.step);
    for (const struct cause *at = state->causes; at != NULL; at = at->next)
        if (at->acted_on && !at->alerted && rule_alert(check, at->rule) != NULL)
            fail_silent(check, at, end->last.t_ns, end->last.step);
}

const struct invariant invariant_alerts_raised = {
    .name = "alerts_raised",
    .verifies = "stale, lost and doubled locks, jobs that run too long, contention and dead "
                "letters are alerted about in time and for as long as they last, and nothing else",
    .does_not_verify =
        "silence while no monitor is able to look; that alerts are ever cleared; severities",
    .state_size = sizeof(struct alerts_raised),
    .applies = alerts_raised_applies,
    .event = alerts_raised_event,
    .committed = alerts_raised_committed,
    .end = alerts_raised_end,
};
