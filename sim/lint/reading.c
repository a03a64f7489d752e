#include "sim/lint/reading.h"

#include <string.h>

bool reading_is_over(const struct reading *reading)
{
    return reading->at->kind == TOKEN_END ||
           (reading->depth == 0 && token_is_sign(reading->at, ";"));
}

void reading_next(struct reading *reading)
{
    if (reading->at->kind == TOKEN_END)
        return;
    if (token_is_sign(reading->at, "("))
        reading->depth++;
    else if (token_is_sign(reading->at, ")") && reading->depth > 0)
        reading->depth--;
    reading->at = reading->at->next;
}

bool reading_take_word(struct reading *reading, const char *word)
{
    if (!token_is_word(reading->at, word))
        return false;
    reading_next(reading);
    return true;
}

bool reading_take_sign(struct reading *reading, const char *sign)
{
    if (!token_is_sign(reading->at, sign))
        return false;
    reading_next(reading);
    return true;
}

void reading_skip_words(struct reading *reading, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL;)
        i = reading_take_word(reading, words[i]) ? 0 : i + 1;
}

void reading_skip_to_depth(struct reading *reading, int depth)
{
    while (reading->depth > depth && reading->at->kind != TOKEN_END)
        reading_next(reading);
}

void reading_skip_statement(struct reading *reading)
{
    while (!reading_is_over(reading))
        reading_next(reading);
    reading->depth = 0;
    if (reading->at->kind != TOKEN_END)
        reading_next(reading);
}

struct lint_place reading_place(const struct reading *reading, const struct token *token)
{
    return (struct lint_place){.file = reading->file,
                               .object = reading->object,
                               .line = token->line,
                               .column = token->column};
}

const char *reading_take_name(struct reading *reading)
{
    const char *name = NULL;

    while (token_is_name(reading->at)) {
        const char *part = reading->at->text;
        name = name == NULL || strcmp(name, "public") == 0
                   ? part
                   : arena_printf(reading->schema->arena, "%s.%s", name, part);
        reading_next(reading);
        if (!reading_take_sign(reading, "."))
            break;
    }
    return name;
}

bool reading_is_element_end(const struct reading *reading, int depth)
{
    return reading_is_over(reading) || reading->depth < depth ||
           (reading->depth == depth &&
            (token_is_sign(reading->at, ",") || token_is_sign(reading->at, ")")));
}

void reading_take_strings(struct reading *reading, struct lint_word **words, int depth)
{
    while (!reading_is_over(reading) && reading->depth >= depth) {
        if (reading->at->kind == TOKEN_STRING)
            lint_add_word(reading->schema->arena, words, reading->at->text);
        reading_next(reading);
    }
}
