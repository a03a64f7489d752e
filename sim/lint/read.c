/* From tokens to tables, indexes and UPDATEs. Nothing is rejected: what is not known is passed
 * over. */
#include <string.h>

#include "sim/lint/schema.h"
#include "sim/lint/token.h"

/* A text that waits to be read: the file, or the body of a function in it. */
struct source {
    struct source *next;
    const char *text;
    int line, column;
};

struct reading {
    struct lint_schema *schema;
    const char *file, *object;
    struct source *waiting;
    const struct token *at;
    int depth; /* of brackets, from the start of the statement */
};

/* ---- moving on ---- */

static bool is_over(const struct reading *reading)
{
    return reading->at->kind == TOKEN_END ||
           (reading->depth == 0 && token_is_sign(reading->at, ";"));
}

static void next(struct reading *reading)
{
    if (reading->at->kind == TOKEN_END)
        return;
    if (token_is_sign(reading->at, "("))
        reading->depth++;
    else if (token_is_sign(reading->at, ")") && reading->depth > 0)
        reading->depth--;
    reading->at = reading->at->next;
}

static bool take_word(struct reading *reading, const char *word)
{
    if (!token_is_word(reading->at, word))
        return false;
    next(reading);
    return true;
}

static bool take_sign(struct reading *reading, const char *sign)
{
    if (!token_is_sign(reading->at, sign))
        return false;
    next(reading);
    return true;
}

static void skip_words(struct reading *reading, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL;)
        i = take_word(reading, words[i]) ? 0 : i + 1;
}

/* To the end of the brackets that are open at `depth`, or of the statement. */
static void skip_to_depth(struct reading *reading, int depth)
{
    while (reading->depth > depth && reading->at->kind != TOKEN_END)
        next(reading);
}

static void skip_statement(struct reading *reading)
{
    while (!is_over(reading))
        next(reading);
    reading->depth = 0;
    if (reading->at->kind != TOKEN_END)
        next(reading);
}

static struct lint_place place_of(const struct reading *reading, const struct token *token)
{
    return (struct lint_place){.file = reading->file,
                               .object = reading->object,
                               .line = token->line,
                               .column = token->column};
}

/* `name`, `schema.name`; without `public.`. NULL: there is none. */
static const char *take_name(struct reading *reading)
{
    const char *name = NULL;

    while (token_is_name(reading->at)) {
        const char *part = reading->at->text;
        name = name == NULL || strcmp(name, "public") == 0
                   ? part
                   : arena_printf(reading->schema->arena, "%s.%s", name, part);
        next(reading);
        if (!take_sign(reading, "."))
            break;
    }
    return name;
}

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
    (*end)->place = place_of(reading, where);
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
        next(reading);
        if (is_last || is_next)
            return;
    }
}

/* From "(" over ")". */
static void take_index_columns(struct reading *reading, struct lint_index *index)
{
    if (!take_sign(reading, "("))
        return;
    int depth = reading->depth;
    while (reading->depth >= depth && reading->at->kind != TOKEN_END)
        take_index_column(reading, index, depth);
}

/* Every string up to the end of the brackets at `depth`, or of the statement. */
static void take_strings(struct reading *reading, struct lint_word **words, int depth)
{
    while (!is_over(reading) && reading->depth >= depth) {
        if (reading->at->kind == TOKEN_STRING)
            lint_add_word(reading->schema->arena, words, reading->at->text);
        next(reading);
    }
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
    take_strings(reading, &index->words, 0);
}

/* After CREATE [UNIQUE] INDEX. */
static void read_create_index(struct reading *reading, bool unique, const struct token *where)
{
    static const char *const noise[] = {"concurrently", "if", "not", "exists", NULL};

    skip_words(reading, noise);
    const char *name = token_is_word(reading->at, "on") ? "" : take_name(reading);
    if (!take_word(reading, "on"))
        return;
    take_word(reading, "only");
    const char *table = take_name(reading);
    if (name == NULL || table == NULL)
        return;
    struct lint_index *index = add_index(reading, name, table, unique, where);
    if (take_word(reading, "using"))
        next(reading);
    take_index_columns(reading, index);
    while (!is_over(reading))
        if (reading->depth == 0 && take_word(reading, "where"))
            take_index_condition(reading, index);
        else
            next(reading);
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
    (*end)->place = place_of(reading, reading->at);
    (*end)->name = reading->at->text;
    next(reading);
    const char *type = take_name(reading);
    (*end)->type = type != NULL ? type : "";
    return *end;
}

static bool is_element_end(const struct reading *reading, int depth)
{
    return is_over(reading) || reading->depth < depth ||
           (reading->depth == depth &&
            (token_is_sign(reading->at, ",") || token_is_sign(reading->at, ")")));
}

