/* Verifies: at every committed state a lock is held for a job that is running, on the resource of
 * that job, and the resource has the status that this type of job gives it. At the end no job is
 * running without a lock.
 *
 * Does not verify: that the holder is alive or acts; that a job without a lock does nothing
 * meanwhile (single_owner does); for how long a running job may be without its lock before the
 * end, since a release in several commits, or a loss that is noticed later, has such states. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

/* Near the end a job without a lock may just be in the middle of its release. */
#define RELEASE_NS_MAX (10 * NS_PER_MIN)

/* When the lock of a job went. */
struct loss {
    struct loss *next;
    const char *job;
    int64_t t_ns;
};

struct lock_matches_job {
    struct loss *losses;
};

static bool lock_matches_job_applies(const struct strategy *strategy)
{
    return views_have_jobs(strategy) && views_have_resources(strategy) &&
           views_have_job_locks(strategy);
}

static void judge_lock(struct check *check, const struct row *lock, const struct event *last)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const char *resource_key = row_text(lock, strategy->lock.resource_column);
    const char *job_key = row_text(lock, strategy->lock.job_column);
    const struct row *job = rows_find(check_rows(check), strategy->jobs.table, job_key);
    const struct row *resource =
        rows_find(check_rows(check), strategy->resources.table, resource_key);
    const char *at = check_time_text(check, last->t_ns);

    if (job == NULL || resource == NULL) {
        check_fail(check, last, "the lock on %s is held for job %s at %s, and there is no such %s",
                   resource_key, job_key, at, job == NULL ? "job" : "resource");
        return;
    }
    if (!job_has_status(strategy, job, strategy->jobs.running)) {
        check_fail(check, last, "the lock on %s is held for job %s at %s, which is %s",
                   resource_key, job_key, at, row_text(job, strategy->jobs.status_column));
        return;
    }
    const char *type_name = row_text(job, strategy->jobs.type_column);
    const struct job_type *type = job_type_find(strategy, type_name);
    const char *status = row_text(resource, strategy->resources.status_column);
    if (type == NULL)
        check_unknown(check, last, "job %s has the type %s, which is not known", job_key,
                      type_name);
    else if (strcmp(row_text(job, strategy->jobs.resource_column), resource_key) != 0)
        check_fail(check, last, "the lock on %s is held for job %s at %s, which is for %s",
                   resource_key, job_key, at, row_text(job, strategy->jobs.resource_column));
    else if (strcmp(status, type->in_progress) != 0)
        check_fail(check, last, "%s job %s holds the lock on %s at %s while its status is %s",
                   type_name, job_key, resource_key, at, status);
}

static void lock_matches_job_committed(struct check *check, const struct event *last)
{
    const char *table = check_setup(check)->strategy->lock.table;

    for (const struct row *lock = rows_first(check_rows(check), table); lock; lock = lock->next)
        judge_lock(check, lock, last);
}

static struct loss *loss_of(struct check *check, const char *job)
{
    struct lock_matches_job *state = check_state(check);

    for (struct loss *loss = state->losses; loss != NULL; loss = loss->next)
        if (strcmp(loss->job, job) == 0)
            return loss;
    struct loss *loss = arena_alloc(check_arena(check), sizeof *loss);
    loss->job = arena_strdup(check_arena(check), job);
    loss->next = state->losses;
    state->losses = loss;
    return loss;
}

static void lock_matches_job_event(struct check *check, const struct event *event)
{
    const struct lock_view *view = &check_setup(check)->strategy->lock;
    const char *op = event_text(event, "op");

    if (!is_change_of(event, view->table) || op == NULL || strcmp(op, "delete") != 0)
        return;
    const char *job = event_text(event, view->job_column);
    if (job != NULL)
        loss_of(check, job)->t_ns = event->t_ns;
}

static void lock_matches_job_end(struct check *check, const struct check_end *end)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct rows *rows = check_rows(check);

    for (const struct row *job = rows_first(rows, strategy->jobs.table); job; job = job->next) {
        if (!job_has_status(strategy, job, strategy->jobs.running) ||
            job_lock(rows, strategy, row_key(job)) != NULL)
            continue;
        int64_t since_ns = loss_of(check, row_key(job))->t_ns;
        if (!end->at_rest && end->last.t_ns - since_ns < RELEASE_NS_MAX)
            continue;
        check_fail(check, &end->last, "job %s is %s at the end and has had no lock since %s",
                   row_key(job), strategy->jobs.running, check_time_text(check, since_ns));
    }
}

const struct invariant invariant_lock_matches_job = {
    .name = "lock_matches_job",
    .verifies = "a lock's job is running and its resource in that job's status; at the end no job "
                "runs without a lock",
    .does_not_verify =
        "that the holder is alive; how long a job is without its lock before the end",
    .state_size = sizeof(struct lock_matches_job),
    .applies = lock_matches_job_applies,
    .event = lock_matches_job_event,
    .committed = lock_matches_job_committed,
    .end = lock_matches_job_end,
};
