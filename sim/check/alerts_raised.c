/* Verifies: what should have alerted did, and nothing else. Three conditions, read from committed
 * rows and from events: a lock that expired some time ago and is still there; a job that has been
 * running for too long; more failed acquisitions within the window than allowed. A condition that
 * lasts for two rounds of the monitor has an alert of its name and subject by then (the resource's
 * key, the job's key; contention may have any subject). Every alert of these names has its
 * condition, at that time or at most two rounds before.
 *
 * Does not verify: alerts while a monitor is disturbed (crashed, paused, waiting for a lock, its
 * connection cut) or the database's clock was stepped, and for two rounds after;
 * long jobs once it was; conditions that
 * pass before anybody must have looked; that an alert is cleared; severities; other alerts. */
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"
#include "sim/core/walltext.h"

enum rule { RULE_STALE_LOCK, RULE_LONG_JOB, RULE_CONTENTION, RULE_COUNT };

#define CONTENTION_COUNT_MAX 1024

/* Something that must be alerted about once `since_ns` has come and `until_ns` has not. */
struct condition {
    struct condition *next;
    enum rule rule;
    const char *subject;
    int64_t since_ns;
    int64_t until_ns; /* INT64_MAX: it lasts */
    bool alerted;
};

/* An alert that fires. */
struct firing {
    struct firing *next;
    enum rule rule;
    const char *subject;
};

/* An actor or a connection of the monitor's that cannot look just now. */
struct hindrance {
    struct hindrance *next;
    const char *who;
    bool lasts;
};

struct alerts_raised {
    struct condition *conditions;
    struct firing *firing;
    struct hindrance *hindrances;
    int64_t disturbed_until_ns;
    int64_t checked_ns;
    int64_t failures_ns[CONTENTION_COUNT_MAX]; /* a ring of the latest */
    int64_t failure_count;
    struct machine_clock db_clock; /* by which the conditions were reckoned */
    bool clock_was_stepped;
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
           view->contention_count < CONTENTION_COUNT_MAX;
}

/* How long a condition may last without an alert, and an alert come after its condition. */
static int64_t grace_ns(const struct check *check)
{
    return 2 * alert_view(check)->round_ns;
}

static const char *rule_alert(const struct check *check, enum rule rule)
{
    const struct alert_view *view = alert_view(check);
    const char *const names[RULE_COUNT] = {view->stale_lock, view->long_job, view->contention};
    FP_ASSERT(names[rule] != NULL);
    return names[rule];
}

static bool subjects_match(enum rule rule, const char *a, const char *b)
{
    return rule == RULE_CONTENTION || strcmp(a, b) == 0;
}

/* ---- is the monitor able to look? ---- */

static bool is_monitor(const struct check *check, const char *who)
{
    const char *role = alert_view(check)->monitor_role;
    size_t size = strlen(role);
    return who != NULL && strncmp(who, role, size) == 0 && (who[size] == '-' || who[size] == '\0');
}

/* "janitor-1" of "janitor-1.2/reap": an actor is hindered in all its lives and fibers. */
static size_t actor_size(const char *who)
{
    return strcspn(who, "./");
}

static struct hindrance *hindrance_of(struct check *check, const char *who, size_t size)
{
    struct alerts_raised *state = check_state(check);

    for (struct hindrance *at = state->hindrances; at != NULL; at = at->next)
        if (strlen(at->who) == size && strncmp(at->who, who, size) == 0)
            return at;
    struct hindrance *hindrance = arena_alloc(check_arena(check), sizeof *hindrance);
    hindrance->who = arena_printf(check_arena(check), "%.*s", (int)size, who);
    hindrance->next = state->hindrances;
    state->hindrances = hindrance;
    return hindrance;
}

static bool is_any(const struct event *event, const char *const *kinds)
{
    for (; *kinds != NULL; kinds++)
        if (event_is(event, *kinds))
            return true;
    return false;
}

/* Down from one event to another: an actor that was killed or stopped, a connection that waits for
 * a lock. */
