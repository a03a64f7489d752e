/* A strategy: one locking design, as data. One folder in reference_impl/, one line in
 * strategies.def. */
#ifndef FENCEPOST_STRATEGY_H
#define FENCEPOST_STRATEGY_H

#include "sim/rt.h"

#define STRATEGY_WEAKNESS_COUNT_MAX 64
#define WATCHED_COLUMN_COUNT_MAX 12

/* A named departure from the hardened design. */
struct weakness {
    const char *name;
    const char *about;      /* what it is, one sentence */
    const char *source;     /* which sentence of the document has it, or "planted" */
    const char *breaks;     /* the invariant that it breaks */
    bool as_written;        /* the document itself has it */
    const char *schema_sql; /* run after the schema when switched on; NULL: none */
};

struct role {
    const char *name;     /* actors are called name-1, name-2, ... */
    const char *topology; /* the key under topology: that says how many; NULL: always one */
    int count_default;
    int count_max;
    void (*body)(struct rt *rt);
    bool faultable; /* may faults pick it with `any`? */
};

enum value_type {
    VALUE_TEXT,     /* a plain string */
    VALUE_NAME,     /* letters, digits, - and _; 1 to 48 characters */
    VALUE_INTEGER,  /* with range */
    VALUE_DURATION, /* "90m", in ns */
    VALUE_ENUM,     /* one of words */
};

/* One key of the entries of a workload list. */
struct workload_field {
    const char *key;
    enum value_type type;
    bool required;
    int64_t low, high;        /* VALUE_INTEGER, VALUE_DURATION */
    const char *const *words; /* VALUE_ENUM, ended by NULL */
    const char *refers_to;    /* the value must be the `name` of an entry of this list; or NULL */
    const char *fallback;     /* used when absent; NULL: "" or 0 */
    const char *about;
};
struct workload_list {
    const char *name;
    const char *about;
    const struct workload_field *fields;
    size_t field_count;
    int entry_count_max;
};

/* A table whose committed changes the harness follows. Columns are reported in this order. */
struct watched_table {
    const char *table;
    const char *const *key;     /* columns of the key, ended by NULL */
    const char *const *columns; /* further columns reported, ended by NULL */
    const char *changed; /* SQL on OLD and NEW: report an update only when true; NULL: always */
    /* At rest no row of this table may have `pending_column` in `pending_values`; with a NULL
     * column no row may exist at all when pending is set. */
    bool pending;
    const char *pending_column;
    const char *const *pending_values; /* ended by NULL */
};

/* How the lock table reads, for lock_exclusive. */
struct lock_view {
    const char *table;
    const char *resource_column;
    const char *until_column; /* a timestamp: live while later than the database's clock; NULL: a
                                 row is a lock */
};

/* How the status of a resource may change, for valid_transitions. */
struct state_machine {
    const char *table;               /* a watched table; NULL: there is none */
    const char *column;              /* one of its watched columns */
    const char *const (*allowed)[2]; /* from, to; ended by {NULL, NULL} */
};

struct strategy {
    const char *name;
    const char *about;
    const char *document; /* file name of the design document */
    const char *schema_sql;
    const struct weakness *weaknesses;
    size_t weakness_count;
    const struct role *roles;
    size_t role_count;
    /* Runs alone, before everything else: fills the tables from the workload. */
    void (*setup)(struct rt *rt);
    const struct workload_list *workload;
    size_t workload_count;
    const struct watched_table *watched;
    size_t watched_count;
    struct lock_view lock;
    struct state_machine states;
};

/* All of them, ended by NULL. */
extern const struct strategy *const strategies[];
const struct strategy *strategy_find(const char *name);

#endif
