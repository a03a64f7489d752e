/* Scenario fields as tables: one walker does unknown keys, types, ranges and what is required; the
 * same tables print the reference. */
#ifndef FENCEPOST_FIELDS_H
#define FENCEPOST_FIELDS_H

#include "sim/core/base.h"

enum field_type {
    FIELD_TEXT,           /* char *            */
    FIELD_NAME,           /* char *            letters, digits, - _ . ; 1 to 64 */
    FIELD_INTEGER,        /* int64_t           low..high; or a word: -1, -2 */
    FIELD_BOOL,           /* bool              true or false */
    FIELD_DURATION,       /* int64_t, ns       "90m", "1h30m", "0s"; low..high; or a word: -1, -2 */
    FIELD_DURATION_RANGE, /* struct duration_range; "20m..90m" or one duration */
    FIELD_PROBABILITY,    /* uint32_t, per million; 0..1 with at most 6 decimals */
    FIELD_ENUM,           /* int               index into words */
    FIELD_POINTS,         /* uint64_t          bit set of fault points, by name; a list or one */
    FIELD_TARGET,         /* struct fault_target: "worker-1", "any-worker", "any" */
    FIELD_NAMES,          /* struct name_list  labels; a list or one */
    FIELD_LABEL,          /* char *            letters, digits, - and _; 1 to `high` (0: 64) */
    FIELD_MAP,            /* struct yaml_node *, a mapping with a table of its own */
    FIELD_LIST,           /* struct yaml_node *, a list */
    FIELD_NODE,           /* struct yaml_node *, whatever it is */
};

struct duration_range {
    int64_t low_ns, high_ns;
};

struct name_list {
    const char *const *names;
    size_t count;
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset; /* into the config struct */
    bool required;
    /* FIELD_INTEGER, FIELD_DURATION, FIELD_DURATION_RANGE; both 0: any value from 0 up. */
    int64_t low, high;
    /* Ended by NULL. FIELD_ENUM: the words. FIELD_DURATION, FIELD_INTEGER: words allowed
     * instead (`never`), stored as -1 - index. FIELD_NODE: what may stand there, for messages. */
    const char *const *words;
    const char *fallback; /* the scalar used when absent; NULL: zero */
    const char *example;  /* a value, for the reader; NULL: the fallback is one */
    const char *about;
};

#endif
