/* Verifies: every submitted job is answered. At the end it has succeeded, or failed with a code. A
 * job that failed without ever having run was refused, and then its resource had a status from
 * which such a job may not start. Whatever else became of it, it is lost: it was dropped although
 * its resource would have allowed it, or nobody ever came back to it.
 *
 * Does not verify: that a job which ran and failed had to fail, or was tried often enough; that
 * one which succeeded did anything. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

struct job {
    struct job *next;
    const char *key;
    bool started;
    bool gone;    /* its row was deleted */
    bool refused; /* in the commit that is being read */
};

struct no_lost_job {
    struct job *jobs; /* the latest first */
};

static bool no_lost_job_applies(const struct strategy *strategy)
{
    return views_have_jobs(strategy) && views_have_resources(strategy) &&
           watched_has(strategy, strategy->jobs.table, strategy->jobs.code_column);
}

static struct job *job_of(struct check *check, const char *key)
{
    struct no_lost_job *state = check_state(check);

    for (struct job *job = state->jobs; job != NULL; job = job->next)
        if (strcmp(job->key, key) == 0)
            return job;
    struct job *job = arena_alloc(check_arena(check), sizeof *job);
    job->key = arena_strdup(check_arena(check), key);
    job->next = state->jobs;
    state->jobs = job;
    return job;
}

static void no_lost_job_event(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct job_view *view = &strategy->jobs;

    if (!is_change_of(event, view->table))
        return;
    const char *key = event_text(event, watched_find(strategy, view->table)->key[0]);
    const char *status = event_text(event, view->status_column);
    const char *op = event_text(event, "op");
    if (key == NULL || status == NULL || op == NULL) {
        check_unknown(check, event, "a job that cannot be read: %s", event->line);
        return;
    }
    struct job *job = job_of(check, key);
    job->gone = strcmp(op, "delete") == 0;
    job->started |= strcmp(status, view->running) == 0;
    job->refused = !job->started && strcmp(status, view->failed) == 0;
}

/* Refused: was there a reason? */
static void judge_refusal(struct check *check, const struct job *job, const struct event *last)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct rows *rows = check_rows(check);
    const struct row *row = rows_find(rows, strategy->jobs.table, job->key);
    if (row == NULL)
        return;
    const char *resource_key = row_text(row, strategy->jobs.resource_column);
    const struct row *resource = rows_find(rows, strategy->resources.table, resource_key);
    const struct job_type *type =
        job_type_find(strategy, row_text(row, strategy->jobs.type_column));
    if (resource == NULL || type == NULL)
        return;
    const char *status = row_text(resource, strategy->resources.status_column);
    if (job_may_start(type, status))
        check_fail(check, last,
                   "%s job %s is lost: it was ended as %s (%s) at %s without having run, though %s "
                   "is %s, which allows it",
                   type->name, job->key, strategy->jobs.failed,
                   row_text(row, strategy->jobs.code_column), check_time_text(check, last->t_ns),
                   resource_key, status);
}

static void no_lost_job_committed(struct check *check, const struct event *last)
{
    struct no_lost_job *state = check_state(check);

    for (struct job *job = state->jobs; job != NULL; job = job->next) {
        if (job->refused)
            judge_refusal(check, job, last);
        job->refused = false;
    }
}

/* A job that still has its lock when the time is up may yet end. */
static bool is_under_way(struct check *check, const struct row *row)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    return views_have_job_locks(strategy) &&
           job_has_status(strategy, row, strategy->jobs.running) &&
           job_lock(check_rows(check), strategy, row_key(row)) != NULL;
}

static void judge_end(struct check *check, const struct row *row, const struct check_end *end)
{
    const struct job_view *view = &check_setup(check)->strategy->jobs;
    const char *status = row_text(row, view->status_column);
    const char *type = row_text(row, view->type_column);

    if (strcmp(status, view->succeeded) == 0)
        return;
    if (strcmp(status, view->failed) != 0) {
        if (!end->at_rest && is_under_way(check, row))
            return;
        check_fail(check, &end->last, "%s job %s is lost: it is still %s at the end (%s)", type,
                   row_key(row), status, check_time_text(check, end->last.t_ns));
    } else if (row_text(row, view->code_column)[0] == '\0') {
        check_fail(check, &end->last, "%s job %s is lost: it is %s at the end, without a code",
                   type, row_key(row), status);
    }
}

static void no_lost_job_end(struct check *check, const struct check_end *end)
{
    struct no_lost_job *state = check_state(check);
    const char *table = check_setup(check)->strategy->jobs.table;

    for (const struct row *row = rows_first(check_rows(check), table); row; row = row->next)
        judge_end(check, row, end);
    for (const struct job *job = state->jobs; job != NULL; job = job->next)
        if (job->gone)
            check_fail(check, &end->last, "job %s is lost: its row was deleted", job->key);
}

const struct invariant invariant_no_lost_job = {
    .name = "no_lost_job",
    .verifies =
        "every job ends succeeded, failed with a code, or refused for its resource's status",
    .does_not_verify = "that a job which ran and failed had to fail",
    .state_size = sizeof(struct no_lost_job),
    .applies = no_lost_job_applies,
    .event = no_lost_job_event,
    .committed = no_lost_job_committed,
    .end = no_lost_job_end,
};
