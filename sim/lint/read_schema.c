/* What makes and changes tables, indexes, types and triggers. */
#include <string.h>

#include "sim/lint/reading.h"

/* ---- indexes ---- */

static struct lint_index *add_index(struct reading *reading, const char *name, const char *table,
                                    bool unique, const struct token *where)
{
    struct lint_index **end = &reading->schema->indexes;

    while (*end != NULL)
        end = &(*end)->next;
    *end = arena_alloc(reading->schema->arena, sizeof **end);
    (*end)->name = name;
    (*end)->table = table;
    (*end)->unique = unique;
    (*end)->place = reading_place(reading, where);
    return *end;
}

/* One column of an index or a key: its name, or "(" for an expression. */
static void take_index_column(struct reading *reading, struct lint_index *index, int depth)
{
    const struct token *first = reading->at;
    const char *name = token_is_name(first) && !token_is_sign(first->next, "(") ? first->text : "(";

    lint_add_word(reading->schema->arena, &index->columns, name);
    while (reading->depth >= depth && reading->at->kind != TOKEN_END) {
        bool is_last = token_is_sign(reading->at, ")") && reading->depth == depth;
        bool is_next = token_is_sign(reading->at, ",") && reading->depth == depth;
        reading_next(reading);
        if (is_last || is_next)
            return;
    }
}

/* From "(" over ")". */
static void take_index_columns(struct reading *reading, struct lint_index *index)
{
    if (!reading_take_sign(reading, "("))
        return;
    int depth = reading->depth;
    while (reading->depth >= depth && reading->at->kind != TOKEN_END)
        take_index_column(reading, index, depth);
}

static bool is_not_null_test(const struct token *token)
{
    return token_is_word(token, "is") && token_is_word(token->next, "not") &&
           token_is_word(token->next->next, "null");
}

static void take_index_condition(struct reading *reading, struct lint_index *index)
{
    index->is_partial = true;
    for (const struct token *token = reading->at; token->kind != TOKEN_END; token = token->next) {
        if (token_is_sign(token, ";"))
            break;
        index->needs_not_null |= is_not_null_test(token);
    }
    reading_take_strings(reading, &index->words, 0);
}

/* After CREATE [UNIQUE] INDEX. */
static void read_create_index(struct reading *reading, bool unique, const struct token *where)
{
    static const char *const noise[] = {"concurrently", "if", "not", "exists", NULL};

    reading_skip_words(reading, noise);
    const char *name = token_is_word(reading->at, "on") ? "" : reading_take_name(reading);
    if (!reading_take_word(reading, "on"))
        return;
    reading_take_word(reading, "only");
    const char *table = reading_take_name(reading);
    if (name == NULL || table == NULL)
        return;
    struct lint_index *index = add_index(reading, name, table, unique, where);
    if (reading_take_word(reading, "using"))
        reading_next(reading);
    take_index_columns(reading, index);
    while (!reading_is_over(reading))
        if (reading->depth == 0 && reading_take_word(reading, "where"))
            take_index_condition(reading, index);
        else
            reading_next(reading);
}

/* ---- tables ---- */

static struct lint_column *find_column(const struct lint_table *table, const char *name)
{
    for (struct lint_column *column = table->columns; column != NULL; column = column->next)
        if (strcmp(column->name, name) == 0)
            return column;
    return NULL;
}

static struct lint_column *add_column(struct reading *reading, struct lint_table *table)
{
    struct lint_column **end = &table->columns;

    while (*end != NULL)
        end = &(*end)->next;
    *end = arena_alloc(reading->schema->arena, sizeof **end);
    (*end)->place = reading_place(reading, reading->at);
    (*end)->name = reading->at->text;
    reading_next(reading);
    const char *type = reading_take_name(reading);
    (*end)->type = type != NULL ? type : "";
    return *end;
}

