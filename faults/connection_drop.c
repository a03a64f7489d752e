/* A connection to the database is cut. How it is cut and where the client stands at that moment
 * are one and the same thing: before the statement is sent the request is lost, after it the
 * reply is lost. */
#include <stddef.h>

#include "faults/fault.h"

enum connection_drop_how { HOW_ANY, HOW_REQUEST_LOST, HOW_REPLY_LOST, HOW_IDLE };

struct connection_drop_config {
    struct fault_common common;
    int how; /* enum connection_drop_how */
    int via; /* enum fault_via */
};

static const char *const via_words[] = {"socket", "toxiproxy", NULL};
static const char *const how_words[] = {"any", "request_lost", "reply_lost", "idle", NULL};

static const struct field connection_drop_fields[] = {
    {.key = "how",
     .type = FIELD_ENUM,
     .offset = offsetof(struct connection_drop_config, how),
     .words = how_words,
     .fallback = "any",
     .about = "request_lost: the statement never arrives; reply_lost: it runs and the client never "
              "learns; idle: between two statements; any: whichever fits the point it strikes at"},
    {.key = "via",
     .type = FIELD_ENUM,
     .offset = offsetof(struct connection_drop_config, via),
     .words = via_words,
     .fallback = "socket",
     .about = "who cuts it: the client's own end, or a toxiproxy between client and server; the "
              "run is the same"},
};

#define REQUEST_POINTS (POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_DB_COMMIT))
#define REPLY_POINTS (POINT_BIT(POINT_DB_SENT) | POINT_BIT(POINT_DB_BLOCKED))
#define IDLE_POINTS                                                                                \
    (POINT_BIT(POINT_DB_DONE) | POINT_BIT(POINT_DB_COMMITTED) | POINT_BIT(POINT_CLOUD_CALL) |      \
     POINT_BIT(POINT_CLOUD_DONE) | POINT_BIT(POINT_STORE_CALL) | POINT_BIT(POINT_STORE_DONE) |     \
     POINT_BIT(POINT_SERVICE_CALL) | POINT_BIT(POINT_SERVICE_DONE) |                               \
     POINT_BIT(POINT_QUEUE_RECEIVED) | POINT_BIT(POINT_QUEUE_DELETE) |                             \
     POINT_BIT(POINT_QUEUE_SEND) | POINT_BIT(POINT_DEAD_RECEIVED) | POINT_BIT(POINT_DEAD_SETTLE) | \
     POINT_BIT(POINT_SLEEP) | POINT_BIT(POINT_WAKE) | POINT_BIT(POINT_CLOCK))

/* db.commit and db.committed name visits that db.exec and db.done stand for already; a sleep or
 * a call to the cloud often has no connection to cut. They are there for those who ask. */
#define DROP_POINTS_DEFAULT                                                                        \
    (POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_DB_SENT) | POINT_BIT(POINT_DB_DONE))

static uint64_t connection_drop_points_of(const void *config)
{
    const struct connection_drop_config *drop = config;

    switch ((enum connection_drop_how)drop->how) {
    case HOW_ANY:
        break;
    case HOW_REQUEST_LOST:
        return REQUEST_POINTS;
    case HOW_REPLY_LOST:
        return REPLY_POINTS;
    case HOW_IDLE:
        return IDLE_POINTS;
    }
    return REQUEST_POINTS | REPLY_POINTS | IDLE_POINTS;
}

static enum drop_how how_at(enum fault_point point)
{
    if (REQUEST_POINTS & POINT_BIT(point))
        return DROP_REQUEST_LOST;
    if (REPLY_POINTS & POINT_BIT(point))
        return DROP_REPLY_LOST;
    FP_ASSERT((IDLE_POINTS & POINT_BIT(point)) != 0);
    return DROP_IDLE;
}

static void connection_drop_strike(struct fault_host *host, const void *config,
                                   const struct fault_visit *visit)
{
    FP_ASSERT((connection_drop_points_of(config) & POINT_BIT(visit->point)) != 0);
    const struct connection_drop_config *drop = config;
    fault_drop_connection(host, how_at(visit->point), (enum fault_via)drop->via);
}

static int *connection_drop_via(void *config)
{
    struct connection_drop_config *drop = config;
    return &drop->via;
}

const struct fault_kind fault_kind_connection_drop = {
    .name = "connection_drop",
    .about = "a connection to the database is cut: before the request, before the reply, or idle",
    .example = "connection_drop: {target: any-worker, how: reply_lost, times: 3}",
    .fields = connection_drop_fields,
    .field_count = FP_COUNT(connection_drop_fields),
    .config_size = sizeof(struct connection_drop_config),
    .points = REQUEST_POINTS | REPLY_POINTS | IDLE_POINTS,
    .points_default = DROP_POINTS_DEFAULT,
    .points_of = connection_drop_points_of,
    .via = connection_drop_via,
    .strike = connection_drop_strike,
};
