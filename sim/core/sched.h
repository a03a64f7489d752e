/* The scheduler: fibers in processes, virtual time, one step at a time.
 *
 * A step picks one ready fiber, or advances virtual time to the next timer, and runs what follows
 * until the picked fiber suspends. Candidates are ordered: the fiber that ran last first, then by
 * creation. Timers are ordered by (deadline, sequence). Nothing here knows of PostgreSQL. */
#ifndef FENCEPOST_SCHED_H
#define FENCEPOST_SCHED_H

#include "sim/core/arena.h"
#include "sim/core/base.h"
#include "sim/core/choice.h"
#include "sim/core/context.h"
#include "sim/core/pct.h"

#define SCHED_PROC_COUNT_MAX 256
#define SCHED_FIBER_COUNT_MAX 1024
/* By how much time passes at most while somebody could run. */
#define SCHED_SLOW_NS_MAX (30 * NS_PER_S)

struct sched;
struct proc;
struct fiber;

typedef void fiber_body(void *arg);

/* Between several that could run. Candidates are numbered; the one that ran last, if it could go
 * on, is number 0: any other is a preemption then. */
struct sched_decision {
    uint32_t candidate_count;
    uint32_t pick;
    bool last_goes_on;
};

struct sched_hooks {
    void *self;
    /* It was decided and the step has not begun. False ends the run. */
    bool (*decided)(void *self, const struct sched_decision *decision);
    /* A step begins: it will be number `step`, at virtual `t_ns`. */
    void (*step_begin)(void *self, int64_t step, int64_t t_ns);
    /* A step ended. Bring the outside to rest (find granted waiters). False ends the run. */
    bool (*step_end)(void *self);
    /* Nothing is ready and every fiber of a living process idles or has ended. True: the run may go
     * on by advancing time; false ends it. */
    bool (*all_idle)(void *self);
    /* A fiber was dropped because its process crashed; called before its arena goes. */
    void (*dropped)(void *self, struct fiber *fiber);
};

enum sched_end {
    SCHED_STOPPED,   /* a hook said so, or sched_stop */
    SCHED_TIME_OUT,  /* the next event is past `until_ns` */
    SCHED_STEPS_OUT, /* `step_count_max` reached */
    SCHED_DEAD,      /* nothing is ready and no timer is pending */
};

/* `contexts` outlives the scheduler: stacks are kept from run to run. */
struct sched *sched_new(struct context_pool *contexts, struct choices *choices,
                        const struct sched_hooks *hooks);
void sched_free(struct sched *sched);

/* Run until one of the ends. May be called again with a later limit. */
enum sched_end sched_run(struct sched *sched, int64_t until_ns, int64_t step_count_max);
void sched_stop(struct sched *sched);

int64_t sched_now_ns(const struct sched *sched);
int64_t sched_step(const struct sched *sched);
struct fiber *sched_current(const struct sched *sched); /* NULL outside of fibers */
/* How often, in a million steps with something ready, time is advanced all the same: actors are
 * slow. */
void sched_set_slowness(struct sched *sched, uint32_t per_million);

/* Decide by priorities, see pct.h. Before the first fiber. */
void sched_set_pct(struct sched *sched, struct choices *choices, uint32_t depth,
                   uint32_t decision_count_most);
/* How often there was more than one to choose from, and how many fibers there were at most. */
int64_t sched_decision_count(const struct sched *sched);
int64_t sched_fiber_count_most(const struct sched *sched);

/* Where every fiber stands, who ran last, and what time it is: equal for equal places. */
uint64_t sched_hash(const struct sched *sched);

/* ---- processes ---- */
struct proc *proc_new(struct sched *sched, const char *name);
/* Drop all fibers of the process. When it is the caller's own, does not return. */
void proc_crash(struct sched *sched, struct proc *proc);
/* No fiber of it runs until `until_ns`; a longer pause wins. Its timers fire late. When it is the
 * caller's own process the call suspends. */
void proc_pause(struct sched *sched, struct proc *proc, int64_t until_ns);
bool proc_is_paused(const struct sched *sched, const struct proc *proc);
void proc_resume_all(struct sched *sched);
bool proc_is_alive(const struct proc *proc); /* has fibers that did not end */
const char *proc_name(const struct proc *proc);
struct arena *proc_arena(struct proc *proc);
void proc_set_data(struct proc *proc, void *data);
void *proc_data(const struct proc *proc);

/* ---- fibers ---- */
struct fiber *fiber_spawn(struct sched *sched, struct proc *proc, const char *name,
                          fiber_body *body, void *arg);
const char *fiber_name(const struct fiber *fiber); /* "worker-1" or "worker-1/heartbeat" */
struct proc *fiber_proc(const struct fiber *fiber);
void fiber_set_data(struct fiber *fiber, void *data);
void *fiber_data(const struct fiber *fiber);

/* The following are called by the running fiber on itself. */
void fiber_yield(struct sched *sched); /* stays ready: a scheduling point */
void fiber_sleep_until(struct sched *sched, int64_t t_ns, bool idle);
/* Suspended until fiber_wake. `why` (static text) is what a run that does not settle prints. */
void fiber_block(struct sched *sched, const char *why);
/* As above with a deadline; true when woken, false when the deadline came first. */
bool fiber_block_until(struct sched *sched, const char *why, int64_t t_ns, bool idle);
/* From anywhere: make a blocked fiber ready. */
void fiber_wake(struct sched *sched, struct fiber *fiber);
bool fiber_is_blocked(const struct fiber *fiber);

/* For a run that did not settle: every fiber that waits, and for what. */
typedef void sched_visit(void *self, const char *fiber, const char *state, int64_t until_ns);
void sched_each_waiting(const struct sched *sched, sched_visit *visit, void *self);
bool sched_all_idle(const struct sched *sched);

#endif
