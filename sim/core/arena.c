#include "sim/core/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_CHUNK_SIZE_MIN 1024
#define ARENA_CHUNK_SIZE_MAX (64 * 1024)
#define ARENA_ALIGNMENT alignof(max_align_t)

struct chunk {
    struct chunk *older;
    size_t used_size;
    size_t capacity;
    alignas(max_align_t) unsigned char memory[];
};

struct cleanup {
    void (*run)(void *resource);
    void *resource;
};

struct arena {
    struct chunk *newest;
    size_t chunk_size_next;
    size_t size;
    struct cleanup *cleanups; /* in the order of registration */
    size_t cleanup_count;
    size_t cleanup_capacity;
};

struct arena *arena_new(void)
{
    struct arena *arena = fp_alloc(sizeof(*arena));
    arena->chunk_size_next = ARENA_CHUNK_SIZE_MIN;
    return arena;
}

/* A clean-up is taken off before it runs: it may cancel itself or register another one. */
static void run_cleanups(struct arena *arena)
{
    while (arena->cleanup_count > 0) {
        struct cleanup cleanup = arena->cleanups[--arena->cleanup_count];
        cleanup.run(cleanup.resource);
    }
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    run_cleanups(arena);
    struct chunk *chunk = arena->newest;
    while (chunk != NULL) {
        struct chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    free(arena->cleanups);
    free(arena);
}

static struct chunk *chunk_new(size_t capacity)
{
    struct chunk *chunk = fp_alloc(sizeof(*chunk) + capacity);
    chunk->capacity = capacity;
    return chunk;
}

/* A large block gets a chunk of its own behind the newest, so that the rest of the newest stays in
 * use. */
static void *alloc_large(struct arena *arena, size_t size)
{
    struct chunk *chunk = chunk_new(size);
    chunk->used_size = size;
    if (arena->newest == NULL) {
        arena->newest = chunk;
        return chunk->memory;
    }
    chunk->older = arena->newest->older;
    arena->newest->older = chunk;
    return chunk->memory;
}

static void add_chunk(struct arena *arena)
{
    struct chunk *chunk = chunk_new(arena->chunk_size_next);
    chunk->older = arena->newest;
    arena->newest = chunk;
    if (arena->chunk_size_next < ARENA_CHUNK_SIZE_MAX)
        arena->chunk_size_next *= 2;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    FP_ASSERT(arena != NULL);
    FP_ASSERT(size < SIZE_MAX / 2);
    /* An empty block takes room too: every pointer handed out is another one. */
    size_t rounded = ((size == 0 ? 1 : size) + ARENA_ALIGNMENT - 1) & ~(ARENA_ALIGNMENT - 1);
    arena->size += rounded;
    if (rounded > arena->chunk_size_next / 2)
        return alloc_large(arena, rounded);

    struct chunk *chunk = arena->newest;
    if (chunk == NULL || chunk->capacity - chunk->used_size < rounded) {
        add_chunk(arena);
        chunk = arena->newest;
    }
    void *memory = chunk->memory + chunk->used_size;
    chunk->used_size += rounded;
    FP_ASSERT(chunk->used_size <= chunk->capacity);
    return memory;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    FP_ASSERT(text != NULL);
    size_t size = strlen(text) + 1;
    char *copy = arena_alloc(arena, size);
    memcpy(copy, text, size);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    FP_ASSERT(length >= 0);

    size_t size = (size_t)length + 1;
    char *text = arena_alloc(arena, size);
    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
    return text;
}

void arena_defer(struct arena *arena, void (*cleanup)(void *resource), void *resource)
{
    FP_ASSERT(arena != NULL);
    FP_ASSERT(cleanup != NULL);
    if (arena->cleanup_count == arena->cleanup_capacity) {
        arena->cleanup_capacity = arena->cleanup_capacity == 0 ? 8 : arena->cleanup_capacity * 2;
        arena->cleanups =
            fp_realloc(arena->cleanups, arena->cleanup_capacity * sizeof(arena->cleanups[0]));
    }
    arena->cleanups[arena->cleanup_count++] = (struct cleanup){cleanup, resource};
}

/* From the newest down: what is cancelled is mostly what was registered last. */
void arena_cancel(struct arena *arena, void *resource)
{
    FP_ASSERT(arena != NULL);
    size_t index = arena->cleanup_count;
    while (index > 0 && arena->cleanups[index - 1].resource != resource)
        index--;
    if (index == 0)
        return;
    struct cleanup *gone = &arena->cleanups[index - 1];
    memmove(gone, gone + 1, (arena->cleanup_count - index) * sizeof(*gone));
    arena->cleanup_count--;
}

size_t arena_size(const struct arena *arena)
{
    FP_ASSERT(arena != NULL);
    return arena->size;
}