/* CHECK ( ... ): its strings are words of the table when it is about a status. */
static void take_check(struct reading *reading, struct lint_table *table)
{
    struct lint_word *words = NULL;
    bool is_about_status = false;

    if (!token_is_sign(reading->at, "("))
        return;
    int depth = reading->depth;
    reading_next(reading);
    for (const struct token *token = reading->at; token->kind != TOKEN_END; token = token->next) {
        if (token_is_sign(token, ",") || token_is_sign(token, ")"))
            break;
        is_about_status |= token_is_name(token) && lint_is_status_name(token->text);
    }
    reading_take_strings(reading, &words, depth + 1);
    for (; is_about_status && words != NULL; words = words->next)
        lint_add_word(reading->schema->arena, &table->words, words->text);
}

static void add_key(struct reading *reading, const struct lint_table *table, const char *column,
                    const struct token *where)
{
    struct lint_index *index = add_index(reading, "", table->name, true, where);
    lint_add_word(reading->schema->arena, &index->columns, column);
}

/* What follows the type of a column. */
static void take_column_rest(struct reading *reading, struct lint_table *table,
                             struct lint_column *column, int depth)
{
    while (!reading_is_element_end(reading, depth)) {
        const struct token *token = reading->at;
        if (reading_take_word(reading, "not")) {
            column->not_null |= token_is_word(reading->at, "null");
        } else if (reading_take_word(reading, "primary")) {
            column->not_null = true;
            add_key(reading, table, column->name, token);
        } else if (reading_take_word(reading, "unique")) {
            add_key(reading, table, column->name, token);
        } else if (reading_take_word(reading, "check")) {
            take_check(reading, table);
        } else if (reading_take_word(reading, "default")) {
            if (reading->at->kind == TOKEN_STRING && lint_is_status_name(column->name))
                lint_add_word(reading->schema->arena, &table->words, reading->at->text);
        } else {
            reading_next(reading);
        }
    }
}

static void take_key_columns(struct reading *reading, struct lint_table *table, bool is_primary,
                             const struct token *where)
{
    static const char *const noise[] = {"key", "nulls", "not", "distinct", NULL};

    reading_skip_words(reading, noise);
    if (!token_is_sign(reading->at, "("))
        return;
    struct lint_index *index = add_index(reading, "", table->name, true, where);
    take_index_columns(reading, index);
    for (struct lint_word *word = index->columns; is_primary && word; word = word->next) {
        struct lint_column *column = find_column(table, word->text);
        if (column != NULL)
            column->not_null = true;
    }
}

/* A constraint of the table. False: it is none. */
static bool take_constraint(struct reading *reading, struct lint_table *table)
{
    const struct token *where = reading->at;

    if (reading_take_word(reading, "constraint"))
        reading_take_name(reading);
    if (reading_take_word(reading, "unique"))
        take_key_columns(reading, table, false, where);
    else if (reading_take_word(reading, "primary"))
        take_key_columns(reading, table, true, where);
    else if (reading_take_word(reading, "check"))
        take_check(reading, table);
    else
        return where != reading->at || token_is_word(where, "foreign") ||
               token_is_word(where, "exclude") || token_is_word(where, "like");
    return true;
}

static void take_element(struct reading *reading, struct lint_table *table, int depth)
{
    if (!take_constraint(reading, table) && token_is_name(reading->at))
        take_column_rest(reading, table, add_column(reading, table), depth);
    while (!reading_is_element_end(reading, depth))
        reading_next(reading);
}

/* After CREATE ... TABLE. */
static void read_create_table(struct reading *reading, const struct token *where)
{
    static const char *const noise[] = {"if", "not", "exists", NULL};

    reading_skip_words(reading, noise);
    const char *name = reading_take_name(reading);
    if (name == NULL || !token_is_sign(reading->at, "("))
        return;
    struct lint_table *table = arena_alloc(reading->schema->arena, sizeof *table);
    struct lint_table **end = &reading->schema->tables;
    while (*end != NULL)
        end = &(*end)->next;
    *end = table;
    table->name = name;
    table->place = reading_place(reading, where);
    reading_next(reading);
    int depth = reading->depth;
    while (!reading_is_over(reading) && reading->depth >= depth) {
        take_element(reading, table, depth);
        reading_next(reading);
    }
}

