/* Switching between stacks: the one place that knows of ucontext, guard pages and sanitizers. */
#ifndef FENCEPOST_CONTEXT_H
#define FENCEPOST_CONTEXT_H

#include "sim/core/base.h"

#define CONTEXT_STACK_SIZE (256 * 1024)

struct context;      /* a suspended stack */
struct context_pool; /* stacks that are kept for the next fiber */

struct context_pool *context_pool_new(void);
void context_pool_free(struct context_pool *pool);

/* A context that will run body(arg) on a stack of its own. body must never return: it ends by
 * context_leave. */
struct context *context_new(struct context_pool *pool, void (*body)(void *arg), void *arg);
/* Give the stack back. Not from that stack itself. Nothing on it is unwound. */
void context_drop(struct context_pool *pool, struct context *context);

/* From the main stack: run `context` until it calls context_suspend or context_leave. */
void context_resume(struct context_pool *pool, struct context *context);
/* From inside a context: back to the main stack; returns when resumed. */
void context_suspend(struct context_pool *pool);
/* From inside a context: back to the main stack for good. */
_Noreturn void context_leave(struct context_pool *pool);

#endif
