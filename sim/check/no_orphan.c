/* Verifies: at rest every part in the cloud was made for a resource that the database has, in a
 * status in which it may have parts. And no create ever meets a part that was made for another
 * resource: two rows with one name.
 *
 * Does not verify: that a resource has all the parts that its status promises; what is in the
 * cloud when the run does not come to rest; objects in the artifact store. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

/* What the cloud has at the end, as the harness reports it. */
struct part {
    struct part *next;
    const char *name;
    const char *resource; /* of the cloud */
    const char *maker;    /* the key of the database's resource */
};

struct no_orphan {
    struct part *parts;
};

static bool no_orphan_applies(const struct strategy *strategy)
{
    return views_have_resources(strategy);
}

static const char *copy(struct check *check, const char *text)
{
    return arena_strdup(check_arena(check), text != NULL ? text : "");
}

/* Besides its name every field is a part, and for whom it was made. */
static void take_resource(struct check *check, const struct event *event)
{
    struct no_orphan *state = check_state(check);

    for (int i = 0; i < event->field_count; i++) {
        if (strcmp(event->fields[i].key, "resource") == 0)
            continue;
        struct part *part = arena_alloc(check_arena(check), sizeof *part);
        part->name = copy(check, event->fields[i].key);
        part->resource = copy(check, event_text(event, "resource"));
        part->maker = copy(check, event->fields[i].text);
        part->next = state->parts;
        state->parts = part;
    }
}

static void judge_create(struct check *check, const struct event *event)
{
    const char *maker = event_text(event, "made_by");
    const char *creator = event_text(event, "cluster");
    const char *op = event_text(event, "op");

    if (maker == NULL || creator == NULL || op == NULL || strcmp(op, "create") != 0 ||
        strcmp(maker, creator) == 0)
        return;
    check_fail(check, event, "%s wanted to create %s of %s for %s at %s and found what %s had left",
               event->who != NULL ? event->who : "somebody", event_text(event, "part"),
               event_text(event, "resource"), creator, check_time_text(check, event->t_ns), maker);
}

static void no_orphan_event(struct check *check, const struct event *event)
{
    if (event_is(event, "world.resource"))
        take_resource(check, event);
    else if (event_is(event, "effect.start"))
        judge_create(check, event);
}

static void judge_part(struct check *check, const struct part *part, const struct event *last)
{
    const struct strategy *strategy = check_setup(check)->strategy;
    const struct resource_view *view = &strategy->resources;
    const struct row *row = rows_find(check_rows(check), view->table, part->maker);

    if (row == NULL) {
        check_fail(check, last, "%s of %s is an orphan: it was made for %s, which does not exist",
                   part->name, part->resource, part->maker);
        return;
    }
    const char *name = row_text(row, view->status_column);
    const struct resource_status *status = resource_status_find(strategy, name);
    if (status != NULL && !status->has_parts)
        check_fail(check, last, "%s of %s is an orphan: it was made for %s, which is %s at the end",
                   part->name, part->resource, part->maker, name);
}

static void no_orphan_end(struct check *check, const struct check_end *end)
{
    const struct no_orphan *state = check_state(check);

    for (const struct part *part = state->parts; end->at_rest && part; part = part->next)
        judge_part(check, part, &end->last);
}

const struct invariant invariant_no_orphan = {
    .name = "no_orphan",
    .verifies = "at rest every part in the cloud belongs to a resource that may have it; no create "
                "meets a leftover of another",
    .does_not_verify = "that a resource has all the parts that its status promises",
    .state_size = sizeof(struct no_orphan),
    .applies = no_orphan_applies,
    .event = no_orphan_event,
    .end = no_orphan_end,
};