/* CHECK ( ... ): its strings are words of the table when it is about a status. */
static void take_check(struct reading *reading, struct lint_table *table)
{
    struct lint_word *words = NULL;
    bool is_about_status = false;

    if (!token_is_sign(reading->at, "("))
        return;
    int depth = reading->depth;
    next(reading);
    for (const struct token *token = reading->at; token->kind != TOKEN_END; token = token->next) {
        if (token_is_sign(token, ",") || token_is_sign(token, ")"))
            break;
        is_about_status |= token_is_name(token) && lint_is_status_name(token->text);
    }
    take_strings(reading, &words, depth + 1);
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
    while (!is_element_end(reading, depth)) {
        const struct token *token = reading->at;
        if (take_word(reading, "not")) {
            column->not_null |= token_is_word(reading->at, "null");
        } else if (take_word(reading, "primary")) {
            column->not_null = true;
            add_key(reading, table, column->name, token);
        } else if (take_word(reading, "unique")) {
            add_key(reading, table, column->name, token);
        } else if (take_word(reading, "check")) {
            take_check(reading, table);
        } else if (take_word(reading, "default")) {
            if (reading->at->kind == TOKEN_STRING && lint_is_status_name(column->name))
                lint_add_word(reading->schema->arena, &table->words, reading->at->text);
        } else {
            next(reading);
        }
    }
}

static void take_key_columns(struct reading *reading, struct lint_table *table, bool is_primary,
                             const struct token *where)
{
    static const char *const noise[] = {"key", "nulls", "not", "distinct", NULL};

    skip_words(reading, noise);
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

    if (take_word(reading, "constraint"))
        take_name(reading);
    if (take_word(reading, "unique"))
        take_key_columns(reading, table, false, where);
    else if (take_word(reading, "primary"))
        take_key_columns(reading, table, true, where);
    else if (take_word(reading, "check"))
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
    while (!is_element_end(reading, depth))
        next(reading);
}

/* After CREATE ... TABLE. */
static void read_create_table(struct reading *reading, const struct token *where)
{
    static const char *const noise[] = {"if", "not", "exists", NULL};

    skip_words(reading, noise);
    const char *name = take_name(reading);
    if (name == NULL || !token_is_sign(reading->at, "("))
        return;
    struct lint_table *table = arena_alloc(reading->schema->arena, sizeof *table);
    struct lint_table **end = &reading->schema->tables;
    while (*end != NULL)
        end = &(*end)->next;
    *end = table;
    table->name = name;
    table->place = place_of(reading, where);
    next(reading);
    int depth = reading->depth;
    while (!is_over(reading) && reading->depth >= depth) {
        take_element(reading, table, depth);
        next(reading);
    }
}

/* One action of an ALTER TABLE. */
static void take_action(struct reading *reading, struct lint_table *table)
{
    static const char *const noise[] = {"column", "if", "not", "exists", NULL};

    if (take_word(reading, "add")) {
        if (take_constraint(reading, table))
            return;
        skip_words(reading, noise);
        if (token_is_name(reading->at))
            take_column_rest(reading, table, add_column(reading, table), 0);
    } else if (take_word(reading, "alter")) {
        take_word(reading, "column");
        const char *name = take_name(reading);
        struct lint_column *column = name != NULL ? find_column(table, name) : NULL;
        if (column != NULL && take_word(reading, "set") && take_word(reading, "not"))
            column->not_null = true;
    }
}

static void read_alter_table(struct reading *reading)
{
    static const char *const noise[] = {"if", "exists", "only", NULL};

    skip_words(reading, noise);
    const char *name = take_name(reading);
    struct lint_table *table = name != NULL ? lint_table_find(reading->schema, name) : NULL;
    if (table == NULL)
        return;
    while (!is_over(reading)) {
        take_action(reading, table);
        while (!is_element_end(reading, 0))
            next(reading);
        if (!is_over(reading))
            next(reading);
    }
}

/* ---- types and triggers ---- */

static void read_create_type(struct reading *reading)
{
    const char *name = take_name(reading);

    if (name == NULL || !take_word(reading, "as") || !take_word(reading, "enum"))
        return;
    struct lint_enum *type = arena_alloc(reading->schema->arena, sizeof *type);
    type->name = name;
    type->next = reading->schema->enums;
    reading->schema->enums = type;
    take_strings(reading, &type->words, 0);
}

