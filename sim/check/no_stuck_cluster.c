/* Verifies: at the end no resource is in a status that says that somebody is at work on it, or will
 * be, unless somebody is: a running job with a lock on it that has not expired. Where a strategy
 * has no jobs, nobody is at work at the end.
 *
 * Does not verify: that the status it was left in is the right one; how long it took; that the
 * holder of a live lock gets on. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"
#include "sim/core/walltext.h"

static bool no_stuck_cluster_applies(const struct strategy *strategy)
{
    bool has_jobs = strategy->jobs.table != NULL || strategy->lock.table != NULL;
    return views_have_resources(strategy) &&
           (!has_jobs || (views_have_jobs(strategy) && views_have_job_locks(strategy)));
}

static bool is_expired(struct check *check, const struct row *lock, const struct check_end *end)
{
    const struct check_setup *setup = check_setup(check);
    const char *column = setup->strategy->lock.expires_column;
    int64_t expires_ns;

    if (column == NULL || !walltext_parse(row_text(lock, column), &expires_ns))
        return false;
    return expires_ns <= check_db_ns(setup, end->last.t_ns);
}

/* Somebody works on it: a lock that lives, for a job that runs. */
static bool is_worked_on(struct check *check, const char *resource, const struct check_end *end)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct rows *rows = check_rows(check);

    if (strategy->jobs.table == NULL)
        return false;
    for (const struct row *lock = rows_first(rows, strategy->lock.table); lock; lock = lock->next) {
        const char *key = row_text(lock, strategy->lock.job_column);
        const struct row *job = rows_find(rows, strategy->jobs.table, key);
        if (strcmp(row_text(lock, strategy->lock.resource_column), resource) == 0 && job != NULL &&
            job_has_status(strategy, job, strategy->jobs.running) && !is_expired(check, lock, end))
            return true;
    }
    return false;
}

static void no_stuck_cluster_end(struct check *check, const struct check_end *end)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct resource_view *view = &strategy->resources;

    for (const struct row *row = rows_first(check_rows(check), view->table); row; row = row->next) {
        const char *name = row_text(row, view->status_column);
        const struct resource_status *status = resource_status_find(strategy, name);
        if (status == NULL)
            check_unknown(check, &end->last, "%s has a status that is not known: %s", row_key(row),
                          name);
        else if (status->in_progress && !is_worked_on(check, row_key(row), end))
            check_fail(check, &end->last,
                       "%s is stuck: it is %s at the end (%s), and nobody works "
                       "on it",
                       row_key(row), name, check_time_text(check, end->last.t_ns));
    }
}

const struct invariant invariant_no_stuck_cluster = {
    .name = "no_stuck_cluster",
    .verifies = "at the end no resource is in progress without a live lock and a running job",
    .does_not_verify = "that the status it was left in is the right one; how long it took",
    .applies = no_stuck_cluster_applies,
    .end = no_stuck_cluster_end,
};
