#include "sim/core/context.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif

#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

struct context {
    ucontext_t machine;
    char *mapping; /* guard page, then the stack */
    size_t mapping_size;
    void (*body)(void *arg);
    void *arg;
    void *fake_stack; /* of ASan, while suspended */
    struct context *next_free;
};

struct context_pool {
    ucontext_t main_machine;
    struct context *current;
    struct context *free_list;
    size_t page_size;
    const void *main_stack; /* of ASan, learnt at the first switch */
    size_t main_stack_size;
};

/* makecontext passes only ints; the pool whose current context starts is handed over here. */
static struct context_pool *starting_pool;

static char *stack_base(const struct context_pool *pool, struct context *context)
{
    return context->mapping + pool->page_size;
}

static void before_switch(void **fake_stack, const void *stack, size_t size)
{
#ifdef HAVE_ASAN
    __sanitizer_start_switch_fiber(fake_stack, stack, size);
#else
    (void)fake_stack;
    (void)stack;
    (void)size;
#endif
}

static void after_switch(void *fake_stack, const void **stack, size_t *size)
{
#ifdef HAVE_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, stack, size);
#else
    (void)fake_stack;
    (void)stack;
    (void)size;
#endif
}

struct context_pool *context_pool_new(void)
{
    struct context_pool *pool = fp_alloc(sizeof *pool);
    long page_size = sysconf(_SC_PAGESIZE);
    FP_ASSERT(page_size > 0);
    pool->page_size = (size_t)page_size;
    return pool;
}

void context_pool_free(struct context_pool *pool)
{
    if (!pool)
        return;
    FP_ASSERT(!pool->current);
    while (pool->free_list) {
        struct context *context = pool->free_list;
        pool->free_list = context->next_free;
        munmap(context->mapping, context->mapping_size);
        free(context);
    }
    free(pool);
}

static struct context *context_map(struct context_pool *pool)
{
    struct context *context = fp_alloc(sizeof *context);
    context->mapping_size = pool->page_size + CONTEXT_STACK_SIZE;
    context->mapping = mmap(NULL, context->mapping_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FP_ASSERT(context->mapping != MAP_FAILED);
    /* Stacks grow down, so the lowest page is the one an overflow hits first. */
    int guarded = mprotect(context->mapping, pool->page_size, PROT_NONE);
    FP_ASSERT(guarded == 0);
    return context;
}

static void context_entry(void)
{
    struct context_pool *pool = starting_pool;
    struct context *self = pool->current;
    after_switch(NULL, &pool->main_stack, &pool->main_stack_size);
    self->body(self->arg);
    FP_ASSERT(!"a context's body returned");
}

/* A function of its own: getcontext may return twice, which no local variable should live through.
 */
static void context_prepare(struct context *context)
{
    int got = getcontext(&context->machine);
    FP_ASSERT(got == 0);
}

struct context *context_new(struct context_pool *pool, void (*body)(void *arg), void *arg)
{
    struct context *context = pool->free_list;
    if (context)
        pool->free_list = context->next_free;
    else
        context = context_map(pool);
    context->body = body;
    context->arg = arg;
    context->fake_stack = NULL;
    context_prepare(context);
    context->machine.uc_stack.ss_sp = stack_base(pool, context);
    context->machine.uc_stack.ss_size = CONTEXT_STACK_SIZE;
    context->machine.uc_link = NULL;
    makecontext(&context->machine, context_entry, 0);
    return context;
}

void context_drop(struct context_pool *pool, struct context *context)
{
    FP_ASSERT(context != pool->current);
#ifdef HAVE_ASAN
    /* Frames that never unwound left their red zones poisoned; the next fiber starts clean. */
    __asan_unpoison_memory_region(stack_base(pool, context), CONTEXT_STACK_SIZE);
#endif
    context->next_free = pool->free_list;
    pool->free_list = context;
}

void context_resume(struct context_pool *pool, struct context *context)
{
    FP_ASSERT(!pool->current);
    pool->current = context;
    starting_pool = pool;
    void *main_fake_stack = NULL;
    before_switch(&main_fake_stack, stack_base(pool, context), CONTEXT_STACK_SIZE);
    int switched = swapcontext(&pool->main_machine, &context->machine);
    FP_ASSERT(switched == 0);
    after_switch(main_fake_stack, NULL, NULL);
    pool->current = NULL;
}

void context_suspend(struct context_pool *pool)
{
    struct context *self = pool->current;
    FP_ASSERT(self);
    before_switch(&self->fake_stack, pool->main_stack, pool->main_stack_size);
    int switched = swapcontext(&self->machine, &pool->main_machine);
    FP_ASSERT(switched == 0);
    after_switch(self->fake_stack, &pool->main_stack, &pool->main_stack_size);
}

_Noreturn void context_leave(struct context_pool *pool)
{
    FP_ASSERT(pool->current);
    /* NULL tells ASan that this stack will not be switched to again. */
    before_switch(NULL, pool->main_stack, pool->main_stack_size);
    setcontext(&pool->main_machine);
    abort();
}