/* After CREATE TRIGGER: name BEFORE UPDATE ... ON table. */
static void read_create_trigger(struct reading *reading)
{
    bool is_before = false, is_update = false;

    take_name(reading);
    for (; !is_over(reading) && !token_is_word(reading->at, "on"); next(reading)) {
        is_before |= token_is_word(reading->at, "before");
        is_update |= token_is_word(reading->at, "update");
    }
    const char *name = take_word(reading, "on") ? take_name(reading) : NULL;
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

static void read_drop(struct reading *reading)
{
    static const char *const noise[] = {"concurrently", "if", "exists", NULL};
    bool is_index = take_word(reading, "index");

    if (!is_index && !take_word(reading, "table"))
        return;
    do {
        skip_words(reading, noise);
        const char *name = take_name(reading);
        if (name != NULL && is_index)
            drop_index(reading->schema, name);
        else if (name != NULL)
            drop_table(reading->schema, name);
    } while (take_sign(reading, ","));
}

/* ---- UPDATE ---- */

static struct lint_set *add_set(struct reading *reading, struct lint_update *update)
{
    struct lint_set **end = &update->sets;

    while (*end != NULL)
        end = &(*end)->next;
    *end = arena_alloc(reading->schema->arena, sizeof **end);
    (*end)->place = place_of(reading, reading->at);
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

    while (!is_element_end(reading, depth) &&
           !(reading->depth == depth && is_clause(reading->at))) {
        has_sum |= token_is_sign(reading->at, "+") || token_is_sign(reading->at, "-");
        has_query |= token_is_word(reading->at, "select");
        next(reading);
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
    bool is_list = take_sign(reading, "(");

    while (token_is_name(reading->at)) {
        struct lint_set *set = add_set(reading, update);
        first = first != NULL ? first : set;
        next(reading);
        if (!is_list || !take_sign(reading, ","))
            break;
    }
    if (is_list)
        skip_to_depth(reading, depth);
    while (!is_element_end(reading, depth) && !token_is_sign(reading->at, "="))
        next(reading);
    take_sign(reading, "=");
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

    while (!is_over(reading) && reading->depth >= depth &&
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
        next(reading);
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
    (*end)->place = place_of(reading, where);
    return *end;
}

/* From SET to the end of the UPDATE. */
static void take_update(struct reading *reading, const char *table, const struct token *where)
{
    int depth = reading->depth;
    struct lint_update *update = add_update(reading, table, where);

    do {
        take_assignment(reading, update, depth);
    } while (take_sign(reading, ","));
    while (!is_over(reading) && reading->depth >= depth) {
        if (reading->depth == depth && take_word(reading, "where")) {
            take_condition(reading, update, depth);
            return;
        }
        if (reading->depth == depth && token_is_sign(reading->at, ")"))
            return;
        next(reading);
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

/* All UPDATEs of a statement, also those in its WITH, and what ON CONFLICT does. */
static void find_updates(struct reading *reading)
{
    static const char *const noise[] = {"only", NULL};
    const struct token *before = NULL;
    const char *inserted = NULL;

    while (!is_over(reading)) {
        const struct token *token = reading->at;
        next(reading);
        if (token_is_word(token, "into"))
            inserted = take_name(reading);
        if (token_is_word(token, "update") && begins_update(before)) {
            skip_words(reading, noise);
            bool is_conflict = before != NULL && token_is_word(before, "do");
            const char *table = is_conflict ? inserted : take_name(reading);
            while (token_is_name(reading->at) && !token_is_word(reading->at, "set"))
                next(reading); /* AS alias */
            if (table != NULL && take_word(reading, "set"))
                take_update(reading, table, token);
        }
        before = token;
    }
}

/* ---- statements ---- */

/* Bodies of functions are read afterwards, with their own places. */
static void keep_bodies(struct reading *reading)
{
    for (; !is_over(reading); next(reading)) {
        if (reading->at->kind != TOKEN_BODY)
            continue;
        struct source *source = arena_alloc(reading->schema->arena, sizeof *source);
        *source = (struct source){.next = reading->waiting,
                                  .text = reading->at->text,
                                  .line = reading->at->line,
                                  .column = reading->at->column};
        reading->waiting = source;
    }
}

static void read_create(struct reading *reading, const struct token *where)
{
    static const char *const noise[] = {"or",        "replace",  "global",     "local", "temp",
                                        "temporary", "unlogged", "constraint", NULL};

    skip_words(reading, noise);
    bool unique = take_word(reading, "unique");
    if (take_word(reading, "index"))
        read_create_index(reading, unique, where);
    else if (take_word(reading, "table"))
        read_create_table(reading, where);
    else if (take_word(reading, "type"))
        read_create_type(reading);
    else if (take_word(reading, "trigger"))
        read_create_trigger(reading);
    else
        keep_bodies(reading);
}

static void read_statement(struct reading *reading)
{
    const struct token *where = reading->at;

    if (take_word(reading, "create"))
        read_create(reading, where);
    else if (take_word(reading, "alter") && take_word(reading, "table"))
        read_alter_table(reading);
    else if (take_word(reading, "drop"))
        read_drop(reading);
    else if (take_word(reading, "do"))
        keep_bodies(reading);
    else
        find_updates(reading);
    skip_statement(reading);
}

static void note_trouble(struct reading *reading, const struct token *end)
{
    struct lint_trouble *trouble = arena_alloc(reading->schema->arena, sizeof *trouble);

    *trouble = (struct lint_trouble){
        .next = reading->schema->troubles, .what = end->text, .place = place_of(reading, end)};
    reading->schema->troubles = trouble;
}

void lint_read(struct lint_schema *schema, const char *file, const char *object, const char *text)
{
    struct source first = {.text = text, .line = 1, .column = 1};
    struct reading reading = {.schema = schema, .file = file, .object = object, .waiting = &first};

    FP_ASSERT((file == NULL) != (object == NULL));
    while (reading.waiting != NULL) {
        const struct source *source = reading.waiting;
        reading.waiting = source->next;
        reading.at = tokens_of(schema->arena, source->text, source->line, source->column);
        while (reading.at->kind != TOKEN_END)
            read_statement(&reading);
        if (reading.at->text[0] != '\0')
            note_trouble(&reading, reading.at);
    }
}
