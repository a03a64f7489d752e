/* This strategy as data: its actors, its workload, its tables, its weaknesses. */
#include "sim/strategy.h"

#include "reference_impl/patterns/patterns.h"

static const struct weakness weaknesses[] = {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql)                          \
    {name, about, source, breaks, as_written, schema_sql},
#include "reference_impl/patterns/weaknesses.def"
#undef WEAKNESS
};

static const struct role roles[] = {
    {"worker", "workers", 2, 16, patterns_worker, true},
    {"executor", "executors", 2, 16, patterns_executor, true},
    {"monitor", "monitors", 1, 4, patterns_monitor, true},
    {"client", "clients", 2, 16, patterns_client, true},
};

#define TAKES_FIELD(words)                                                                         \
    {                                                                                              \
        .key = "takes", .type = VALUE_DURATION, .low = 0, .high = CALL_LONGEST_NS,                 \
        .fallback = "20s", .about = words                                                          \
    }

static const struct workload_field parent_fields[] = {
    {.key = "name", .type = VALUE_NAME, .required = true, .about = "its id"},
};
static const struct workload_field item_fields[] = {
    {.key = "name", .type = VALUE_NAME, .required = true, .about = "its id"},
    {.key = "parent",
     .type = VALUE_NAME,
     .refers_to = "parents",
     .about = "the parent that counts it; none when absent"},
    TAKES_FIELD("how long its processing takes at most; half of it at least"),
};
static const struct workload_field task_fields[] = {
    {.key = "name", .type = VALUE_NAME, .required = true, .about = "its id"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = NS_PER_DAY,
     .fallback = "0s",
     .about = "when it is scheduled"},
    TAKES_FIELD("how long its execution takes at most; half of it at least"),
};
static const struct workload_field request_fields[] = {
    {.key = "key", .type = VALUE_NAME, .required = true, .about = "the idempotency key"},
    {.key = "content",
     .type = VALUE_NAME,
     .fallback = "thing",
     .about = "what is asked for; the same for the same key, unless somebody uses a key twice"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = NS_PER_DAY,
     .fallback = "0s",
     .about = "when every client asks; not before the requests above it are answered"},
    {.key = "times",
     .type = VALUE_INTEGER,
     .low = 1,
     .high = 10,
     .fallback = "2",
     .about = "how often each client asks, one after the other"},
};

static const struct workload_list workload[] = {
    {"parents", "what counts its items", parent_fields, FP_COUNT(parent_fields), 64},
    {"items", "the items in the queue, the oldest first", item_fields, FP_COUNT(item_fields), 256},
    {"tasks", "the tasks", task_fields, FP_COUNT(task_fields), 256},
    {"requests", "what every client asks the API to create", request_fields,
     FP_COUNT(request_fields), 256},
};

static const char *const id_key[] = {"id", NULL};
static const char *const resource_columns[] = {"idempotency_key", "content", NULL};
static const char *const parent_columns[] = {"total_children", "completed_count", "failed_count",
                                             NULL};
static const char *const item_columns[] = {"parent_id", "status", "attempt", NULL};
static const char *const task_columns[] = {"status", "attempt", NULL};
static const char *const item_pending[] = {"PENDING", "PROCESSING", NULL};
static const char *const task_pending[] = {"READY", "EXECUTING", NULL};

static const struct watched_table watched[] = {
    {.table = "resources", .key = id_key, .columns = resource_columns},
    {.table = "parent_records", .key = id_key, .columns = parent_columns},
    {.table = "queue_items",
     .key = id_key,
     .columns = item_columns,
     .changed =
         "OLD.status IS DISTINCT FROM NEW.status OR OLD.attempt IS DISTINCT FROM NEW.attempt",
     .pending = true,
     .pending_column = "status",
     .pending_values = item_pending},
    {.table = "tasks",
     .key = id_key,
     .columns = task_columns,
     .changed =
         "OLD.status IS DISTINCT FROM NEW.status OR OLD.attempt IS DISTINCT FROM NEW.attempt",
     .pending = true,
     .pending_column = "status",
     .pending_values = task_pending},
};

/* The way back is the hardened monitor's. */
static const char *const item_transitions[][2] = {
    {"PENDING", "PROCESSING"},
    {"PROCESSING", "COMPLETED"},
    {"PROCESSING", "FAILED"},
    {"PROCESSING", "PENDING"},
    {NULL, NULL},
};
static const char *const task_transitions[][2] = {
    {"READY", "EXECUTING"},
    {"EXECUTING", "COMPLETED"},
    {"EXECUTING", "FAILED"},
    {"EXECUTING", "READY"},
    {NULL, NULL},
};
static const char *const last_words[] = {"COMPLETED", "FAILED", NULL};
static const struct state_machine states[] = {
    {.table = "queue_items",
     .column = "status",
     .allowed = item_transitions,
     .terminal = last_words},
    {.table = "tasks", .column = "status", .allowed = task_transitions, .terminal = last_words},
};

static const char *const item_undone[] = {"PENDING", "FAILED", NULL};
static const char *const task_undone[] = {"READY", "FAILED", NULL};
static const char *const service_ops[] = {"process", "execute", NULL};
static const struct effect_view effects[] = {
    {.service = "processor",
     .op = "process",
     .table = "queue_items",
     .status_column = "status",
     .done = "COMPLETED",
     .undone = item_undone},
    {.service = "executor",
     .op = "execute",
     .table = "tasks",
     .status_column = "status",
     .done = "COMPLETED",
     .undone = task_undone},
};
static const struct work_view works[] = {
    {.effect = &effects[0], .failed = "FAILED"},
    {.effect = &effects[1], .failed = "FAILED"},
};

static const struct aggregate_count counts[] = {
    {"total_children", NULL},
    {"completed_count", "COMPLETED"},
    {"failed_count", "FAILED"},
    {NULL, NULL},
};

static const struct metric metrics[] = {
    {METRIC_CLAIMED, "Items and tasks that were claimed, by kind."},
    {METRIC_ENDED, "Items and tasks that have their last word, by status."},
    {METRIC_TAKEN_AWAY, "Claims that were taken away before their last word, by kind."},
    {METRIC_RECOVERED, "Items and tasks that the monitor gave back, by kind."},
    {METRIC_WORK, "From claim to last word, by kind."},
};

const struct strategy strategy_patterns = {
    .name = "patterns",
    .about = "creates by key, a SKIP LOCKED queue, tasks by conditional update, derived counts, "
             "monitors",
    .document = "Concurrency Safety Standards",
    .schema_sql = patterns_schema_sql,
    .statements = patterns_statements,
    .service_ops = service_ops,
    .weaknesses = weaknesses,
    .weakness_count = FP_COUNT(weaknesses),
    .roles = roles,
    .role_count = FP_COUNT(roles),
    .setup = patterns_setup,
    .workload = workload,
    .workload_count = FP_COUNT(workload),
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .states = states,
    .state_count = FP_COUNT(states),
    .effects = effects,
    .effect_count = FP_COUNT(effects),
    .works = works,
    .work_count = FP_COUNT(works),
    .creates = {.table = "resources",
                .key_column = "idempotency_key",
                .content_column = "content",
                .answer_event = "create.answered"},
    .aggregate = {.table = "parent_records",
                  .source_table = "queue_items",
                  .parent_column = "parent_id",
                  .status_column = "status",
                  .counts = counts},
    .metrics = metrics,
    .metric_count = FP_COUNT(metrics),
};
