/* Memory that goes all at once, with clean-ups for what is not memory.
 *
 * A fiber that is dropped does not unwind, so whatever it owns beyond its stack lives here.
 * Clean-ups run in the reverse order of their registration, before the memory is freed. */
#ifndef FENCEPOST_ARENA_H
#define FENCEPOST_ARENA_H

#include "sim/core/base.h"

struct arena;

struct arena *arena_new(void);
/* Runs the clean-ups, frees the memory. NULL is allowed. */
void arena_free(struct arena *arena);
/* Zeroed, aligned for anything, lives as long as the arena. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) FP_PRINTF(2, 3);
/* `cleanup(resource)` runs when the arena goes, unless it is cancelled first. */
void arena_defer(struct arena *arena, void (*cleanup)(void *resource), void *resource);
/* Forget the newest clean-up of this resource. Nothing happens when there is none: a clean-up may
 * call the very function that cancels it. */
void arena_cancel(struct arena *arena, void *resource);
/* Bytes handed out so far, with what alignment cost. */
size_t arena_size(const struct arena *arena);

#endif
