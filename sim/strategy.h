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

/* What invariants must know of a strategy. Every table is a watched one and every column one of its
 * watched columns; what a strategy does not have is NULL, and the invariants that need it do not
 * apply to it. */

/* How the lock table reads. */
struct lock_view {
    const char *table;
    const char *resource_column;
    const char *until_column; /* a timestamp: live while later than the database's clock; NULL: a
                                 row is a lock */
    const char *job_column;   /* the key of the job that it is held for */
    const char *token_column;
    const char *expires_column; /* a timestamp: from then on anybody may take the lock away; its
                                   renewals must be watched too */
};

/* How a status may change. */
struct state_machine {
    const char *table;
    const char *column;
    const char *const (*allowed)[2]; /* from, to; ended by {NULL, NULL} */
    const char *const *terminal; /* statuses that are the last word, ended by NULL; NULL: none */
};

/* How the table of resources reads. Its key has one column. */
struct resource_status {
    const char *name;
    bool in_progress; /* somebody is at work on it */
    bool has_parts;   /* the cloud may have something of it */
};
struct resource_view {
    const char *table;
    const char *status_column;
    const char *token_column;
    const struct resource_status *statuses; /* all of them, ended by a NULL name */
};

/* How the table of jobs reads. Its key has one column. */
struct job_type {
    const char *name;
    const char *in_progress; /* the resource's status while it runs */
    const char *const *from; /* statuses from which it may start, ended by NULL */
};
struct job_view {
    const char *table;
    const char *resource_column; /* the key of the resource that it is for */
    const char *type_column;
    const char *status_column;
    const char *code_column;  /* why it failed */
    const char *group_column; /* its message group */
    const char *root_column; /* the first job of which it is a retry; its own key when it is none */
    const char *started_column;                         /* a timestamp: since when it runs */
    const char *pending, *running, *succeeded, *failed; /* the statuses */
    const struct job_type *types;                       /* ended by a NULL name */
};

/* What must be alerted about, and by whom. The subject of an alert is the resource's key, the job's
 * key, or with contention whatever the strategy likes. A code is that of a job which failed because
 * somebody acted on what the alert is about. An alert that the strategy does not have is NULL. */
struct alert_view {
    const char *monitor_role; /* the actors that look */
    int64_t round_ns;         /* no longer from one look to the next */
    const char *stale_lock;   /* about a resource whose lock expired this long ago */
    const char *stale_lock_code;
    int64_t stale_after_ns;
    const char *long_job; /* about a job that has been running for so long */
    int64_t long_after_ns;
    const char *contention; /* when more than `contention_count` such events come within the
                               window */
    const char *contention_event;
    int contention_count;
    int64_t contention_window_ns;
    const char *dead_letter; /* about a job whose message has been a dead letter for so long; the
                                first word of the message is the job's key */
    int64_t dead_letter_after_ns;
    int64_t dead_letter_hidden_ns; /* one that was looked at is not seen again for so long */
    const char *lockless;          /* about a resource of which a job runs without a lock */
    const char *lockless_code;
    const char *double_lock; /* about a resource with two locks */
    const char *double_lock_code;
};

/* A lock that is a column of what it locks. */
struct row_lock_view {
    const char *table;
    const char *lock_column;     /* whose it is; null: nobody's */
    const char *version_column;  /* counts how often it was taken */
    const char *status_column;   /* with `unlocked` */
    const char *const *unlocked; /* statuses in which a row is locked by nobody, ended by NULL */
    const char *due_column;      /* a timestamp: it may be taken from then on; NULL: at any time */
};

/* A status that only an operator can end, and the alert that tells him. Its subject is the row's
 * key, a colon, and the version. */
struct unresolved_view {
    const char *table;
    const char *status_column;
    const char *status;
    const char *version_column;
    const char *alert;
};

/* Of which rows a status says whether an outside service has done something to them. The row's key
 * is the subject. */