static void note_hindrance(struct check *check, const struct event *event)
{
    static const char *const down[] = {"fault.crash", "fault.pause", NULL};
    static const char *const up[] = {"actor.started", "fault.resumed", NULL};
    size_t actor = actor_size(event->who);

    if (is_any(event, down))
        hindrance_of(check, event->who, actor)->lasts = true;
    else if (is_any(event, up))
        hindrance_of(check, event->who, actor)->lasts = false;
    if (event_is(event, "db.blocked"))
        hindrance_of(check, event->who, strlen(event->who))->lasts = true;
    else if (strncmp(event->kind, "db.", 3) == 0)
        hindrance_of(check, event->who, strlen(event->who))->lasts = false;
}

static bool is_disturbance(const struct event *event)
{
    static const char *const kinds[] = {"actor.started", "db.blocked",     "db.lost",     "db.cut",
                                        "db.gate",       "db.unreachable", "db.deadlock", NULL};
    return is_any(event, kinds) || strncmp(event->kind, "fault.", 6) == 0 ||
           event_text(event, "sqlstate") != NULL;
}

static bool is_hindered(const struct alerts_raised *state)
{
    for (const struct hindrance *at = state->hindrances; at != NULL; at = at->next)
        if (at->lasts)
            return true;
    return false;
}

static void watch_monitor(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);

    if (!is_monitor(check, event->who))
        return;
    note_hindrance(check, event);
    if (is_disturbance(event))
        state->disturbed_until_ns = event->t_ns + grace_ns(check);
}

/* ---- conditions ---- */

static struct condition *condition_add(struct check *check, enum rule rule, const char *subject,
                                       int64_t since_ns)
{
    struct alerts_raised *state = check_state(check);
    struct condition *condition = arena_alloc(check_arena(check), sizeof *condition);
    condition->rule = rule;
    condition->subject = arena_strdup(check_arena(check), subject);
    condition->since_ns = since_ns;
    condition->until_ns = INT64_MAX;
    condition->next = state->conditions;
    state->conditions = condition;
    return condition;
}

/* The one that lasts, of this rule and subject; NULL: none. */
static struct condition *condition_find(struct check *check, enum rule rule, const char *subject)
{
    struct alerts_raised *state = check_state(check);
    for (struct condition *at = state->conditions; at != NULL; at = at->next)
        if (at->rule == rule && at->until_ns == INT64_MAX && strcmp(at->subject, subject) == 0)
            return at;
    return NULL;
}

static void condition_end(struct check *check, enum rule rule, const char *subject, int64_t t_ns)
{
    struct condition *condition = condition_find(check, rule, subject);
    if (condition != NULL)
        condition->until_ns = t_ns;
}

static bool is_firing(const struct alerts_raised *state, const struct condition *condition)
{
    for (const struct firing *at = state->firing; at != NULL; at = at->next)
        if (at->rule == condition->rule &&
            subjects_match(at->rule, at->subject, condition->subject))
            return true;
    return false;
}

static void fail_silent(struct check *check, const struct condition *condition, int64_t t_ns,
                        int64_t step)
{
    static const char *const what[RULE_COUNT] = {"the lock on %s was stale", "job %s ran too long",
                                                 "there was contention (%s)"};
    const struct event event = {.step = step, .t_ns = t_ns};
    char text[256];
    FP_ASSERT(condition->rule < RULE_COUNT);
    const char *format = what[condition->rule];
    size_t head = strcspn(format, "%");
    snprintf(text, sizeof text, "%.*s%s%s", (int)head, format, condition->subject,
             format + head + strlen("%s"));
    check_fail(check, &event, "no %s by %s, though %s from %s on",
               rule_alert(check, condition->rule), check_time_text(check, t_ns), text,
               check_time_text(check, condition->since_ns));
}

