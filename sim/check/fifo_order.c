/* Verifies: within one message group jobs start in the order in which they were submitted. When a
 * job starts, no job of its group that was submitted before it is still waiting for its first
 * start.
 *
 * Does not verify: the order of retries, which were submitted by nobody; the order in which jobs
 * end; that a job starts at all. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

static bool fifo_order_applies(const struct strategy *strategy)
{
    return views_have_jobs(strategy) &&
           watched_has(strategy, strategy->jobs.table, strategy->jobs.group_column);
}

static bool is_retry(const struct job_view *view, const struct row *job)
{
    return view->root_column != NULL && strcmp(row_text(job, view->root_column), row_key(job)) != 0;
}

/* The first job of the group, submitted before this one, that waits; NULL: none. Rows come in the
 * order in which they were inserted. */
static const struct row *overtaken(struct check *check, const struct row *started)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct job_view *view = &strategy->jobs;
    const char *group = row_text(started, view->group_column);

    for (const struct row *job = rows_first(check_rows(check), view->table); job != started;
         job = job->next)
        if (strcmp(row_text(job, view->group_column), group) == 0 && !is_retry(view, job) &&
            job_has_status(strategy, job, view->pending))
            return job;
    return NULL;
}

static void fifo_order_event(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct job_view *view = &strategy->jobs;

    if (!is_commit_of(event, view->table))
        return;
    const char *was = value_before(event, view->status_column);
    const char *key = event_text(event, watched_find(strategy, view->table)->key[0]);
    const struct row *job = key != NULL ? rows_find(check_rows(check), view->table, key) : NULL;
    if (job == NULL || was == NULL || strcmp(was, view->pending) != 0 ||
        !job_has_status(strategy, job, view->running) || is_retry(view, job))
        return;
    const struct row *other = overtaken(check, job);
    if (other != NULL)
        check_fail(check, event,
                   "job %s of group %s started at %s before job %s, which was "
                   "submitted earlier and still waits",
                   key, row_text(job, view->group_column), check_time_text(check, event->t_ns),
                   row_key(other));
}

const struct invariant invariant_fifo_order = {
    .name = "fifo_order",
    .verifies = "within one message group jobs start in the order of their submission",
    .does_not_verify = "the order of retries, and the order in which jobs end",
    .applies = fifo_order_applies,
    .event = fifo_order_event,
};
