/* This strategy as data: its actors, its workload, its tables, its weaknesses. */
#include "sim/strategy.h"

#include "reference_impl/job_locks/job_locks.h"

static const struct weakness weaknesses[] = {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql)                          \
    {name, about, source, breaks, as_written, schema_sql},
#include "reference_impl/job_locks/weaknesses.def"
#undef WEAKNESS
};

static const struct role roles[] = {
    {"worker", "workers", 2, 16, job_locks_worker, true},
    {"janitor", "janitors", 1, 4, job_locks_janitor, true},
    {"client", NULL, 1, 1, job_locks_client, false},
    {"operator", NULL, 1, 1, job_locks_operator, false},
};

static const char *const cluster_statuses[] = {"PENDING", "READY", "FAILED", "DESTROYED", NULL};
static const char *const job_types[] = {"CREATE", "DESTROY", "SCALE_WORKERS", "JANITOR_DESTROY",
                                        NULL};
static const char *const message_groups[] = {"cluster", "job", NULL};

static const struct workload_field cluster_fields[] = {
    {.key = "name", .type = VALUE_NAME, .required = true, .about = "its name, and its id"},
    {.key = "status",
     .type = VALUE_ENUM,
     .words = cluster_statuses,
     .fallback = "PENDING",
     .about = "its status at the start; a READY or FAILED one also exists in the cloud"},
    {.key = "platform", .type = VALUE_NAME, .fallback = "aws", .about = "where it runs"},
    {.key = "base_domain",
     .type = VALUE_TEXT,
     .fallback = "example.com",
     .about = "the domain under which it has its name"},
};

static const struct workload_field job_fields[] = {
    {.key = "type",
     .type = VALUE_ENUM,
     .required = true,
     .words = job_types,
     .about = "what is to be done"},
    {.key = "cluster",
     .type = VALUE_NAME,
     .required = true,
     .refers_to = "clusters",
     .about = "the cluster it is for"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .fallback = "0s",
     .about = "when it is submitted"},
    {.key = "workers",
     .type = VALUE_INTEGER,
     .low = 0,
     .high = 1000,
     .fallback = "5",
     .about = "SCALE_WORKERS: how many there shall be"},
    {.key = "group",
     .type = VALUE_ENUM,
     .words = message_groups,
     .fallback = "cluster",
     .about = "the message group: its cluster's, as the document has it, or one of its own, so "
              "that the queue does not help the lock"},
};

static const struct workload_field repair_fields[] = {
    {.key = "cluster",
     .type = VALUE_NAME,
     .required = true,
     .refers_to = "clusters",
     .about = "the cluster that the operator looks after"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .fallback = "0s",
     .about = "when the operator does"},
};

static const struct workload_list workload[] = {
    {"clusters", "the clusters at the start", cluster_fields, FP_COUNT(cluster_fields), 64},
    {"jobs", "the jobs that are submitted", job_fields, FP_COUNT(job_fields), 256},
    {"repairs", "when an operator frees a cluster that is stuck and that nobody holds",
     repair_fields, FP_COUNT(repair_fields), 64},
};

/* The lock table's key is given with the job, as unkeyed_lock has it: the mirror must tell two
 * locks on one cluster apart. Renewals are not reported; here a row is a lock until it is
 * deleted. */
static const char *const lock_key[] = {"cluster_id", "job_id", NULL};
static const char *const lock_columns[] = {"locked_by", "token", NULL};
static const char *const job_key[] = {"id", NULL};
static const char *const job_columns[] = {"cluster_id", "type",    "status",
                                          "error_code", "attempt", NULL};
static const char *const job_pending[] = {"PENDING", "RUNNING", NULL};
static const char *const cluster_key[] = {"id", NULL};
static const char *const cluster_columns[] = {"status", "token", NULL};
static const char *const cluster_pending[] = {"CREATING", "DESTROYING", "SCALING", NULL};

static const struct watched_table watched[] = {
    {.table = "clusters",
     .key = cluster_key,
     .columns = cluster_columns,
     .changed = "OLD.status IS DISTINCT FROM NEW.status OR OLD.token IS DISTINCT FROM NEW.token",
     .pending = true,
     .pending_column = "status",
     .pending_values = cluster_pending},
    {.table = "jobs",
     .key = job_key,
     .columns = job_columns,
     .changed = "OLD.status IS DISTINCT FROM NEW.status",
     .pending = true,
     .pending_column = "status",
     .pending_values = job_pending},
    {.table = "job_locks",
     .key = lock_key,
     .columns = lock_columns,
     .changed = "(OLD.cluster_id, OLD.job_id, OLD.locked_by, OLD.token) IS DISTINCT FROM "
                "(NEW.cluster_id, NEW.job_id, NEW.locked_by, NEW.token)",
     .pending = true},
};

/* The transitions of the document, and one that only the reaper makes: CREATING to PENDING, so
 * that a create can be tried again. */
static const char *const transitions[][2] = {
    {"PENDING", "CREATING"},  {"CREATING", "READY"},    {"CREATING", "FAILED"},
    {"READY", "DESTROYING"},  {"FAILED", "DESTROYING"}, {"DESTROYING", "DESTROYED"},
    {"DESTROYING", "FAILED"}, {"READY", "SCALING"},     {"SCALING", "READY"},
    {"SCALING", "FAILED"},    {"CREATING", "PENDING"},  {NULL, NULL},
};

const struct strategy strategy_job_locks = {
    .name = "job_locks",
    .about = "a lock row per cluster with an expiry that a heartbeat moves on; a janitor reaps",
    .document = "Worker Concurrency Safety and Locking Strategy",
    .schema_sql = job_locks_schema_sql,
    .weaknesses = weaknesses,
    .weakness_count = FP_COUNT(weaknesses),
    .roles = roles,
    .role_count = FP_COUNT(roles),
    .setup = job_locks_setup,
    .workload = workload,
    .workload_count = FP_COUNT(workload),
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .lock = {.table = "job_locks", .resource_column = "cluster_id"},
    .states = {.table = "clusters", .column = "status", .allowed = transitions},
};
