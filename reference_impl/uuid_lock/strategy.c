/* This strategy as data: its actors, its workload, its tables, its weaknesses. */
#include "sim/strategy.h"

#include "reference_impl/uuid_lock/uuid_lock.h"

static const struct weakness weaknesses[] = {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql)                          \
    {name, about, source, breaks, as_written, schema_sql},
#include "reference_impl/uuid_lock/weaknesses.def"
#undef WEAKNESS
};

static const struct role roles[] = {
    {"publisher", "publishers", 2, 16, uuid_lock_scheduler, true},
    {"recovery", "recoveries", 1, 4, uuid_lock_recovery, true},
    {"cleanup", "cleanups", 1, 4, uuid_lock_cleanup, true},
    {"user", NULL, 1, 1, uuid_lock_user, false},
};

static const struct workload_field deviation_fields[] = {
    {.key = "name", .type = VALUE_NAME, .required = true, .about = "its id"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .fallback = "0s",
     .about = "when it is to be published"},
    {.key = "upload",
     .type = VALUE_DURATION,
     .low = PUBLISH_SHORTEST_NS,
     .high = NS_PER_DAY,
     .fallback = "60s",
     .about = "the longest that the gallery takes over it; the shortest is 30 s"},
    {.key = "count",
     .type = VALUE_INTEGER,
     .low = 1,
     .high = 1000,
     .fallback = "1",
     .about = "so many of them, called NAME-1, NAME-2, ... when there is more than one"},
};

static const struct workload_field retry_fields[] = {
    {.key = "deviation",
     .type = VALUE_NAME,
     .required = true,
     .refers_to = "deviations",
     .about = "what is scheduled again when it has failed"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .fallback = "0s",
     .about = "when its user looks"},
};

static const struct workload_field postpone_fields[] = {
    {.key = "deviation",
     .type = VALUE_NAME,
     .required = true,
     .refers_to = "deviations",
     .about = "what is put off, unless somebody has it"},
    {.key = "at",
     .type = VALUE_DURATION,
     .low = 0,
     .high = 30 * NS_PER_DAY,
     .fallback = "0s",
     .about = "when its user does so"},
    {.key = "by",
     .type = VALUE_DURATION,
     .low = NS_PER_S,
     .high = 30 * NS_PER_DAY,
     .required = true,
     .about = "for how long, from then on"},
};

static const struct workload_list workload[] = {
    {"deviations", "what is scheduled", deviation_fields, FP_COUNT(deviation_fields), 64},
    {"retries", "when a user schedules again what has failed", retry_fields, FP_COUNT(retry_fields),
     64},
    {"postpones", "when a user puts off what is scheduled", postpone_fields,
     FP_COUNT(postpone_fields), 64},
};

static const char *const deviation_key[] = {"id", NULL};
static const char *const deviation_columns[] = {"status", "execution_lock_id", "execution_version",
                                                "scheduled_at", NULL};
static const char *const deviation_pending[] = {"scheduled", "publishing", NULL};

static const struct watched_table watched[] = {
    {.table = "deviations",
     .key = deviation_key,
     .columns = deviation_columns,
     .pending = true,
     .pending_column = "status",
     .pending_values = deviation_pending},
};

/* The document's, from scheduled to its end in one step, and ours. */
static const char *const deviation_transitions[][2] = {
    {"scheduled", "published"},  {"scheduled", "failed"},
    {"scheduled", "publishing"}, {"publishing", "published"},
    {"publishing", "failed"},    {"publishing", "unresolved"},
    {"unresolved", "published"}, {"unresolved", "failed"},
    {"failed", "scheduled"},     {NULL, NULL},
};
static const struct state_machine states[] = {
    {.table = "deviations", .column = "status", .allowed = deviation_transitions},
};

static const struct resource_status statuses[] = {
    {.name = "scheduled", .in_progress = true},
    {.name = "publishing", .in_progress = true},
    {.name = "published"},
    {.name = "failed"},
    {.name = "unresolved"},
    {.name = NULL},
};

static const char *const without_lock[] = {"published", "failed", NULL};
static const char *const not_published[] = {"failed", "scheduled", NULL};
static const struct effect_view effects[] = {
    {.service = GALLERY,
     .op = GALLERY_PUBLISH,
     .table = "deviations",
     .status_column = "status",
     .done = "published",
     .undone = not_published},
};
static const char *const service_ops[] = {GALLERY_PUBLISH, "look", NULL};

static const struct metric metrics[] = {
    {METRIC_ACQUISITION, "How long it took to take a lock."},
    {METRIC_HELD, "How long a lock was held."},
    {METRIC_PUBLISHES, "Publishes that ended, by what their publisher took for the outcome."},
    {METRIC_STALE_LOCKS, "Locks that the cleanup has freed."},
};

/* The document's success metrics. Its third, duplicates, is counted by the effects. */
static const char *const summary_metrics[] = {METRIC_ACQUISITION, METRIC_HELD, NULL};

const struct strategy strategy_uuid_lock = {
    .name = "uuid_lock",
    .about = "a lock in each row: the id of who publishes it, since when, and a version; old locks "
             "are cleaned up",
    .document = "UUID-Based Execution Locks",
    .schema_sql = uuid_lock_schema_sql,
    .statements = uuid_lock_statements,
    .service_ops = service_ops,
    .weaknesses = weaknesses,
    .weakness_count = FP_COUNT(weaknesses),
    .roles = roles,
    .role_count = FP_COUNT(roles),
    .setup = uuid_lock_setup,
    .workload = workload,
    .workload_count = FP_COUNT(workload),
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .states = states,
    .state_count = FP_COUNT(states),
    .resources = {.table = "deviations", .status_column = "status", .statuses = statuses},
    .row_lock = {.table = "deviations",
                 .lock_column = "execution_lock_id",
                 .version_column = "execution_version",
                 .status_column = "status",
                 .unlocked = without_lock,
                 .due_column = "scheduled_at"},
    .unresolved = {.table = "deviations",
                   .status_column = "status",
                   .status = "unresolved",
                   .version_column = "execution_version",
                   .alert = ALERT_UNRESOLVED},
    .effects = effects,
    .effect_count = FP_COUNT(effects),
    .metrics = metrics,
    .metric_count = FP_COUNT(metrics),
    .summary_metrics = summary_metrics,
};
