#include "sim/lint/schema.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct lint_schema *lint_schema_new(void)
{
    struct arena *arena = arena_new();
    struct lint_schema *schema = arena_alloc(arena, sizeof *schema);

    schema->arena = arena;
    return schema;
}

void lint_schema_free(struct lint_schema *schema)
{
    if (schema != NULL)
        arena_free(schema->arena);
}

static const char *last_part(const char *name)
{
    const char *point = strrchr(name, '.');
    return point != NULL ? point + 1 : name;
}

bool lint_same_table(const char *a, const char *b)
{
    if (strchr(a, '.') != NULL && strchr(b, '.') != NULL)
        return strcmp(a, b) == 0;
    return strcmp(last_part(a), last_part(b)) == 0;
}

struct lint_table *lint_table_find(const struct lint_schema *schema, const char *name)
{
    for (struct lint_table *table = schema->tables; table != NULL; table = table->next)
        if (lint_same_table(table->name, name))
            return table;
    return NULL;
}

bool lint_has_word(const struct lint_word *words, const char *text)
{
    for (; words != NULL; words = words->next)
        if (strcasecmp(words->text, text) == 0)
            return true;
    return false;
}

void lint_add_word(struct arena *arena, struct lint_word **words, const char *text)
{
    while (*words != NULL)
        words = &(*words)->next;
    *words = arena_alloc(arena, sizeof **words);
    (*words)->text = text;
}

static bool ends_in(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcasecmp(text + size - end_size, end) == 0;
}

bool lint_is_status_name(const char *name)
{
    return strcasecmp(name, "status") == 0 || strcasecmp(name, "state") == 0 ||
           ends_in(name, "_status") || ends_in(name, "_state");
}

bool lint_is_time_name(const char *name)
{
    return ends_in(name, "_at") || ends_in(name, "_time") || ends_in(name, "_until") ||
           ends_in(name, "_ts") || ends_in(name, "heartbeat") || ends_in(name, "deadline");
}
