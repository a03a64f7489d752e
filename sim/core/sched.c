#include "sim/core/sched.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/hash.h"

enum fiber_state {
    FIBER_READY,
    FIBER_WAITING, /* for a wake, a timer, or both */
    FIBER_ENDED,
};

#define NO_TIMER INT64_MAX

struct fiber {
    char *name;
    struct proc *proc;
    struct context *context;
    enum fiber_state state;
    fiber_body *body;
    void *arg;
    void *data;
    int64_t timer_ns; /* NO_TIMER: none */
    int64_t timer_sequence;
    bool idle;
    bool woken; /* by fiber_wake, not by its timer */
    bool wakeable;
    const char *why;
    uint32_t priority; /* with pct */
    int64_t resume_count;
};

struct proc {
    char *name;
    struct arena *arena;
    void *data;
    int64_t paused_until_ns;
    int fiber_count; /* not ended */
    bool crashed;
};

struct sched {
    struct choice_stream *schedule, *slow;
    uint32_t slowness_per_million;
    bool by_priority;
    struct pct pct;
    int64_t decision_count;
    size_t fiber_count_most;
    struct sched_hooks hooks;
    struct context_pool *contexts;
    struct proc *procs[SCHED_PROC_COUNT_MAX];
    size_t proc_count;
    struct fiber *fibers[SCHED_FIBER_COUNT_MAX];
    size_t fiber_count;
    struct fiber *current, *last;
    int64_t now_ns;
    int64_t step;
    int64_t timer_sequence;
    bool stopping;
};

struct sched *sched_new(struct context_pool *contexts, struct choices *choices,
                        const struct sched_hooks *hooks)
{
    struct sched *sched = fp_alloc(sizeof *sched);
    sched->schedule = choices_stream(choices, "schedule");
    sched->slow = choices_stream(choices, "slow");
    sched->hooks = *hooks;
    sched->contexts = contexts;
    return sched;
}

static void fiber_free(struct sched *sched, struct fiber *fiber)
{
    if (fiber->context)
        context_drop(sched->contexts, fiber->context);
    free(fiber->name);
    free(fiber);
}

void sched_free(struct sched *sched)
{
    if (!sched)
        return;
    FP_ASSERT(!sched->current);
    for (size_t i = 0; i < sched->fiber_count; i++)
        fiber_free(sched, sched->fibers[i]);
    for (size_t i = 0; i < sched->proc_count; i++) {
        arena_free(sched->procs[i]->arena);
        free(sched->procs[i]->name);
        free(sched->procs[i]);
    }
    free(sched);
}

void sched_stop(struct sched *sched)
{
    sched->stopping = true;
}

int64_t sched_now_ns(const struct sched *sched)
{
    return sched->now_ns;
}

int64_t sched_step(const struct sched *sched)
{
    return sched->step;
}

struct fiber *sched_current(const struct sched *sched)
{
    return sched->current;
}

void sched_set_slowness(struct sched *sched, uint32_t per_million)
{
    FP_ASSERT(per_million <= 1000000);
    sched->slowness_per_million = per_million;
}

void sched_set_pct(struct sched *sched, struct choices *choices, uint32_t depth,
                   uint32_t decision_count_most)
{
    FP_ASSERT(sched->fiber_count == 0);
    sched->by_priority = true;
    pct_init(&sched->pct, choices_stream(choices, "pct"), depth, decision_count_most);
}

int64_t sched_decision_count(const struct sched *sched)
{
    return sched->decision_count;
}

int64_t sched_fiber_count_most(const struct sched *sched)
{
    return (int64_t)sched->fiber_count_most;
}

static uint64_t fiber_hash(const struct fiber *fiber)
{
    uint64_t hash = hash_text(fiber->state, fiber->name);
    hash = hash_number(hash, fiber->resume_count);
    hash = hash_number(hash, fiber->timer_ns);
    return hash_number(hash, fiber->proc->paused_until_ns);
}

uint64_t sched_hash(const struct sched *sched)
{
    uint64_t sum = hash_number(sched->last ? fiber_hash(sched->last) : 0, sched->now_ns);
    /* A sum, so that the order in which they came to be does not matter. */
    for (size_t i = 0; i < sched->fiber_count; i++)
        if (sched->fibers[i]->state != FIBER_ENDED)
            sum += fiber_hash(sched->fibers[i]);
    return sum;
}

/* ---- processes ---- */