/* Has somebody's time to alert passed? What ended in time needs none. */
static bool is_overdue(struct check *check, const struct condition *condition, int64_t t_ns)
{
    const struct alerts_raised *state = check_state(check);
    int64_t end_ns = condition->rule == RULE_CONTENTION ? INT64_MAX : condition->until_ns;
    int64_t due_ns = condition->since_ns + grace_ns(check);
    if (due_ns < state->disturbed_until_ns)
        due_ns = state->disturbed_until_ns;
    return !condition->alerted && t_ns > due_ns && end_ns > due_ns;
}

/* Time has passed: look at everything, and forget what can no longer matter. */
static void pass_time(struct check *check, int64_t t_ns, int64_t step)
{
    struct alerts_raised *state = check_state(check);

    state->checked_ns = t_ns;
    if (is_hindered(state))
        state->disturbed_until_ns = t_ns + grace_ns(check);
    for (struct condition **at = &state->conditions; *at != NULL;) {
        struct condition *condition = *at;
        if (condition->since_ns <= t_ns && is_firing(state, condition))
            condition->alerted = true;
        if (is_overdue(check, condition, t_ns)) {
            fail_silent(check, condition, t_ns, step);
            return;
        }
        bool over =
            condition->until_ns < INT64_MAX && (condition->until_ns < condition->since_ns ||
                                                t_ns - condition->until_ns > grace_ns(check));
        if (over && t_ns > state->disturbed_until_ns)
            *at = condition->next;
        else
            at = &condition->next;
    }
}

/* ---- where conditions come from ---- */

static void take_lock(struct check *check, const struct event *event)
{
    const struct lock_view *lock = &check_setup(check)->strategy->lock;
    const char *resource = event_text(event, lock->resource_column);
    const char *expires = event_text(event, lock->expires_column);
    const char *op = event_text(event, "op");
    int64_t expires_ns;

    if (resource == NULL || expires == NULL || op == NULL ||
        !walltext_parse(expires, &expires_ns)) {
        check_unknown(check, event, "a lock that cannot be read: %s", event->line);
        return;
    }
    condition_end(check, RULE_STALE_LOCK, resource, event->t_ns);
    if (strcmp(op, "delete") == 0)
        return;
    /* A transaction may commit long after it has reckoned the end of its lease. */
    int64_t since_ns = check_when_ns(check_setup(check), expires_ns);
    since_ns += alert_view(check)->stale_after_ns;
    condition_add(check, RULE_STALE_LOCK, resource,
                  since_ns > event->t_ns ? since_ns : event->t_ns);
}

static void take_job(struct check *check, const struct event *event)
{
    const struct alerts_raised *state = check_state(check);
    const struct strategy *strategy = check_setup(check)->strategy;
    const char *key = event_text(event, watched_find(strategy, strategy->jobs.table)->key[0]);
    const char *status = event_text(event, strategy->jobs.status_column);
    const char *op = event_text(event, "op");

    if (key == NULL || status == NULL || op == NULL)
        return;
    bool runs = strcmp(status, strategy->jobs.running) == 0 && strcmp(op, "delete") != 0;
    if (!runs)
        condition_end(check, RULE_LONG_JOB, key, event->t_ns);
    else if (condition_find(check, RULE_LONG_JOB, key) == NULL)
        condition_add(check, RULE_LONG_JOB, key, event->t_ns + alert_view(check)->long_after_ns)
            ->alerted = state->clock_was_stepped;
}

/* The database's clock was stepped, or its rate has changed: a lease ends sooner or later than was
 * reckoned. When a job started, by the clock of that time, nobody here knows. The monitor may have
 * looked just before. */
static void take_clock(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const struct machine_clock *clock = &check_setup(check)->db_clock;

    for (struct condition *at = state->conditions; at != NULL; at = at->next)
        if (at->rule == RULE_STALE_LOCK && at->until_ns == INT64_MAX)
            at->since_ns = clock_when_ns(clock, clock_wall_ns(&state->db_clock, at->since_ns));
        else if (at->rule == RULE_LONG_JOB)
            at->alerted = true;
    state->db_clock = *clock;
    state->clock_was_stepped = true;
    state->disturbed_until_ns = event->t_ns + grace_ns(check);
}

