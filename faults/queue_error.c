/* The queue delivers at least once and makes no promise about when: a message comes twice, or late;
 * it becomes visible again though its receiver is at work; a receive finds nothing though there is
 * something. */
#include <stddef.h>

#include "faults/fault.h"

struct queue_error_config {
    struct fault_common common;
    int kind; /* enum queue_error, then any */
    struct duration_range delay;
};

static const char *const kind_words[] = {"empty", "late", "duplicate", "early", "any", NULL};

_Static_assert(FP_COUNT(kind_words) == QUEUE_ERROR_COUNT + 2, "a word for each error, and any");

static const struct field queue_error_fields[] = {
    {.key = "kind",
     .type = FIELD_ENUM,
     .offset = offsetof(struct queue_error_config, kind),
     .words = kind_words,
     .fallback = "any",
     .about =
         "empty: a receive finds nothing; late: a message that is sent comes later; duplicate: "
         "one that was received comes once more; early: its visibility runs out before its "
         "time; any: late, duplicate or early, as fits the point"},
    {.key = "delay",
     .type = FIELD_DURATION_RANGE,
     .offset = offsetof(struct queue_error_config, delay),
     .fallback = "0s..10m",
     .about = "late: how much later; duplicate, early: how long after it was received"},
};

static uint64_t queue_error_points_of(const void *config)
{
    static const uint64_t points[] = {
        [QUEUE_ERROR_EMPTY] = POINT_BIT(POINT_QUEUE_RECEIVE),
        [QUEUE_ERROR_LATE] = POINT_BIT(POINT_QUEUE_SEND),
        [QUEUE_ERROR_DUPLICATE] = POINT_BIT(POINT_QUEUE_RECEIVED),
        [QUEUE_ERROR_EARLY] = POINT_BIT(POINT_QUEUE_RECEIVED),
        [QUEUE_ERROR_COUNT] = POINT_BIT(POINT_QUEUE_SEND) | POINT_BIT(POINT_QUEUE_RECEIVED),
    };
    const struct queue_error_config *error = config;

    FP_ASSERT((size_t)error->kind < FP_COUNT(points));
    return points[error->kind];
}

static enum queue_error kind_at(struct fault_host *host, int kind, enum fault_point point)
{
    if (kind != QUEUE_ERROR_COUNT)
        return (enum queue_error)kind;
    if (point == POINT_QUEUE_SEND)
        return QUEUE_ERROR_LATE;
    return fault_draw(host, 2) == 0 ? QUEUE_ERROR_DUPLICATE : QUEUE_ERROR_EARLY;
}

static void queue_error_strike(struct fault_host *host, const void *config,
                               const struct fault_visit *visit)
{
    const struct queue_error_config *error = config;

    FP_ASSERT((queue_error_points_of(config) & POINT_BIT(visit->point)) != 0);
    enum queue_error kind = kind_at(host, error->kind, visit->point);
    int64_t delay_ns = kind == QUEUE_ERROR_EMPTY ? 0 : fault_draw_duration(host, error->delay);
    fault_disturb_queue(host, kind, delay_ns);
}

const struct fault_kind fault_kind_queue_error = {
    .name = "queue_error",
    .about = "the queue delivers twice, late, again too early, or nothing",
    .example = "queue_error: {kind: early, delay: 1m..8m, times: 3}",
    .fields = queue_error_fields,
    .field_count = FP_COUNT(queue_error_fields),
    .config_size = sizeof(struct queue_error_config),
    .points = POINT_BIT(POINT_QUEUE_RECEIVE) | POINT_BIT(POINT_QUEUE_RECEIVED) |
              POINT_BIT(POINT_QUEUE_SEND),
    .points_default = POINT_BIT(POINT_QUEUE_RECEIVE) | POINT_BIT(POINT_QUEUE_RECEIVED) |
                      POINT_BIT(POINT_QUEUE_SEND),
    .points_of = queue_error_points_of,
    .strike = queue_error_strike,
};
