/* Who looks after the alerts, and whether they are able to: from the events of their actors. An
 * actor that was killed or stopped, or that waits for a lock, cannot look; one whose connection was
 * cut looks in vain. */
#ifndef FENCEPOST_WATCHERS_H
#define FENCEPOST_WATCHERS_H

#include "sim/core/arena.h"
#include "sim/core/trace.h"

struct watchers;

/* Actors of this role; lives in the arena. */
struct watchers *watchers_new(struct arena *arena, const char *role);
/* Take one event; those of others are ignored. */
void watchers_event(struct watchers *watchers, const struct event *event);
/* Has one of them been able, without interruption, from `since_ns` or earlier until `t_ns`? */
bool watchers_able(const struct watchers *watchers, int64_t since_ns, int64_t t_ns);
/* Was this one, as an event names it, interrupted at or after `since_ns`? False for one who is none
 * of them. */
bool watchers_interrupted(const struct watchers *watchers, const char *who, int64_t since_ns);

#endif
