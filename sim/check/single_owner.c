/* Verifies: the accepted effects of two owners on one resource never interleave. An owner is one
 * run of one job by one life of a process. Once another owner has had an effect accepted, the
 * first gets none accepted any more; and no effect begins while another owner's is still in
 * progress.
 *
 * Does not verify: what an owner believes, or what the lock table says; whether an effect was
 * wanted, or followed the state machine; effects that the world refused; calls that only look. */
#include <string.h>

#include "sim/check/check.h"

struct owner {
    struct owner *next;
    const char *instance;
    const char *job;
    int64_t run;
    /* Its latest accepted effect, for the sentence. */
    const char *op;
    const char *part;
    int64_t effect_t_ns;
};

/* An accepted effect that has not ended. */
struct effect {
    struct effect *next;
    int64_t number;
    const struct owner *owner;
    const char *op;
    const char *part;
    int64_t since_ns;
};

struct resource {
    struct resource *next;
    const char *name;
    struct owner *owners;
    struct owner *current; /* had the latest accepted effect */
    struct effect *effects;
};

struct single_owner {
    struct resource *resources;
};

static const char *copy(struct check *check, const char *text)
{
    return arena_strdup(check_arena(check), text != NULL ? text : "");
}

static struct resource *resource_of(struct check *check, const char *name)
{
    struct single_owner *state = check_state(check);

    for (struct resource *resource = state->resources; resource; resource = resource->next)
        if (strcmp(resource->name, name) == 0)
            return resource;
    struct resource *resource = arena_alloc(check_arena(check), sizeof *resource);
    resource->name = copy(check, name);
    resource->next = state->resources;
    state->resources = resource;
    return resource;
}

static struct owner *owner_find(const struct resource *resource, const char *instance,
                                const char *job, int64_t run)
{
    for (struct owner *owner = resource->owners; owner; owner = owner->next)
        if (owner->run == run && strcmp(owner->instance, instance) == 0 &&
            strcmp(owner->job, job) == 0)
            return owner;
    return NULL;
}

static struct owner *owner_add(struct check *check, struct resource *resource, const char *instance,
                               const char *job, int64_t run)
{
    struct owner *owner = arena_alloc(check_arena(check), sizeof *owner);
    owner->instance = copy(check, instance);
    owner->job = copy(check, job);
    owner->run = run;
    owner->next = resource->owners;
    resource->owners = owner;
    return owner;
}

static const char *op_past(const char *op)
{
    if (strcmp(op, "create") == 0)
        return "created";
    if (strcmp(op, "destroy") == 0)
        return "destroyed";
    if (strcmp(op, "put") == 0)
        return "wrote";
    return strcmp(op, "scale") == 0 ? "scaled" : op;
}

static const char *op_present(const char *op)
{
    if (strcmp(op, "create") == 0)
        return "creating";
    if (strcmp(op, "destroy") == 0)
        return "destroying";
    if (strcmp(op, "put") == 0)
        return "writing";
    return strcmp(op, "scale") == 0 ? "scaling" : op;
}

static const struct effect *effect_of_another(const struct resource *resource,
                                              const struct owner *owner)
{
    for (const struct effect *effect = resource->effects; effect; effect = effect->next)
        if (effect->owner != owner)
            return effect;
    return NULL;
}

static void fail_overlap(struct check *check, const struct event *event,
                         const struct resource *resource, const struct owner *owner,
                         const struct effect *other)
{
    check_fail(check, event, "%s (job %s) %s %s of %s at %s while %s (job %s) was %s %s (since %s)",
               owner->instance, owner->job, op_past(owner->op), owner->part, resource->name,
               check_time_text(check, event->t_ns), other->owner->instance, other->owner->job,
               op_present(other->op), other->part, check_time_text(check, other->since_ns));
}

static void fail_return(struct check *check, const struct event *event,
                        const struct resource *resource, const struct owner *owner)
{
    const struct owner *other = resource->current;
    check_fail(check, event,
               "%s (job %s) %s %s of %s at %s after %s (job %s) had taken over (it %s %s at %s)",
               owner->instance, owner->job, op_past(owner->op), owner->part, resource->name,
               check_time_text(check, event->t_ns), other->instance, other->job, op_past(other->op),
               other->part, check_time_text(check, other->effect_t_ns));
}

static void effect_add(struct check *check, struct resource *resource, const struct owner *owner,
                       const struct event *event)
{
    struct effect *effect = arena_alloc(check_arena(check), sizeof *effect);
    effect->number = event_number(event, "effect", -1);
    effect->owner = owner;
    effect->op = owner->op;
    effect->part = owner->part;
    effect->since_ns = event->t_ns;
    effect->next = resource->effects;
    resource->effects = effect;
}

static void effect_start(struct check *check, const struct event *event)
{
    const char *name = event_text(event, "resource");
    const char *instance = event_text(event, "instance");
    const char *job = event_text(event, "job");
    if (name == NULL || instance == NULL || job == NULL) {
        check_unknown(check, event, "an effect without resource, instance or job: %s", event->line);
        return;
    }
    int64_t run = event_number(event, "run", 0);
    struct resource *resource = resource_of(check, name);
    struct owner *owner = owner_find(resource, instance, job, run);
    bool seen_before = owner != NULL;
    if (!seen_before)
        owner = owner_add(check, resource, instance, job, run);
    owner->op = copy(check, event_text(event, "op"));
    owner->part = copy(check, event_text(event, "part"));
    owner->effect_t_ns = event->t_ns;

    const struct effect *other = effect_of_another(resource, owner);
    if (other != NULL)
        fail_overlap(check, event, resource, owner, other);
    else if (seen_before && resource->current != owner)
        fail_return(check, event, resource, owner);
    resource->current = owner;
    effect_add(check, resource, owner, event);
}

static bool effect_remove(struct resource *resource, int64_t number)
{
    for (struct effect **at = &resource->effects; *at; at = &(*at)->next) {
        if ((*at)->number == number) {
            *at = (*at)->next;
            return true;
        }
    }
    return false;
}

/* An end without a start is that of a refused effect. */
static void effect_end(struct check *check, const struct event *event)
{
    struct single_owner *state = check_state(check);
    int64_t number = event_number(event, "effect", -1);

    for (struct resource *resource = state->resources; resource; resource = resource->next)
        if (effect_remove(resource, number))
            return;
}

static void single_owner_event(struct check *check, const struct event *event)
{
    if (event_is(event, "effect.end")) {
        effect_end(check, event);
        return;
    }
    if (!event_is(event, "effect.start"))
        return;
    const char *accepted = event_text(event, "accepted");
    if (accepted != NULL && strcmp(accepted, "yes") == 0)
        effect_start(check, event);
}

const struct invariant invariant_single_owner = {
    .name = "single_owner",
    .verifies = "accepted effects of two owners on one resource never interleave",
    .does_not_verify = "what owners believe, what the lock table says, effects that were refused",
    .state_size = sizeof(struct single_owner),
    .event = single_owner_event,
};