struct proc *proc_new(struct sched *sched, const char *name)
{
    FP_ASSERT(sched->proc_count < SCHED_PROC_COUNT_MAX);
    struct proc *proc = fp_alloc(sizeof *proc);
    proc->name = fp_strdup(name);
    proc->arena = arena_new();
    sched->procs[sched->proc_count++] = proc;
    return proc;
}

static void fiber_remove(struct sched *sched, size_t index)
{
    struct fiber *fiber = sched->fibers[index];
    if (sched->last == fiber)
        sched->last = NULL;
    memmove(&sched->fibers[index], &sched->fibers[index + 1],
            (sched->fiber_count - index - 1) * sizeof sched->fibers[0]);
    sched->fiber_count--;
    fiber_free(sched, fiber);
}

static void fiber_drop(struct sched *sched, struct fiber *fiber)
{
    FP_ASSERT(fiber->state != FIBER_ENDED);
    if (sched->hooks.dropped)
        sched->hooks.dropped(sched->hooks.self, fiber);
    fiber->state = FIBER_ENDED;
    fiber->proc->fiber_count--;
}

void proc_crash(struct sched *sched, struct proc *proc)
{
    FP_ASSERT(!proc->crashed);
    proc->crashed = true;
    proc->paused_until_ns = 0;
    for (size_t i = 0; i < sched->fiber_count; i++) {
        struct fiber *fiber = sched->fibers[i];
        if (fiber->proc == proc && fiber->state != FIBER_ENDED)
            fiber_drop(sched, fiber);
    }
    FP_ASSERT(proc->fiber_count == 0);
    /* The arena goes with the process; the stacks go when nobody stands on them any more. */
    struct arena *arena = proc->arena;
    proc->arena = NULL;
    arena_free(arena);
    if (sched->current && sched->current->proc == proc)
        context_leave(sched->contexts);
}

void proc_pause(struct sched *sched, struct proc *proc, int64_t until_ns)
{
    if (until_ns > proc->paused_until_ns)
        proc->paused_until_ns = until_ns;
    if (sched->current && sched->current->proc == proc)
        fiber_yield(sched);
}

bool proc_is_paused(const struct sched *sched, const struct proc *proc)
{
    return proc->paused_until_ns > sched->now_ns;
}

bool proc_is_alive(const struct proc *proc)
{
    return proc->fiber_count > 0;
}

const char *proc_name(const struct proc *proc)
{
    return proc->name;
}

struct arena *proc_arena(struct proc *proc)
{
    FP_ASSERT(proc->arena);
    return proc->arena;
}

void proc_set_data(struct proc *proc, void *data)
{
    proc->data = data;
}

void *proc_data(const struct proc *proc)
{
    return proc->data;
}

/* ---- fibers ---- */

/* The scheduler that is running a fiber of this thread; a fiber's entry finds itself through it. */
static struct sched *running;

static void fiber_main(void *arg)
{
    struct fiber *self = arg;
    struct sched *sched = running;
    self->body(self->arg);
    self->state = FIBER_ENDED;
    self->proc->fiber_count--;
    context_leave(sched->contexts);
}

struct fiber *fiber_spawn(struct sched *sched, struct proc *proc, const char *name,
                          fiber_body *body, void *arg)
{
    FP_ASSERT(sched->fiber_count < SCHED_FIBER_COUNT_MAX);
    FP_ASSERT(!proc->crashed);
    struct fiber *fiber = fp_alloc(sizeof *fiber);
    fiber->name = name ? fp_format("%s/%s", proc->name, name) : fp_strdup(proc->name);
    fiber->proc = proc;
    fiber->body = body;
    fiber->arg = arg;
    fiber->timer_ns = NO_TIMER;
    fiber->context = context_new(sched->contexts, fiber_main, fiber);
    proc->fiber_count++;
    if (sched->by_priority)
        fiber->priority = pct_priority(&sched->pct);
    sched->fibers[sched->fiber_count++] = fiber;
    if (sched->fiber_count > sched->fiber_count_most)
        sched->fiber_count_most = sched->fiber_count;
    return fiber;
}

const char *fiber_name(const struct fiber *fiber)
{
    return fiber->name;
}

struct proc *fiber_proc(const struct fiber *fiber)
{
    return fiber->proc;
}

void fiber_set_data(struct fiber *fiber, void *data)
{
    fiber->data = data;
}

void *fiber_data(const struct fiber *fiber)
{
    return fiber->data;
}

static void fiber_suspend(struct sched *sched)
{
    FP_ASSERT(sched->current);
    context_suspend(sched->contexts);
}

void fiber_yield(struct sched *sched)
{
    FP_ASSERT(sched->current && sched->current->state == FIBER_READY);
    fiber_suspend(sched);
}

