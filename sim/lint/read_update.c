/* What an UPDATE sets, and what it asks for. */
#include <string.h>

#include "sim/lint/reading.h"

static struct lint_set *add_set(struct reading *reading, struct lint_update *update)
{
    struct lint_set **end = &update->sets;

    while (*end != NULL)
        end = &(*end)->next;
    *end = arena_alloc(reading->schema->arena, sizeof **end);
    (*end)->place = reading_place(reading, reading->at);
    (*end)->column = reading->at->text;
    return *end;
}

static bool is_clause(const struct token *token)
{
    return token_is_word(token, "from") || token_is_word(token, "where") ||
           token_is_word(token, "returning");
}

/* What the expression does with the columns that were just named. */
static void take_expression(struct reading *reading, struct lint_set *sets, int depth)
{
    const struct token *first = reading->at;
    bool has_sum = false, has_query = false;

    while (!reading_is_element_end(reading, depth) &&
           !(reading->depth == depth && is_clause(reading->at))) {
        has_sum |= token_is_sign(reading->at, "+") || token_is_sign(reading->at, "-");
        has_query |= token_is_word(reading->at, "select");
        reading_next(reading);
    }
    const struct token *end = reading->at;
    for (struct lint_set *set = sets; set != NULL; set = set->next) {
        bool names_itself = false;
        for (const struct token *token = first; token != end; token = token->next)
            names_itself |= token_is_name(token) && strcmp(token->text, set->column) == 0;
        set->is_increment = has_sum && !has_query && names_itself;
    }
    bool is_plain =
        first->kind == TOKEN_STRING && (first->next == end || token_is_sign(first->next, "::"));
    if (is_plain && sets != NULL)
        sets->literal = first->text;
}

/* `column = expression` or `(column, ...) = expression`. */
static void take_assignment(struct reading *reading, struct lint_update *update, int depth)
{
    struct lint_set *first = NULL;
    bool is_list = reading_take_sign(reading, "(");

    while (token_is_name(reading->at)) {
        struct lint_set *set = add_set(reading, update);
        first = first != NULL ? first : set;
        reading_next(reading);
        if (!is_list || !reading_take_sign(reading, ","))
            break;
    }
    if (is_list)
        reading_skip_to_depth(reading, depth);
    while (!reading_is_element_end(reading, depth) && !token_is_sign(reading->at, "="))
        reading_next(reading);
    reading_take_sign(reading, "=");
    take_expression(reading, first, depth);
}

static bool is_comparison(const struct token *token)
{
    return token_is_sign(token, "<") || token_is_sign(token, "<=") || token_is_sign(token, ">") ||
           token_is_sign(token, ">=");
}

/* The strings that follow a status column: `= 'A'`, `IN ('A', 'B')`, `= ANY ('{A,B}')`. */
static void note_statuses(struct reading *reading, struct lint_update *update,
                          const struct token *token)
{
    for (token = token->next; token->kind != TOKEN_END; token = token->next) {
        if (token->kind == TOKEN_STRING)
            lint_add_word(reading->schema->arena, &update->statuses, token->text);
        bool goes_on = token->kind == TOKEN_STRING || token_is_sign(token, "=") ||
                       token_is_sign(token, "(") || token_is_sign(token, ",") ||
                       token_is_word(token, "in") || token_is_word(token, "any");
        if (!goes_on)
            return;
    }
}

static void take_condition(struct reading *reading, struct lint_update *update, int depth)
{
    const struct token *before = reading->at;

    while (!reading_is_over(reading) && reading->depth >= depth &&
           !(reading->depth == depth && token_is_word(reading->at, "returning"))) {
        const struct token *token = reading->at;
        if (token_is_name(token) && lint_is_status_name(token->text)) {
            update->asks_status = true;
            note_statuses(reading, update, token);
        }
        if (token_is_name(token) && lint_is_time_name(token->text) &&
            (is_comparison(token->next) || is_comparison(before)) && update->asks_time == NULL)
            update->asks_time = token->text;
        before = token;
        reading_next(reading);
    }
}

static struct lint_update *add_update(struct reading *reading, const char *table,
                                      const struct token *where)
{
    struct lint_update **end = &reading->schema->updates;

    while (*end != NULL)
        end = &(*end)->next;
    *end = arena_alloc(reading->schema->arena, sizeof **end);
    (*end)->table = table;
    (*end)->place = reading_place(reading, where);
    return *end;
}

/* From SET to the end of the UPDATE. */
static void take_update(struct reading *reading, const char *table, const struct token *where)
{
    int depth = reading->depth;
    struct lint_update *update = add_update(reading, table, where);

    do {
        take_assignment(reading, update, depth);
    } while (reading_take_sign(reading, ","));
    while (!reading_is_over(reading) && reading->depth >= depth) {
        if (reading->depth == depth && reading_take_word(reading, "where")) {
            take_condition(reading, update, depth);
            return;
        }
        if (reading->depth == depth && token_is_sign(reading->at, ")"))
            return;
        reading_next(reading);
    }
}

/* Is the word UPDATE, after `before`, a statement? Not in FOR UPDATE, ON UPDATE, BEFORE UPDATE. */
static bool begins_update(const struct token *before)
{
    static const char *const others[] = {"for", "key", "on", "before", "after", "of", "or", NULL};

    for (const char *const *other = others; before != NULL && *other != NULL; other++)
        if (token_is_word(before, *other))
            return false;
    return true;
}

void read_updates(struct reading *reading)
{
    static const char *const noise[] = {"only", NULL};
    const struct token *before = NULL;
    const char *into = NULL;

    while (!reading_is_over(reading)) {
        const struct token *token = reading->at;
        reading_next(reading);
        if (token_is_word(token, "into"))
            into = reading_take_name(reading);
        if (token_is_word(token, "update") && begins_update(before)) {
            reading_skip_words(reading, noise);
            bool has_no_name = token_is_word(reading->at, "set"); /* DO UPDATE SET, MERGE */
            const char *table = has_no_name ? into : reading_take_name(reading);
            while (token_is_name(reading->at) && !token_is_word(reading->at, "set"))
                reading_next(reading); /* AS alias */
            if (table != NULL && reading_take_word(reading, "set"))
                take_update(reading, table, token);
        }
        before = token;
    }
}