/* One action of an ALTER TABLE. */
static void take_action(struct reading *reading, struct lint_table *table)
{
    static const char *const noise[] = {"column", "if", "not", "exists", NULL};

    if (reading_take_word(reading, "add")) {
        if (take_constraint(reading, table))
            return;
        reading_skip_words(reading, noise);
        if (token_is_name(reading->at))
            take_column_rest(reading, table, add_column(reading, table), 0);
    } else if (reading_take_word(reading, "alter")) {
        reading_take_word(reading, "column");
        const char *name = reading_take_name(reading);
        struct lint_column *column = name != NULL ? find_column(table, name) : NULL;
        if (column != NULL && reading_take_word(reading, "set") &&
            reading_take_word(reading, "not"))
            column->not_null = true;
    }
}

void read_alter_table(struct reading *reading)
{
    static const char *const noise[] = {"if", "exists", "only", NULL};

    reading_skip_words(reading, noise);
    const char *name = reading_take_name(reading);
    struct lint_table *table = name != NULL ? lint_table_find(reading->schema, name) : NULL;
    if (table == NULL)
        return;
    while (!reading_is_over(reading)) {
        take_action(reading, table);
        while (!reading_is_element_end(reading, 0))
            reading_next(reading);
        if (!reading_is_over(reading))
            reading_next(reading);
    }
}

/* ---- types and triggers ---- */

static void read_create_type(struct reading *reading)
{
    const char *name = reading_take_name(reading);

    if (name == NULL || !reading_take_word(reading, "as") || !reading_take_word(reading, "enum"))
        return;
    struct lint_enum *type = arena_alloc(reading->schema->arena, sizeof *type);
    type->name = name;
    type->next = reading->schema->enums;
    reading->schema->enums = type;
    reading_take_strings(reading, &type->words, 0);
}

/* After CREATE TRIGGER: name BEFORE UPDATE ... ON table. */
static void read_create_trigger(struct reading *reading)
{
    bool is_before = false, is_update = false;

    reading_take_name(reading);
    for (; !reading_is_over(reading) && !token_is_word(reading->at, "on"); reading_next(reading)) {
        is_before |= token_is_word(reading->at, "before");
        is_update |= token_is_word(reading->at, "update");
    }
    const char *name = reading_take_word(reading, "on") ? reading_take_name(reading) : NULL;
    struct lint_table *table = name != NULL ? lint_table_find(reading->schema, name) : NULL;
    if (table != NULL && is_before && is_update)
        table->has_trigger = true;
}

/* ---- what goes away ---- */

static void drop_index(struct lint_schema *schema, const char *name)
{
    for (struct lint_index **at = &schema->indexes; *at != NULL; at = &(*at)->next)
        if ((*at)->name[0] != '\0' && lint_same_table((*at)->name, name)) {
            *at = (*at)->next;
            return;
        }
}

static void drop_table(struct lint_schema *schema, const char *name)
{
    for (struct lint_table **at = &schema->tables; *at != NULL;)
        if (lint_same_table((*at)->name, name))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    for (struct lint_index **at = &schema->indexes; *at != NULL;)
        if (lint_same_table((*at)->table, name))
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

void read_drop(struct reading *reading)
{
    static const char *const noise[] = {"concurrently", "if", "exists", NULL};
    bool is_index = reading_take_word(reading, "index");

    if (!is_index && !reading_take_word(reading, "table"))
        return;
    do {
        reading_skip_words(reading, noise);
        const char *name = reading_take_name(reading);
        if (name != NULL && is_index)
            drop_index(reading->schema, name);
        else if (name != NULL)
            drop_table(reading->schema, name);
    } while (reading_take_sign(reading, ","));
}

/* ---- CREATE ---- */

void read_create(struct reading *reading, const struct token *where)
{
    static const char *const noise[] = {"or",        "replace",  "global",     "local", "temp",
                                        "temporary", "unlogged", "constraint", NULL};

    reading_skip_words(reading, noise);
    bool unique = reading_take_word(reading, "unique");
    if (reading_take_word(reading, "index"))
        read_create_index(reading, unique, where);
    else if (reading_take_word(reading, "table"))
        read_create_table(reading, where);
    else if (reading_take_word(reading, "type"))
        read_create_type(reading);
    else if (reading_take_word(reading, "trigger"))
        read_create_trigger(reading);
    else
        read_bodies(reading);
}
