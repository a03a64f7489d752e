#include "sim/scenario/diag.h"

#include <stdio.h>
#include <stdlib.h>

void diags_init(struct diags *diags, const char *file)
{
    FP_ASSERT(file != NULL);
    *diags = (struct diags){.file = fp_strdup(file)};
}

void diags_release(struct diags *diags)
{
    FP_ASSERT(diags->count <= DIAG_COUNT_MAX);
    for (size_t i = 0; i < diags->count; i++)
        free(diags->list[i].message);
    free(diags->file);
    *diags = (struct diags){0};
}

void diags_vadd(struct diags *diags, int line, int column, const char *format, va_list args)
{
    FP_ASSERT(line >= 0 && column >= 0);
    if (diags->count == DIAG_COUNT_MAX) {
        diags->dropped_count++;
        return;
    }
    char *message = NULL;
    FP_ASSERT(vasprintf(&message, format, args) >= 0);
    diags->list[diags->count++] = (struct diag){line, column, message};
}

void diags_add(struct diags *diags, int line, int column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diags_vadd(diags, line, column, format, args);
    va_end(args);
}

static bool is_after(const struct diag *a, const struct diag *b)
{
    return a->line != b->line ? a->line > b->line : a->column > b->column;
}

/* An insertion sort: at most a hundred entries, and it keeps the order of equals. */
void diags_sort(struct diags *diags)
{
    for (size_t i = 1; i < diags->count; i++) {
        struct diag moving = diags->list[i];
        size_t slot = i;
        for (; slot > 0 && is_after(&diags->list[slot - 1], &moving); slot--)
            diags->list[slot] = diags->list[slot - 1];
        diags->list[slot] = moving;
    }
}

static void print_one(const struct diags *diags, const struct diag *diag, struct strbuf *out)
{
    strbuf_puts(out, diags->file);
    if (diag->line > 0)
        strbuf_printf(out, ":%d:%d", diag->line, diag->column);
    strbuf_printf(out, ": %s\n", diag->message);
}

void diags_print(struct diags *diags, struct strbuf *out)
{
    diags_sort(diags);
    for (size_t i = 0; i < diags->count; i++)
        print_one(diags, &diags->list[i], out);
    if (diags->dropped_count > 0)
        strbuf_printf(out, "%s: and %zu more\n", diags->file, diags->dropped_count);
}
