/* An invariant: reads events, says pass, fail or unknown. One file each, one line in
 * invariants.def. */
#ifndef FENCEPOST_CHECK_H
#define FENCEPOST_CHECK_H

#include "sim/check/rows.h"
#include "sim/core/arena.h"
#include "sim/core/clock.h"
#include "sim/core/trace.h"
#include "sim/strategy.h"

enum verdict { VERDICT_PASS, VERDICT_UNKNOWN, VERDICT_FAIL }; /* worse is greater */

struct finding {
    enum verdict verdict;
    int64_t step;   /* the first violating step */
    char *kind;     /* of the event by which it was seen; "": a commit as a whole, or the end */
    char *sentence; /* what happened; lives in the check's arena */
};

/* What an invariant may know when it starts. */
struct check_setup {
    const struct strategy *strategy;
    int64_t db_epoch_ns;           /* the database's clock (ns since 1970) at virtual time 0 */
    struct machine_clock db_clock; /* as it is now; it may be wrong */
};
/* What the database's clock shows at that virtual time, since 1970; and when it shows that. */
int64_t check_db_ns(const struct check_setup *setup, int64_t t_ns);
int64_t check_when_ns(const struct check_setup *setup, int64_t db_ns);

struct check; /* one invariant in one run */

/* For use inside an invariant. */
struct arena *check_arena(struct check *check);
void *check_state(struct check *check);
const struct check_setup *check_setup(const struct check *check);
/* The watched tables as of the event, with its own change in them. */
const struct rows *check_rows(const struct check *check);
/* Remember the first failure; later ones are ignored. */
void check_fail(struct check *check, const struct event *event, const char *format, ...)
    FP_PRINTF(3, 4);
/* The invariant cannot judge this run (an event it cannot read). A failure outweighs it. */
void check_unknown(struct check *check, const struct event *event, const char *format, ...)
    FP_PRINTF(3, 4);
/* "1h10m"; lives in the check's arena. */
const char *check_time_text(struct check *check, int64_t t_ns);

/* How the run ended. */
struct check_end {
    struct event last; /* step and time alone */
    bool at_rest;      /* false: the time to settle is over and something is still going on */
};

struct invariant {
    const char *name;
    const char *verifies;
    const char *does_not_verify;
    size_t state_size;                                /* zeroed, in the check's arena */
    bool (*applies)(const struct strategy *strategy); /* NULL: to all */
    /* Each may be NULL, but not all. */
    void (*event)(struct check *check, const struct event *event);
    /* A transaction has committed and all its row events have come; of the last one, step and time
     * alone. Comes before the next event. */
    void (*committed)(struct check *check, const struct event *last);
    /* After settle, whether the run came to rest or not: what is wrong now stays wrong. */
    void (*end)(struct check *check, const struct check_end *end);
};

extern const struct invariant *const invariants[]; /* ended by NULL */
const struct invariant *invariant_find(const char *name);

/* ---- used by the run ---- */
struct checks;
struct checks *checks_new(const struct invariant *const *list, size_t count,
                          const struct check_setup *setup);
void checks_free(struct checks *checks);
void checks_event(void *self, const struct event *event); /* a trace_observer */
void checks_end(struct checks *checks, const struct check_end *end);
/* The worst verdict over all invariants; VERDICT_PASS when there are none. */
enum verdict checks_verdict(const struct checks *checks);
/* The first finding with that verdict over all invariants (lowest step, then order of the list), or
 * NULL. */
const struct finding *checks_first(const struct checks *checks, enum verdict verdict,
                                   const struct invariant **which);

#endif