/* The one way to wait: for a wake when `wakeable`, for a time unless it is NO_TIMER. */
static bool fiber_wait(struct sched *sched, const char *why, int64_t t_ns, bool wakeable, bool idle)
{
    struct fiber *self = sched->current;
    FP_ASSERT(self && self->state == FIBER_READY);
    FP_ASSERT(wakeable || t_ns != NO_TIMER);
    if (t_ns <= sched->now_ns) {
        /* Nothing to wait for, but a scheduling point all the same. */
        fiber_suspend(sched);
        return false;
    }
    self->state = FIBER_WAITING;
    self->timer_ns = t_ns;
    self->timer_sequence = sched->timer_sequence++;
    self->wakeable = wakeable;
    self->woken = false;
    self->idle = idle;
    self->why = why;
    fiber_suspend(sched);
    FP_ASSERT(self->state == FIBER_READY);
    self->idle = false;
    return self->woken;
}

void fiber_sleep_until(struct sched *sched, int64_t t_ns, bool idle)
{
    fiber_wait(sched, idle ? "idle" : "sleeping", t_ns, false, idle);
}

void fiber_block(struct sched *sched, const char *why)
{
    fiber_wait(sched, why, NO_TIMER, true, false);
}

bool fiber_block_until(struct sched *sched, const char *why, int64_t t_ns, bool idle)
{
    return fiber_wait(sched, why, t_ns, true, idle);
}

void fiber_wake(struct sched *sched, struct fiber *fiber)
{
    (void)sched;
    FP_ASSERT(fiber->state == FIBER_WAITING && fiber->wakeable);
    fiber->state = FIBER_READY;
    fiber->timer_ns = NO_TIMER;
    fiber->woken = true;
}

bool fiber_is_blocked(const struct fiber *fiber)
{
    return fiber->state == FIBER_WAITING && fiber->wakeable;
}

/* ---- time ---- */

/* When `fiber` could next run, if time only passed. */
static int64_t fiber_due_ns(const struct fiber *fiber)
{
    int64_t due_ns = fiber->state == FIBER_READY ? 0 : fiber->timer_ns;
    if (due_ns < fiber->proc->paused_until_ns)
        due_ns = fiber->proc->paused_until_ns;
    return due_ns;
}

/* The next time later than now at which something becomes ready; NO_TIMER when there is none. */
static int64_t next_due_ns(const struct sched *sched)
{
    int64_t next_ns = NO_TIMER;
    for (size_t i = 0; i < sched->fiber_count; i++) {
        const struct fiber *fiber = sched->fibers[i];
        if (fiber->state == FIBER_ENDED)
            continue;
        int64_t due_ns = fiber_due_ns(fiber);
        if (due_ns > sched->now_ns && due_ns < next_ns)
            next_ns = due_ns;
    }
    return next_ns;
}

static void fire_timers(struct sched *sched)
{
    for (size_t i = 0; i < sched->fiber_count; i++) {
        struct fiber *fiber = sched->fibers[i];
        if (fiber->state != FIBER_WAITING || fiber->timer_ns > sched->now_ns)
            continue;
        if (proc_is_paused(sched, fiber->proc))
            continue;
        fiber->state = FIBER_READY;
        fiber->timer_ns = NO_TIMER;
    }
}

void proc_resume_all(struct sched *sched)
{
    for (size_t i = 0; i < sched->proc_count; i++)
        sched->procs[i]->paused_until_ns = 0;
    fire_timers(sched);
}

static void advance_to(struct sched *sched, int64_t t_ns)
{
    FP_ASSERT(t_ns > sched->now_ns);
    sched->now_ns = t_ns;
    fire_timers(sched);
}

/* ---- the loop ---- */

static bool is_candidate(const struct sched *sched, const struct fiber *fiber)
{
    return fiber->state == FIBER_READY && !proc_is_paused(sched, fiber->proc);
}

/* The fiber that ran last comes first, then by creation: 0 is "the same goes on". */
static size_t collect(const struct sched *sched, struct fiber **out)
{
    size_t count = 0;
    if (sched->last && is_candidate(sched, sched->last))
        out[count++] = sched->last;
    for (size_t i = 0; i < sched->fiber_count; i++) {
        struct fiber *fiber = sched->fibers[i];
        if (fiber != sched->last && is_candidate(sched, fiber))
            out[count++] = fiber;
    }
    return count;
}

static void sweep_ended(struct sched *sched)
{
    for (size_t i = sched->fiber_count; i-- > 0;)
        if (sched->fibers[i]->state == FIBER_ENDED)
            fiber_remove(sched, i);
}