/* More than so many within the window, up to now? A longer series is one condition. */
static void take_failure(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const struct alert_view *view = alert_view(check);
    int64_t index = state->failure_count++;

    state->failures_ns[index % CONTENTION_COUNT_MAX] = event->t_ns;
    if (index < view->contention_count)
        return;
    int64_t first_ns = state->failures_ns[(index - view->contention_count) % CONTENTION_COUNT_MAX];
    if (event->t_ns - first_ns >= view->contention_window_ns)
        return;
    for (struct condition *at = state->conditions; at != NULL; at = at->next) {
        if (at->rule == RULE_CONTENTION && at->until_ns >= event->t_ns) {
            at->until_ns = event->t_ns + view->contention_window_ns;
            return;
        }
    }
    condition_add(check, RULE_CONTENTION, view->contention_event, event->t_ns)->until_ns =
        event->t_ns + view->contention_window_ns;
}

/* ---- alerts ---- */

static bool find_rule(const struct check *check, const struct event *event, enum rule *rule)
{
    const char *alert = event_text(event, "alert");
    for (int i = 0; alert != NULL && i < RULE_COUNT; i++) {
        *rule = (enum rule)i;
        if (strcmp(rule_alert(check, *rule), alert) == 0)
            return true;
    }
    return false;
}

/* A job's own time of start is that of the transaction, and may be long before its commit. So an
 * alert about a job that runs is never too early. */
static bool is_cause(const struct condition *condition, const struct event *event)
{
    if (condition->rule == RULE_LONG_JOB)
        return true;
    return condition->since_ns <= event->t_ns && condition->until_ns >= condition->since_ns;
}

static void take_alert(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const char *subject = event_text(event, "subject");
    bool caused = false;
    enum rule rule;

    if (!find_rule(check, event, &rule) || subject == NULL)
        return;
    for (struct condition *at = state->conditions; at != NULL; at = at->next) {
        if (at->rule != rule || !subjects_match(rule, at->subject, subject) || !is_cause(at, event))
            continue;
        at->alerted = true;
        caused = true;
    }
    if (!caused && event->t_ns >= state->disturbed_until_ns)
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
    for (struct firing **at = &state->firing; *at != NULL;)
        if ((*at)->rule == rule && strcmp((*at)->subject, subject) == 0)
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

static void alerts_raised_event(struct check *check, const struct event *event)
{
    struct alerts_raised *state = check_state(check);
    const struct strategy *strategy = check_setup(check)->strategy;

    /* First the state up to now: an event that ends a condition does not excuse what came before.
     */
    if (event->t_ns != state->checked_ns || event_is(event, "alert.cleared"))
        pass_time(check, event->t_ns, event->step);
    watch_monitor(check, event);
    if (is_change_of(event, strategy->lock.table))
        take_lock(check, event);
    else if (is_change_of(event, strategy->jobs.table))
        take_job(check, event);
    else if (event_is(event, strategy->alerts.contention_event))
        take_failure(check, event);
    else if (event_is(event, "db.clock"))
        take_clock(check, event);
    else if (event_is(event, "alert"))
        take_alert(check, event);
    else if (event_is(event, "alert.cleared"))
        take_clear(check, event);
}

static void alerts_raised_end(struct check *check, const struct check_end *end)
{
    pass_time(check, end->last.t_ns, end->last.step);
}

const struct invariant invariant_alerts_raised = {
    .name = "alerts_raised",
    .verifies = "stale locks, jobs that run too long and contention are alerted about in time, and "
                "nothing else is",
    .does_not_verify = "alerts while a monitor is disturbed; that alerts are cleared; severities",
    .state_size = sizeof(struct alerts_raised),
    .applies = alerts_raised_applies,
    .event = alerts_raised_event,
    .end = alerts_raised_end,
};
