/* Verifies: of a lock that is a column of what it locks: nobody takes it while somebody has it;
 * each time it is taken the version grows by exactly one, and nothing else changes the version; and
 * a row whose status says that it is over is locked by nobody.
 *
 * Does not verify: commits that a failover took back; that the holder knows of its lock or acts
 * within it; that the one who gives it back is the one who took it; how old a lock is. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

static bool version_counts_locks_applies(const struct strategy *strategy)
{
    const struct row_lock_view *view = &strategy->row_lock;
    return watched_has(strategy, view->table, view->lock_column) &&
           watched_has(strategy, view->table, view->version_column) &&
           watched_has(strategy, view->table, view->status_column);
}

/* One change of a row's lock. */
struct change {
    const char *key, *who;
    const char *lock_before, *lock; /* NULL: nobody's */
    int64_t version_before, version;
};

static int64_t number_before(const struct event *event, const char *column)
{
    struct event before = {.field_count = 1,
                           .fields = {{.key = column, .text = value_before(event, column)}}};
    return event_number(&before, column, 0);
}

static struct change read_change(const struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct row_lock_view *view = &strategy->row_lock;
    const char *key = event_text(event, watched_find(strategy, view->table)->key[0]);

    return (struct change){.key = key != NULL ? key : "a row",
                           .who = event->who != NULL ? event->who : "somebody",
                           .lock_before = value_before(event, view->lock_column),
                           .lock = event_text(event, view->lock_column),
                           .version_before = number_before(event, view->version_column),
                           .version = event_number(event, view->version_column, 0)};
}

static void judge_lock(struct check *check, const struct event *event, const struct change *change)
{
    const char *at = check_time_text(check, event->t_ns);
    bool is_taken = change->lock != NULL &&
                    (change->lock_before == NULL || strcmp(change->lock, change->lock_before) != 0);

    if (is_taken && change->lock_before != NULL)
        check_fail(check, event, "%s took the lock on %s at %s as %s, while %s had it", change->who,
                   change->key, at, change->lock, change->lock_before);
    else if (change->version != change->version_before + is_taken)
        check_fail(check, event, "%s changed the version of %s from %lld to %lld at %s, with %s",
                   change->who, change->key, (long long)change->version_before,
                   (long long)change->version, at, is_taken ? "one lock taken" : "no lock taken");
}

static void judge_status(struct check *check, const struct event *event,
                         const struct change *change)
{
    const struct row_lock_view *view = &check_setup(check)->strategy->row_lock;
    const char *status = event_text(event, view->status_column);

    for (const char *const *over = view->unlocked; status != NULL && *over != NULL; over++)
        if (change->lock != NULL && strcmp(status, *over) == 0)
            check_fail(check, event, "%s left %s %s at %s, and locked by %s", change->who,
                       change->key, status, check_time_text(check, event->t_ns), change->lock);
}

static void version_counts_locks_event(struct check *check, const struct event *event)
{
    if (!is_commit_of(event, check_setup(check)->strategy->row_lock.table))
        return;
    const char *op = event_text(event, "op");
    if (op == NULL || strcmp(op, "delete") == 0)
        return;
    struct change change = read_change(check, event);
    if (strcmp(op, "update") == 0)
        judge_lock(check, event, &change);
    judge_status(check, event, &change);
}

const struct invariant invariant_version_counts_locks = {
    .name = "version_counts_locks",
    .verifies = "a lock in a row is taken only when it is free, each time with the next version, "
                "and what is over is not locked",
    .does_not_verify = "that a holder knows of its lock or acts within it; who gives it back",
    .applies = version_counts_locks_applies,
    .event = version_counts_locks_event,
};
