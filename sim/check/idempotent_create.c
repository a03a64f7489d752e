/* Verifies: for one idempotency key there is one created row at any committed state, and every
 * answer that a caller has for the key names that same row, which exists and was made for what the
 * caller asked for.
 *
 * Does not verify: that a caller gets an answer at all; what a caller is told instead of an answer
 * (an error, a conflict); that two keys of one caller are not the same request. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/views.h"

struct answer {
    struct answer *next;
    const char *key, *id;
    const char *who;
    int64_t t_ns;
};

struct idempotent_create {
    struct answer *answers; /* the first for each key */
    bool is_dirty;          /* rows have changed in the commit that is being read */
};

static bool idempotent_create_applies(const struct strategy *strategy)
{
    const struct create_view *view = &strategy->creates;
    return view->answer_event != NULL && watched_has(strategy, view->table, view->key_column);
}

static const struct answer *answer_find(const struct idempotent_create *state, const char *key)
{
    for (const struct answer *answer = state->answers; answer != NULL; answer = answer->next)
        if (strcmp(answer->key, key) == 0)
            return answer;
    return NULL;
}

static void answer_add(struct check *check, const struct event *event, const char *key,
                       const char *id)
{
    struct idempotent_create *state = check_state(check);
    struct arena *arena = check_arena(check);
    struct answer *answer = arena_alloc(arena, sizeof *answer);

    *answer = (struct answer){.next = state->answers,
                              .key = arena_strdup(arena, key),
                              .id = arena_strdup(arena, id),
                              .who = arena_strdup(arena, event->who),
                              .t_ns = event->t_ns};
    state->answers = answer;
}

/* Does the row exist, and is it what was asked for? */
static void judge_row(struct check *check, const struct event *event, const char *key,
                      const char *id)
{
    const struct create_view *view = &check_setup(check)->strategy->creates;
    const struct row *row = rows_find(check_rows(check), view->table, id);
    const char *asked = event_text(event, "content");

    if (row == NULL || strcmp(row_text(row, view->key_column), key) != 0)
        check_fail(check, event, "%s was answered %s for key %s at %s, and there is no such row",
                   event->who, id, key, check_time_text(check, event->t_ns));
    else if (view->content_column != NULL && asked != NULL &&
             strcmp(row_text(row, view->content_column), asked) != 0)
        check_fail(check, event,
                   "%s asked for %s with key %s and was answered %s at %s, which was made for %s",
                   event->who, asked, key, id, check_time_text(check, event->t_ns),
                   row_text(row, view->content_column));
}

static void judge_answer(struct check *check, const struct event *event)
{
    const char *key = event_text(event, "key");
    const char *id = event_text(event, "id");

    if (key == NULL || id == NULL || event->who == NULL) {
        check_unknown(check, event, "an answer that cannot be read: %s", event->line);
        return;
    }
    const struct answer *first = answer_find(check_state(check), key);
    if (first != NULL && strcmp(first->id, id) != 0)
        check_fail(check, event,
                   "%s was answered %s for key %s at %s, and %s was answered %s at %s", event->who,
                   id, key, check_time_text(check, event->t_ns), first->who, first->id,
                   check_time_text(check, first->t_ns));
    else
        judge_row(check, event, key, id);
    if (first == NULL)
        answer_add(check, event, key, id);
}

static void idempotent_create_event(struct check *check, const struct event *event)
{
    const struct create_view *view = &check_setup(check)->strategy->creates;
    struct idempotent_create *state = check_state(check);

    if (is_change_of(event, view->table))
        state->is_dirty = true;
    else if (event_is(event, view->answer_event))
        judge_answer(check, event);
}

static void idempotent_create_committed(struct check *check, const struct event *last)
{
    const struct create_view *view = &check_setup(check)->strategy->creates;
    struct idempotent_create *state = check_state(check);

    if (!state->is_dirty)
        return;
    state->is_dirty = false;
    for (const struct row *a = rows_first(check_rows(check), view->table); a; a = a->next)
        for (const struct row *b = a->next; b; b = b->next)
            if (strcmp(row_text(a, view->key_column), row_text(b, view->key_column)) == 0)
                check_fail(check, last, "key %s has made two rows of %s at %s: %s and %s",
                           row_text(a, view->key_column), view->table,
                           check_time_text(check, last->t_ns), row_key(a), row_key(b));
}

const struct invariant invariant_idempotent_create = {
    .name = "idempotent_create",
    .verifies =
        "an idempotency key makes one row, and every answer for it names that row, made for "
        "what was asked",
    .does_not_verify = "that a caller gets an answer at all, or what it is told instead",
    .state_size = sizeof(struct idempotent_create),
    .applies = idempotent_create_applies,
    .event = idempotent_create_event,
    .committed = idempotent_create_committed,
};
