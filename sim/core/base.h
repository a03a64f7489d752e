/* What every file may use: assertions that stay on in release, named sizes, durations. */
#ifndef FENCEPOST_BASE_H
#define FENCEPOST_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A programmer's error. Stays on in release: a harness that goes on after it is worth nothing.
 * Prints the condition and its place to standard error and exits with 70 (EXIT_HARNESS_BUG). */
#define FP_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : fp_assert_failed(#condition, __FILE__, __LINE__))

_Noreturn void fp_assert_failed(const char *condition, const char *file, int line);

#define FP_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FP_PRINTF(format_index, first_index)                                                       \
    __attribute__((format(printf, format_index, first_index)))

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MIN (60 * NS_PER_S)
#define NS_PER_HOUR (60 * NS_PER_MIN)
#define NS_PER_DAY (24 * NS_PER_HOUR)

/* Bumped whenever the same scenario and seed may give another trace than before. Failure files
 * carry it, and replay says so when it differs. */
#define FP_ENGINE_VERSION 2

enum {
    EXIT_PASS = 0,
    EXIT_VIOLATION = 1,
    EXIT_UNKNOWN = 2,
    EXIT_INFRASTRUCTURE = 3,
    EXIT_NOTHING_RAN = 4,
    EXIT_USAGE = 64,
    EXIT_HARNESS_BUG = 70,
    EXIT_INTERRUPTED = 130,
};

/* malloc and friends that end the program with a message when memory runs out. Caller frees. */
void *fp_alloc(size_t size); /* zeroed */
void *fp_realloc(void *old, size_t size);
char *fp_strdup(const char *text);
char *fp_format(const char *format, ...) FP_PRINTF(1, 2);

#endif
