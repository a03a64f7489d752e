/* Faults that last: each says how it is undone, and it is undone once.
 *
 * When its time is up, or at the start of settle, whichever comes first, `undo` is called and an
 * event `fault.healed` names the fault and its target. What a process crashes in between makes no
 * difference: what is broken here belongs to a machine, a network or a server. */
#ifndef FENCEPOST_HEALING_H
#define FENCEPOST_HEALING_H

#include "sim/core/base.h"

struct fault_host;
struct run;

/* Everything as before. Must not suspend; called by a fiber of the harness, or by none. */
typedef void healing_undo(struct run *run, void *data);

/* The fault that strikes just now lasts for a duration drawn from its field `heal_after` (see
 * HEAL_AFTER_FIELD in faults/fault.h). `target` and `data` live as long as the run: an actor's
 * name, static text, or in the arena of the harness. */
void fault_lasts(struct fault_host *host, const char *target, healing_undo *undo, void *data);
/* The same with a duration of the caller's; 0: until chaos ends. */
void healing_begin(struct run *run, const char *fault, const char *target, int64_t duration_ns,
                   healing_undo *undo, void *data);
/* At the start of settle: whatever still lasts ends now, in the order in which it began. */
void healing_end_all(struct run *run);

#endif
