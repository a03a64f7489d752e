/* This strategy as data: its actors, its workload, its tables, its weaknesses. */
#include "sim/strategy.h"

#include "reference_impl/instance_lock/instance_lock.h"

static const struct weakness weaknesses[] = {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql)                          \
    {name, about, source, breaks, as_written, schema_sql},
#include "reference_impl/instance_lock/weaknesses.def"
#undef WEAKNESS
};

static const struct role roles[] = {
    {"app", "apps", 2, 16, instance_lock_app, true},
    {"client", NULL, 1, 1, instance_lock_client, false},
    {"neighbour", NULL, 1, 1, instance_lock_neighbour, false},
};

static const char *const lockings[] = {"table", "advisory", "advisory_wait", "optimistic", NULL};
static const char *const reactions[] = {"give_up", "retry", NULL};

static const struct workload_field app_fields[] = {
    {.key = "locking",
     .type = VALUE_ENUM,
     .words = lockings,
     .fallback = "table",
     .about = "table: A2; advisory, advisory_wait: A1 by pg_try_advisory_lock or pg_advisory_lock; "
              "optimistic: A4"},
};

static const struct workload_field instance_fields[] = {
    {.key = "name",
     .type = VALUE_NAME,
     .required = true,
     .about = "its name in the scenario; its number is its place in the list"},
    {.key = "work",
     .type = VALUE_DURATION,
     .low = 0,
     .high = CALL_NS_MAX,
     .fallback = "20s",
     .about = "how long each call to an outside service takes at most; at least half of it"},
};

static const struct workload_field request_fields[] = {
    {.key = "instance",
     .type = VALUE_NAME,
     .required = true,
     .refers_to = "instances",
     .about = "the instance whose process is to go on"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .fallback = "0s",
     .about = "when it is sent"},
    {.key = "on_conflict",
     .type = VALUE_ENUM,
     .words = reactions,
     .fallback = "give_up",
     .about = "what its sender does with a 409"},
    {.key = "on_failure",
     .type = VALUE_ENUM,
     .words = reactions,
     .fallback = "retry",
     .about = "what its sender does when it does not learn what became of it"},
};

static const struct workload_field neighbour_fields[] = {
    {.key = "instance",
     .type = VALUE_NAME,
     .required = true,
     .refers_to = "instances",
     .about = "whose number is by chance the key of the other application's lock"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .fallback = "0s",
     .about = "when it takes the lock"},
    {.key = "for",
     .type = VALUE_DURATION,
     .required = true,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .about = "how long it keeps it"},
};

static const struct workload_list workload[] = {
    {"apps", "how the apps lock", app_fields, FP_COUNT(app_fields), 1},
    {"instances", "the process instances", instance_fields, FP_COUNT(instance_fields), 64},
    {"requests", "the calls to /process/next", request_fields, FP_COUNT(request_fields), 256},
    {"neighbours", "advisory locks of another application of the same database", neighbour_fields,
     FP_COUNT(neighbour_fields), 16},
};

/* The token tells two locks of one instance apart, also where the document's own key is not of the
 * run alone. */
static const char *const lock_key[] = {"lock_token", NULL};
static const char *const lock_columns[] = {"instance_id", "locked_until", "locked_by", NULL};
static const char *const instance_key[] = {"id", NULL};
static const char *const instance_columns[] = {"task", "fence", NULL};
static const char *const step_key[] = {"request_id", "from_task", NULL};
static const char *const step_columns[] = {"instance_id", "to_task", NULL};

static const struct watched_table watched[] = {
    {.table = "instances",
     .key = instance_key,
     .columns = instance_columns,
     .changed = "OLD.task IS DISTINCT FROM NEW.task OR OLD.fence IS DISTINCT FROM NEW.fence"},
    {.table = "instance_locks", .key = lock_key, .columns = lock_columns},
    {.table = "process_steps", .key = step_key, .columns = step_columns},
};

static const char *const task_transitions[][2] = {
    {"FORM", "SIGNING"}, {"SIGNING", "PAYMENT"}, {"PAYMENT", "ENDED"}, {NULL, NULL}};
static const struct state_machine states[] = {
    {.table = "instances", .column = "task", .allowed = task_transitions},
};

/* What each transition does outside has been done wherever the process has come past it, and has
 * not where it has not come to it. A transition that was begun and not finished may have. */
#define EFFECT(name, status, not_before)                                                           \
    {                                                                                              \
        .service = "platform", .op = (name), .table = "instances", .status_column = "task",        \
        .done = (status), .undone = (not_before)                                                   \
    }
static const char *const before_signing[] = {"FORM", NULL};
static const char *const before_payment[] = {"FORM", "SIGNING", NULL};
static const struct effect_view effects[] = {
    EFFECT("create_pdf", "SIGNING", NULL),
    EFFECT("create_pdf", "PAYMENT", NULL),
    EFFECT("create_pdf", "ENDED", NULL),
    EFFECT("archive", "SIGNING", NULL),
    EFFECT("archive", "PAYMENT", NULL),
    EFFECT("archive", "ENDED", NULL),
    EFFECT("notify_signers", "SIGNING", NULL),
    EFFECT("notify_signers", "PAYMENT", NULL),
    EFFECT("notify_signers", "ENDED", NULL),
    EFFECT("send_message", "PAYMENT", before_signing),
    EFFECT("send_message", "ENDED", before_signing),
    EFFECT("seal", "PAYMENT", before_signing),
    EFFECT("seal", "ENDED", before_signing),
    EFFECT("charge", "ENDED", before_payment),
    EFFECT("send_receipt", "ENDED", before_payment),
};
static const char *const service_ops[] = {"create_pdf",   "archive", "notify_signers",
                                          "send_message", "seal",    "charge",
                                          "send_receipt", "look",    NULL};

static const struct metric metrics[] = {
    {METRIC_REQUESTS, "Requests that were answered, by status."},
    {METRIC_ROUND_TRIPS, "Statements sent for requests, by the status of their answer."},
    {METRIC_CONNECTION_HELD, "How long a request that made its step had a connection."},
    {METRIC_LOCK_HELD, "How long a lock was held that was released apart from its step."},
};

static const char *const summary_metrics[] = {METRIC_CONNECTION_HELD, NULL};

const struct strategy strategy_instance_lock = {
    .name = "instance_lock",
    .about = "a lock row per process instance with token and expiry, for one request at a time",
    .document = "Instance locking for mutating process operations",
    .schema_sql = instance_lock_schema_sql,
    .statements = instance_lock_statements,
    .service_ops = service_ops,
    .weaknesses = weaknesses,
    .weakness_count = FP_COUNT(weaknesses),
    .roles = roles,
    .role_count = FP_COUNT(roles),
    .setup = instance_lock_setup,
    .workload = workload,
    .workload_count = FP_COUNT(workload),
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .lock = {.table = "instance_locks",
             .resource_column = "instance_id",
             .until_column = "locked_until"},
    .states = states,
    .state_count = FP_COUNT(states),
    .resources = {.table = "instances", .token_column = "fence"},
    .requests = {.role = "app",
                 .conflict_status = HTTP_CONFLICT,
                 .ok_status = HTTP_OK,
                 .answer_within_ns = ANSWER_NS_MAX,
                 .stale_ns = STALE_NS_MAX,
                 .step_table = "process_steps",
                 .request_column = "request_id"},
    .effects = effects,
    .effect_count = FP_COUNT(effects),
    .metrics = metrics,
    .metric_count = FP_COUNT(metrics),
    .summary_metrics = summary_metrics,
};
