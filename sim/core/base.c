#include "sim/core/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* _exit, not exit: after a broken assumption no atexit handler may run, but what was already said
 * must reach the reader. */
_Noreturn void fp_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "harness bug: %s:%d: %s\n", file, line, condition);
    fflush(NULL);
    _exit(EXIT_HARNESS_BUG);
}

_Noreturn static void out_of_memory(size_t size)
{
    fprintf(stderr, "out of memory: %zu bytes were refused\n", size);
    fflush(NULL);
    _exit(EXIT_INFRASTRUCTURE);
}

void *fp_alloc(size_t size)
{
    void *memory = calloc(1, size == 0 ? 1 : size);
    if (memory == NULL)
        out_of_memory(size);
    return memory;
}

void *fp_realloc(void *old, size_t size)
{
    void *memory = realloc(old, size == 0 ? 1 : size);
    if (memory == NULL)
        out_of_memory(size);
    return memory;
}

char *fp_strdup(const char *text)
{
    FP_ASSERT(text != NULL);
    size_t size = strlen(text) + 1;
    char *copy = fp_realloc(NULL, size);
    memcpy(copy, text, size);
    return copy;
}

char *fp_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    FP_ASSERT(length >= 0);

    size_t size = (size_t)length + 1;
    char *text = fp_realloc(NULL, size);
    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
    return text;
}
