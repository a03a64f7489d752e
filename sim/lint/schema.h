/* What lint knows: the tables, indexes and UPDATEs that the given texts have. Everything lives in
 * the arena of the schema. */
#ifndef FENCEPOST_LINT_SCHEMA_H
#define FENCEPOST_LINT_SCHEMA_H

#include "sim/core/arena.h"

/* Where something is: in a file, or in a database. */
struct lint_place {
    const char *file;   /* NULL: it is in a database */
    const char *object; /* its name there; NULL: it is in a file */
    int line, column;
};

struct lint_word {
    struct lint_word *next;
    const char *text;
};

struct lint_column {
    struct lint_column *next;
    const char *name, *type;
    struct lint_place place;
    bool not_null;
};

struct lint_table {
    struct lint_table *next;
    const char *name; /* without `public.` */
    struct lint_place place;
    struct lint_column *columns;
    struct lint_word *words; /* of its CHECKs and of its status column's default */
    bool has_trigger;        /* one that runs before an UPDATE */
};

struct lint_index {
    struct lint_index *next;
    const char *name, *table;
    struct lint_place place;
    bool unique;
    struct lint_word *columns; /* in their order; an expression is "(" */
    bool is_partial;
    bool needs_not_null;     /* partial, for rows that are not null */
    struct lint_word *words; /* the strings of its condition */
};

/* One `column = expression` of an UPDATE. */
struct lint_set {
    struct lint_set *next;
    const char *column;
    const char *literal; /* NULL: the expression is no plain string */
    struct lint_place place;
    bool is_increment; /* column = column + something */
};

struct lint_update {
    struct lint_update *next;
    const char *table;
    struct lint_place place;
    struct lint_set *sets;
    bool asks_status;           /* its WHERE names a status column */
    struct lint_word *statuses; /* the strings that its WHERE compares a status with */
    const char *asks_time;      /* a column that its WHERE compares as a time; NULL: none */
};

struct lint_enum {
    struct lint_enum *next;
    const char *name;
    struct lint_word *words;
};

/* A text that cannot be read to its end. */
struct lint_trouble {
    struct lint_trouble *next;
    const char *what;
    struct lint_place place;
};

struct lint_schema {
    struct arena *arena;
    struct lint_table *tables;
    struct lint_index *indexes;
    struct lint_update *updates;
    struct lint_enum *enums;
    struct lint_trouble *troubles;
};

struct lint_schema *lint_schema_new(void);
void lint_schema_free(struct lint_schema *schema); /* NULL is allowed */

/* Take what a text has. Of a file `object` is NULL, of a database `file` is. Both must live as long
 * as the schema; the text need not. */
void lint_read(struct lint_schema *schema, const char *file, const char *object, const char *text);

/* ---- for the rules ---- */

/* The same table, also when one of them is named with its schema. */
bool lint_same_table(const char *a, const char *b);
struct lint_table *lint_table_find(const struct lint_schema *schema, const char *name);
bool lint_has_word(const struct lint_word *words, const char *text); /* in any case */
void lint_add_word(struct arena *arena, struct lint_word **words, const char *text);

/* What names say. */
bool lint_is_status_name(const char *name);
bool lint_is_time_name(const char *name);

#endif
