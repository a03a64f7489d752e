/* The registry of invariants, and the set of them that watches one run. */
#include "sim/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/duration.h"

#define SENTENCE_SIZE_MAX 1024

#define INVARIANT(name) extern const struct invariant invariant_##name;
#include "sim/check/invariants.def"
#undef INVARIANT

const struct invariant *const invariants[] = {
#define INVARIANT(name) &invariant_##name,
#include "sim/check/invariants.def"
#undef INVARIANT
    NULL,
};

struct check {
    const struct invariant *invariant;
    const struct check_setup *setup;
    const struct rows *rows;
    struct arena *arena;
    void *state;
    struct finding finding;
};

struct checks {
    struct check_setup setup;
    struct check *list;
    size_t count;
    struct arena *arena;
    struct rows *rows;
    bool in_commit;        /* row events came, and perhaps more of the same commit will */
    struct event last_row; /* step and time alone */
};

const struct invariant *invariant_find(const char *name)
{
    FP_ASSERT(name != NULL);
    for (size_t i = 0; invariants[i] != NULL; i++)
        if (strcmp(invariants[i]->name, name) == 0)
            return invariants[i];
    return NULL;
}

struct arena *check_arena(struct check *check)
{
    return check->arena;
}

void *check_state(struct check *check)
{
    FP_ASSERT(check->state != NULL);
    return check->state;
}

const struct check_setup *check_setup(const struct check *check)
{
    return check->setup;
}

const struct rows *check_rows(const struct check *check)
{
    return check->rows;
}

const char *check_time_text(struct check *check, int64_t t_ns)
{
    char text[DURATION_TEXT_SIZE];

    return arena_strdup(check->arena, duration_text(t_ns, text));
}

/* The first finding of a verdict stays; a worse verdict replaces it. */
static void find(struct check *check, enum verdict verdict, const struct event *event,
                 const char *format, va_list args)
{
    char sentence[SENTENCE_SIZE_MAX];

    FP_ASSERT(event != NULL);
    if (check->finding.verdict >= verdict)
        return;
    vsnprintf(sentence, sizeof sentence, format, args);
    check->finding.verdict = verdict;
    check->finding.step = event->step;
    check->finding.kind = arena_strdup(check->arena, event->kind != NULL ? event->kind : "");
    check->finding.sentence = arena_strdup(check->arena, sentence);
}

void check_fail(struct check *check, const struct event *event, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    find(check, VERDICT_FAIL, event, format, args);
    va_end(args);
}

void check_unknown(struct check *check, const struct event *event, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    find(check, VERDICT_UNKNOWN, event, format, args);
    va_end(args);
}

static void check_init(struct checks *checks, struct check *check,
                       const struct invariant *invariant)
{
    FP_ASSERT(invariant->event != NULL || invariant->committed != NULL || invariant->end != NULL);
    check->invariant = invariant;
    check->setup = &checks->setup;
    check->rows = checks->rows;
    check->arena = arena_new();
    if (invariant->state_size > 0)
        check->state = arena_alloc(check->arena, invariant->state_size);
}

struct checks *checks_new(const struct invariant *const *list, size_t count,
                          const struct check_setup *setup)
{
    FP_ASSERT(setup->strategy != NULL);
    struct checks *checks = fp_alloc(sizeof *checks);
    checks->setup = *setup;
    checks->arena = arena_new();
    checks->rows = rows_new(checks->arena, setup->strategy);
    checks->list = fp_alloc((count + 1) * sizeof checks->list[0]);
    for (size_t i = 0; i < count; i++)
        if (list[i]->applies == NULL || list[i]->applies(setup->strategy))
            check_init(checks, &checks->list[checks->count++], list[i]);
    return checks;
}

void checks_free(struct checks *checks)
{
    if (checks == NULL)
        return;
    for (size_t i = 0; i < checks->count; i++)
        arena_free(checks->list[i].arena);
    arena_free(checks->arena);
    free(checks->list);
    free(checks);
}

/* A check that has failed says no more: what follows a violation is no longer the system's
 * doing. */
static bool is_asked(const struct check *check)
{
    return check->finding.verdict != VERDICT_FAIL;
}

/* The changes of one commit come one by one, all in one step and with nothing between them. */
static void end_commit(struct checks *checks)
{
    if (!checks->in_commit)
        return;
    checks->in_commit = false;
    for (size_t i = 0; i < checks->count; i++) {
        struct check *check = &checks->list[i];
        if (check->invariant->committed != NULL && is_asked(check))
            check->invariant->committed(check, &checks->last_row);
    }
}

int64_t check_db_ns(const struct check_setup *setup, int64_t t_ns)
{
    return setup->db_epoch_ns + clock_wall_ns(&setup->db_clock, t_ns);
}

int64_t check_when_ns(const struct check_setup *setup, int64_t db_ns)
{
    return clock_when_ns(&setup->db_clock, db_ns - setup->db_epoch_ns);
}

static void take_clock(struct checks *checks, const struct event *event)
{
    checks->setup.db_clock =
        (struct machine_clock){.wall_ahead_ns = event_number(event, "ahead_ns", 0),
                               .since_ns = event->t_ns,
                               .rate_ppm = event_number(event, "rate_ppm", 0)};
}

void checks_event(void *self, const struct event *event)
{
    struct checks *checks = self;
    bool is_row = event_is(event, "row");

    if (!is_row || event->step != checks->last_row.step)
        end_commit(checks);
    if (event_is(event, "db.clock"))
        take_clock(checks, event);
    rows_event(checks->rows, event);
    for (size_t i = 0; i < checks->count; i++) {
        struct check *check = &checks->list[i];
        if (check->invariant->event != NULL && is_asked(check))
            check->invariant->event(check, event);
    }
    if (!is_row)
        return;
    checks->in_commit = true;
    checks->last_row = (struct event){.step = event->step, .t_ns = event->t_ns};
}

void checks_end(struct checks *checks, const struct check_end *end)
{
    end_commit(checks);
    for (size_t i = 0; i < checks->count; i++) {
        struct check *check = &checks->list[i];
        if (check->invariant->end != NULL && is_asked(check))
            check->invariant->end(check, end);
    }
}

enum verdict checks_verdict(const struct checks *checks)
{
    enum verdict worst = VERDICT_PASS;
    for (size_t i = 0; i < checks->count; i++)
        if (checks->list[i].finding.verdict > worst)
            worst = checks->list[i].finding.verdict;
    return worst;
}

const struct finding *checks_first(const struct checks *checks, enum verdict verdict,
                                   const struct invariant **which)
{
    const struct check *first = NULL;

    for (size_t i = 0; i < checks->count; i++) {
        const struct check *check = &checks->list[i];
        if (check->finding.verdict != verdict)
            continue;
        if (first == NULL || check->finding.step < first->finding.step)
            first = check;
    }
    if (first == NULL)
        return NULL;
    if (which != NULL)
        *which = first->invariant;
    return &first->finding;
}
