/* Reading statements token by token: what the files read*.c share. */
#ifndef FENCEPOST_LINT_READING_H
#define FENCEPOST_LINT_READING_H

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

/* At the end of the statement, or of the text? */
bool reading_is_over(const struct reading *reading);
void reading_next(struct reading *reading);
/* Over this word or sign, if it comes next. */
bool reading_take_word(struct reading *reading, const char *word);
bool reading_take_sign(struct reading *reading, const char *sign);
/* Over all that come of these, in any order. Ended by NULL. */
void reading_skip_words(struct reading *reading, const char *const *words);
/* To the end of the brackets that are open at `depth`, or of the statement. */
void reading_skip_to_depth(struct reading *reading, int depth);
/* Over its end. */
void reading_skip_statement(struct reading *reading);
struct lint_place reading_place(const struct reading *reading, const struct token *token);
/* `name`, `schema.name`; without `public.`. NULL: there is none. */
const char *reading_take_name(struct reading *reading);
/* Does an element of a list at this depth of brackets end here? */
bool reading_is_element_end(const struct reading *reading, int depth);
/* Every string up to the end of the brackets at `depth`, or of the statement. */
void reading_take_strings(struct reading *reading, struct lint_word **words, int depth);

/* ---- statements, after their first word ---- */

void read_create(struct reading *reading, const struct token *where);
void read_alter_table(struct reading *reading);
void read_drop(struct reading *reading);
/* Bodies of functions are read afterwards, with their own places. */
void read_bodies(struct reading *reading);
/* All UPDATEs of a statement, also those in its WITH, and what ON CONFLICT does. */
void read_updates(struct reading *reading);

#endif
