/* Mistakes in a scenario file: all of them, each with its place. */
#ifndef FENCEPOST_DIAG_H
#define FENCEPOST_DIAG_H

#include <stdarg.h>

#include "sim/core/base.h"
#include "sim/core/strbuf.h"

#define DIAG_COUNT_MAX 100

struct diag {
    int line, column; /* 1-based; 0: the file as a whole */
    char *message;
};

struct diags {
    char *file;
    struct diag list[DIAG_COUNT_MAX];
    size_t count;
    size_t dropped_count; /* past DIAG_COUNT_MAX */
};

void diags_init(struct diags *diags, const char *file);
void diags_release(struct diags *diags);
void diags_add(struct diags *diags, int line, int column, const char *format, ...) FP_PRINTF(4, 5);
void diags_vadd(struct diags *diags, int line, int column, const char *format, va_list args);
/* In the order of their positions; those at one place keep the order in which they were added. */
void diags_sort(struct diags *diags);
/* Sorts, then one line each: "file:line:column: message\n", without the position for the file as a
 * whole. A last line counts those that were dropped. */
void diags_print(struct diags *diags, struct strbuf *out);

/* The nearest of `names` to `word` within a small edit distance, or NULL. Case is ignored. The
 * first of several that are equally near. NULL entries are skipped. */
const char *suggest(const char *word, const char *const *names, size_t name_count);

#endif
