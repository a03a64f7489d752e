/* Verifies: nobody takes the lock that is a column of a row before the row is due, by the
 * database's clock at the commit.
 *
 * Does not verify: commits that a failover took back; that what is done with the lock is done soon;
 * that anybody comes when the row is due; the clock itself. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"
#include "sim/core/walltext.h"

static bool not_before_due_applies(const struct strategy *strategy)
{
    const struct row_lock_view *view = &strategy->row_lock;
    return watched_has(strategy, view->table, view->lock_column) &&
           watched_has(strategy, view->table, view->due_column);
}

static bool is_taken(const struct event *event, const char *lock_column)
{
    const char *op = event_text(event, "op");
    const char *lock = event_text(event, lock_column);
    const char *before = value_before(event, lock_column);

    return op != NULL && strcmp(op, "update") == 0 && lock != NULL &&
           (before == NULL || strcmp(lock, before) != 0);
}

static void not_before_due_event(struct check *check, const struct event *event)
{
    const struct check_setup *setup = check_setup(check);
    const struct row_lock_view *view = &setup->strategy->row_lock;
    int64_t due_ns;

    if (!is_commit_of(event, view->table) || !is_taken(event, view->lock_column))
        return;
    const char *due = event_text(event, view->due_column);
    if (due == NULL)
        return;
    if (!walltext_parse(due, &due_ns)) {
        check_unknown(check, event, "a date that cannot be read: %s", event->line);
        return;
    }
    const char *key = event_text(event, watched_find(setup->strategy, view->table)->key[0]);
    if (due_ns > check_db_ns(setup, event->t_ns))
        check_fail(check, event, "%s took the lock on %s at %s, and it is due at %s",
                   event->who != NULL ? event->who : "somebody", key != NULL ? key : "a row",
                   check_time_text(check, event->t_ns),
                   check_time_text(check, check_when_ns(setup, due_ns)));
}

const struct invariant invariant_not_before_due = {
    .name = "not_before_due",
    .verifies = "nobody takes the lock in a row before the row is due, by the database's clock",
    .does_not_verify = "that anybody comes when the row is due; the clock itself",
    .applies = not_before_due_applies,
    .event = not_before_due_event,
};