struct effect_view {
    const char *service, *op;
    const char *table;
    const char *status_column;
    const char *done; /* the status that says that it was done */
    const char *const
        *undone; /* those that say that it was not, ended by NULL; NULL: none says so */
};

/* Work that must end done, unless the service has refused it for good. */
struct work_view {
    const struct effect_view *effect; /* what is done to which rows */
    const char *failed;               /* the status of what the service has refused */
};

/* What is created by idempotency key. */
struct create_view {
    const char *table;          /* of what is created; its key has one column */
    const char *key_column;     /* the idempotency key */
    const char *content_column; /* what was asked for; NULL: it is not compared */
    const char *answer_event; /* a caller has its answer: `key`, `content` as it asked, and `id` */
};

/* How many rows of another table a row has, all of them or those of a status. */
struct aggregate_count {
    const char *column; /* where the number stands */
    const char *status; /* of the rows that it counts; NULL: all */
};
struct aggregate_view {
    const char *table; /* of the rows with the numbers; its key has one column */
    const char *source_table;
    const char *parent_column;            /* of the source: whose it is */
    const char *status_column;            /* of the source */
    const struct aggregate_count *counts; /* ended by a NULL column */
};

/* How the requests that its actors answer are to be judged. The first word of a request's body is
 * its id, which is the same when it is sent again. */
struct request_view {
    const char *role;    /* the actors that answer; NULL: it has no requests */
    int ok_status;       /* what was asked for is done */
    int conflict_status; /* refused, because another request about the same subject is under way */
    int64_t answer_within_ns;
    int64_t stale_ns;       /* for so long a request may keep others out after its handler died */
    const char *step_table; /* what was done for requests: a row each; NULL: not known */
    const char *request_column; /* of that table: the request's id */
};

/* A cache, and the requests that it serves. The source that its entries are built from is in the
 * artifact store: the object `source` + key of the entry, to which versions are only added. A
 * rebuild is one run (of a claim) that reads it. */
struct cache_view {
    const char *table;          /* its key has one column */
    const char *data_column;    /* begins with the version of the source that it was built from */
    const char *const *derived; /* columns made of the same data: they begin with the same version;
                                   ended by NULL; NULL: none */
    const char *expires_column; /* a timestamp: from then on it is no entry; null: never */
    const char *builder_column; /* "instance#run" of the rebuild that wrote it */
    const char *source;
    const char *forced_job;   /* a rebuild for this job is made whether there is an entry or not */
    int64_t answer_within_ns; /* a request that waits for others takes no longer */
};

/* A metric that the strategy's actors count or observe, for the reader of an exposition. */
struct metric {
    const char *name;
    const char *about; /* one sentence */
};

struct strategy {
    const char *name;
    const char *about;
    const char *document; /* file name of the design document */
    const char *schema_sql;
    const struct rt_sql *const *statements; /* all that its actors may send, ended by NULL */
    const char *const *service_ops; /* what its actors ask of outside services, ended by NULL; NULL:
                                       nothing */
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
    const struct state_machine *states;
    size_t state_count;
    struct resource_view resources;
    struct job_view jobs;
    struct alert_view alerts;
    struct row_lock_view row_lock;
    struct unresolved_view unresolved;
    struct request_view requests;
    const struct effect_view *effects;
    size_t effect_count;
    const struct work_view *works;
    size_t work_count;
    struct create_view creates;
    struct aggregate_view aggregate;
    struct cache_view cache;
    bool advisory_locks; /* those that are held at the end are reported, and must not be */
    const struct metric *metrics;
    size_t metric_count;
    /* Those of them that are durations and whose median and maximum a campaign reports, ended by
     * NULL; NULL: none. */
    const char *const *summary_metrics;
};

/* All of them, ended by NULL. */
extern const struct strategy *const strategies[];
const struct strategy *strategy_find(const char *name);

#endif
