/* Verifies: tokens only grow. The tokens of accepted effects on one resource of the world never go
 * down; the token that the database keeps for a resource never goes down; and every lock on a
 * resource has a higher token than all locks on it before.
 *
 * Does not verify: that a token is sent at all (token 0 is none); that the world refuses what is
 * stale, beyond that nothing stale was accepted; that two effects with one token are of one owner
 * (single_owner does). */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

struct highest {
    struct highest *next;
    const char *name;
    int64_t token;
};

struct fencing_monotonic {
    struct highest *effects; /* by resource of the world */
    struct highest *locks;   /* by resource of the database */
};

static struct highest *highest_of(struct check *check, struct highest **list, const char *name)
{
    for (struct highest *highest = *list; highest != NULL; highest = highest->next)
        if (strcmp(highest->name, name) == 0)
            return highest;
    struct highest *highest = arena_alloc(check_arena(check), sizeof *highest);
    highest->name = arena_strdup(check_arena(check), name);
    highest->next = *list;
    *list = highest;
    return highest;
}

static void take_effect(struct check *check, const struct event *event)
{
    struct fencing_monotonic *state = check_state(check);
    const char *accepted = event_text(event, "accepted");
    const char *resource = event_text(event, "resource");
    int64_t token = event_number(event, "token", 0);

    if (accepted == NULL || strcmp(accepted, "yes") != 0 || resource == NULL || token == 0)
        return;
    struct highest *highest = highest_of(check, &state->effects, resource);
    if (token < highest->token) {
        check_fail(check, event,
                   "an effect on %s with token %lld was accepted at %s, after one with token %lld",
                   resource, (long long)token, check_time_text(check, event->t_ns),
                   (long long)highest->token);
        return;
    }
    highest->token = token;
}

static void take_resource(struct check *check, const struct event *event, const char *column)
{
    const char *was = value_before(event, column);
    const char *op = event_text(event, "op");
    int64_t now = event_number(event, column, 0);
    struct event before = {.field_count = 1, .fields = {{.key = column, .text = was}}};

    if (was == NULL || op == NULL || strcmp(op, "update") != 0)
        return;
    if (now < event_number(&before, column, 0))
        check_fail(check, event, "%s set a token from %s back to %lld at %s",
                   event->who != NULL ? event->who : "somebody", was, (long long)now,
                   check_time_text(check, event->t_ns));
}

static void take_lock(struct check *check, const struct event *event, const struct lock_view *view)
{
    struct fencing_monotonic *state = check_state(check);
    const char *op = event_text(event, "op");
    const char *resource = event_text(event, view->resource_column);
    int64_t token = event_number(event, view->token_column, 0);

    if (op == NULL || strcmp(op, "insert") != 0 || resource == NULL || token == 0)
        return;
    struct highest *highest = highest_of(check, &state->locks, resource);
    if (token <= highest->token) {
        check_fail(check, event,
                   "%s took the lock on %s at %s with token %lld, and there had been one with %lld",
                   event->who != NULL ? event->who : "somebody", resource,
                   check_time_text(check, event->t_ns), (long long)token,
                   (long long)highest->token);
        return;
    }
    highest->token = token;
}

static void fencing_monotonic_event(struct check *check, const struct event *event)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct resource_view *resources = &strategy->resources;

    if (event_is(event, "effect.start"))
        take_effect(check, event);
    if (resources->token_column != NULL && is_commit_of(event, resources->table))
        take_resource(check, event, resources->token_column);
    if (strategy->lock.token_column != NULL && is_commit_of(event, strategy->lock.table))
        take_lock(check, event, &strategy->lock);
}

const struct invariant invariant_fencing_monotonic = {
    .name = "fencing_monotonic",
    .verifies = "tokens of accepted effects, of a resource and of its locks only grow",
    .does_not_verify = "that a token is sent at all",
    .state_size = sizeof(struct fencing_monotonic),
    .event = fencing_monotonic_event,
};
