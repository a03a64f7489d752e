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
static const char *const cluster_arrivals[] = {"at_start", "with_first_job", NULL};
static const char *const config_words[] = {"valid", "invalid", NULL};
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
    {.key = "called",
     .type = VALUE_NAME,
     .about = "its name in the cloud, when that is not its id: another one may have had it before"},
    {.key = "appears",
     .type = VALUE_ENUM,
     .words = cluster_arrivals,
     .fallback = "at_start",
     .about = "with_first_job: its user asks for it when its first job is due"},
    {.key = "ttl",
     .type = VALUE_DURATION,
     .low = NS_PER_S,
     .high = 30 * NS_PER_DAY,
     .about = "how long it lives until the janitor destroys it; for ever when absent"},
    {.key = "config",
     .type = VALUE_ENUM,
     .words = config_words,
     .fallback = "valid",
     .about = "its install-config.yaml: a create with an invalid one fails for good"},
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
 * locks on one cluster apart. A row is a lock until it is deleted, whatever its end. */
static const char *const lock_key[] = {"cluster_id", "job_id", NULL};
static const char *const lock_columns[] = {"locked_by", "token", "expires_at", NULL};
static const char *const job_key[] = {"id", NULL};
static const char *const job_columns[] = {"cluster_id", "type",          "status",
                                          "error_code", "message_group", "attempt",
                                          "root_id",    "started_at",    NULL};
static const char *const job_pending[] = {"PENDING", "RUNNING", NULL};
static const char *const cluster_key[] = {"id", NULL};
static const char *const cluster_columns[] = {"status",   "token",       "name",
                                              "platform", "base_domain", NULL};
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
    {.table = "job_locks", .key = lock_key, .columns = lock_columns, .pending = true},
};

/* The transitions of the document, and one that only the reaper makes: CREATING to PENDING, so
 * that a create can be tried again. */
static const char *const cluster_transitions[][2] = {
    {"PENDING", "CREATING"},  {"CREATING", "READY"},    {"CREATING", "FAILED"},
    {"READY", "DESTROYING"},  {"FAILED", "DESTROYING"}, {"DESTROYING", "DESTROYED"},
    {"DESTROYING", "FAILED"}, {"READY", "SCALING"},     {"SCALING", "READY"},
    {"SCALING", "FAILED"},    {"CREATING", "PENDING"},  {NULL, NULL},
};
/* A job that is refused fails without having run. */
static const char *const job_transitions[][2] = {
    {"PENDING", "RUNNING"}, {"PENDING", "FAILED"}, {"RUNNING", "SUCCEEDED"},
    {"RUNNING", "FAILED"},  {NULL, NULL},
};
static const struct state_machine states[] = {
    {.table = "clusters", .column = "status", .allowed = cluster_transitions},
    {.table = "jobs", .column = "status", .allowed = job_transitions},
};

static const struct resource_status resource_statuses[] = {
    {.name = "PENDING"},
    {.name = "CREATING", .in_progress = true, .has_parts = true},
    {.name = "READY", .has_parts = true},
    {.name = "SCALING", .in_progress = true, .has_parts = true},
    {.name = "DESTROYING", .in_progress = true, .has_parts = true},
    {.name = "FAILED", .has_parts = true},
    {.name = "DESTROYED"},
    {.name = NULL},
};

static const char *const from_pending[] = {"PENDING", NULL};
static const char *const from_ready[] = {"READY", NULL};
static const char *const from_ready_or_failed[] = {"READY", "FAILED", NULL};
static const struct job_type types[] = {
    {"CREATE", "CREATING", from_pending},
    {"DESTROY", "DESTROYING", from_ready_or_failed},
    {"JANITOR_DESTROY", "DESTROYING", from_ready_or_failed},
    {"SCALE_WORKERS", "SCALING", from_ready},
    {NULL, NULL, NULL},
};

static const struct metric metrics[] = {
    {METRIC_ACQUISITION_FAILURES, "Deliveries that did not get their lock, by reason."},
    {METRIC_LOCK_HELD, "How long a lock was held, by type of job."},
    {METRIC_STALE_LOCKS, "Locks that were taken away after their lease had ended."},
    {METRIC_JOB_RUNNING, "How long a job ran, by type of job."},
};

const struct strategy strategy_job_locks = {
    .name = "job_locks",
    .about = "a lock row per cluster with an expiry that a heartbeat moves on; a janitor reaps",
    .document = "Worker Concurrency Safety and Locking Strategy",
    .schema_sql = job_locks_schema_sql,
    .statements = job_locks_statements,
    .weaknesses = weaknesses,
    .weakness_count = FP_COUNT(weaknesses),
    .roles = roles,
    .role_count = FP_COUNT(roles),
    .setup = job_locks_setup,
    .workload = workload,
    .workload_count = FP_COUNT(workload),
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .lock = {.table = "job_locks",
             .resource_column = "cluster_id",
             .job_column = "job_id",
             .token_column = "token",
             .expires_column = "expires_at"},
    .states = states,
    .state_count = FP_COUNT(states),
    .resources = {.table = "clusters",
                  .status_column = "status",
                  .token_column = "token",
                  .statuses = resource_statuses},
    .jobs = {.table = "jobs",
             .resource_column = "cluster_id",
             .type_column = "type",
             .status_column = "status",
             .code_column = "error_code",
             .group_column = "message_group",
             .root_column = "root_id",
             .started_column = "started_at",
             .pending = "PENDING",
             .running = "RUNNING",
             .succeeded = "SUCCEEDED",
             .failed = "FAILED",
             .types = types},
    .alerts = {.monitor_role = "janitor",
               .round_ns = JANITOR_INTERVAL_NS,
               .stale_lock = ALERT_STALE_LOCK,
               .stale_lock_code = "WORKER_TIMEOUT",
               .stale_after_ns = STALE_LOCK_NS,
               .long_job = ALERT_SLOW_JOB,
               .long_after_ns = SLOW_JOB_NS,
               .contention = ALERT_CONTENTION,
               .contention_event = "lock.refused",
               .contention_count = CONTENTION_COUNT_MAX,
               .contention_window_ns = CONTENTION_WINDOW_NS,
               .dead_letter = ALERT_DEAD_LETTER,
               .dead_letter_after_ns = STUCK_LETTER_NS,
               .dead_letter_hidden_ns = LETTER_HIDDEN_NS,
               .lockless = ALERT_LOCK_STATE,
               .lockless_code = "LOCK_STATE_LOST",
               .double_lock = ALERT_DOUBLE,
               .double_lock_code = "LOCK_HELD_TWICE"},
    .metrics = metrics,
    .metric_count = FP_COUNT(metrics),
};