static void resume(struct sched *sched, struct fiber *fiber)
{
    running = sched;
    sched->current = fiber;
    sched->last = fiber;
    fiber->resume_count++;
    context_resume(sched->contexts, fiber->context);
    sched->current = NULL;
    sweep_ended(sched);
}

static void begin_step(struct sched *sched)
{
    sched->step++;
    if (sched->hooks.step_begin)
        sched->hooks.step_begin(sched->hooks.self, sched->step, sched->now_ns);
}

static uint32_t first_by_priority(struct fiber *const *candidates, size_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        if (candidates[i]->priority > candidates[first]->priority)
            first = i;
    return first;
}

/* One of the candidates, by its number. */
static uint32_t decide(struct sched *sched, struct fiber *const *candidates, size_t count)
{
    uint32_t fallen;
    if (count > 1)
        sched->decision_count++;
    if (!sched->by_priority)
        return choice_below(sched->schedule, (uint32_t)count);
    if (count > 1 && pct_decide(&sched->pct, &fallen))
        candidates[first_by_priority(candidates, count)]->priority = fallen;
    return choice_made(sched->schedule, (uint32_t)count, first_by_priority(candidates, count));
}

bool sched_all_idle(const struct sched *sched)
{
    for (size_t i = 0; i < sched->fiber_count; i++) {
        const struct fiber *fiber = sched->fibers[i];
        if (fiber->state == FIBER_ENDED)
            continue;
        if (fiber->state == FIBER_READY || !fiber->idle || proc_is_paused(sched, fiber->proc))
            return false;
    }
    return true;
}

static bool wants_time(struct sched *sched, size_t candidate_count, int64_t next_ns)
{
    if (candidate_count == 0)
        return true;
    if (next_ns == NO_TIMER || sched->slowness_per_million == 0)
        return false;
    return choice_rare(sched->slow, 2, sched->slowness_per_million) == 1;
}

/* Somebody is slow, but nobody is slow for ever: what lasts longer is a pause, and a fault. */
static int64_t bounded(const struct sched *sched, size_t candidate_count, int64_t next_ns)
{
    int64_t most_ns = sched->now_ns + SCHED_SLOW_NS_MAX;
    return candidate_count > 0 && next_ns > most_ns ? most_ns : next_ns;
}

enum sched_end sched_run(struct sched *sched, int64_t until_ns, int64_t step_count_max)
{
    FP_ASSERT(!sched->current);
    struct fiber *candidates[SCHED_FIBER_COUNT_MAX];
    sched->stopping = false;
    while (!sched->stopping) {
        if (sched->step >= step_count_max)
            return SCHED_STEPS_OUT;
        size_t candidate_count = collect(sched, candidates);
        if (candidate_count == 0 && sched->hooks.all_idle && sched_all_idle(sched) &&
            !sched->hooks.all_idle(sched->hooks.self))
            return SCHED_STOPPED;
        int64_t next_ns = next_due_ns(sched);
        if (wants_time(sched, candidate_count, next_ns)) {
            if (next_ns == NO_TIMER)
                return SCHED_DEAD;
            next_ns = bounded(sched, candidate_count, next_ns);
            if (next_ns <= until_ns) {
                advance_to(sched, next_ns);
                continue;
            }
            if (candidate_count == 0)
                return SCHED_TIME_OUT;
        }
        uint32_t pick = decide(sched, candidates, candidate_count);
        struct sched_decision decision = {(uint32_t)candidate_count, pick,
                                          candidates[0] == sched->last};
        if (candidate_count > 1 && sched->hooks.decided &&
            !sched->hooks.decided(sched->hooks.self, &decision))
            return SCHED_STOPPED;
        begin_step(sched);
        resume(sched, candidates[pick]);
        if (sched->hooks.step_end && !sched->hooks.step_end(sched->hooks.self))
            return SCHED_STOPPED;
    }
    return SCHED_STOPPED;
}

void sched_each_waiting(const struct sched *sched, sched_visit *visit, void *self)
{
    for (size_t i = 0; i < sched->fiber_count; i++) {
        const struct fiber *fiber = sched->fibers[i];
        if (fiber->state == FIBER_ENDED || fiber->idle)
            continue;
        const char *state = fiber->state == FIBER_READY ? "ready" : fiber->why;
        if (proc_is_paused(sched, fiber->proc))
            state = "paused";
        int64_t due_ns = fiber_due_ns(fiber);
        visit(self, fiber->name, state, due_ns == NO_TIMER ? -1 : due_ns);
    }
}
