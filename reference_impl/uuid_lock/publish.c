/* The document's processScheduledDeviation: take the lock, publish, give the lock back. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/uuid_lock/uuid_lock.h"

#define SETTLE_TRY_COUNT_MAX 1000

static const char *status_of(enum publish_result result)
{
    switch (result) {
    case PUBLISH_DONE:
        return "published";
    case PUBLISH_NOT_DONE:
        return "failed";
    case PUBLISH_UNKNOWN:
        return "unresolved";
    }
    FP_ASSERT(!"a result without a status");
    return "";
}

/* The operator is told first: afterwards there may be nobody left who could. */
static enum lock_result write_status(struct rt *rt, struct link *link,
                                     const struct execution *execution, const char *status)
{
    if (strcmp(status, "unresolved") != 0)
        return lock_release(rt, link, execution, status);
    unresolved_tell(rt, execution->id, execution->version);
    return lock_give_up(rt, link, execution);
}

/* As in the document: the release is within the try, and the catch has the same where. What the
 * second update throws leaves the function. */
static enum lock_result settle_once(struct rt *rt, struct link *link,
                                    const struct execution *execution, const char *status)
{
    enum lock_result result = write_status(rt, link, execution, status);
    if (result == LOCK_GOT || strcmp(status, "published") != 0)
        return result;
    rt_emit(rt, "release.failed", "deviation", execution->id, "lock", execution->lock_id, NULL);
    return write_status(rt, link, execution, "failed");
}

/* Until the database has answered. It may be sent twice: the second one finds nothing. */
static enum lock_result settle(struct rt *rt, struct link *link, const struct execution *execution,
                               const char *status)
{
    enum lock_result result = LOCK_UNKNOWN;

    if (rt_weak(rt, UUID_LOCK_WEAK_RELEASE_FAILURE_MARKS_FAILED))
        return settle_once(rt, link, execution, status);
    for (int i = 0; i < SETTLE_TRY_COUNT_MAX && result == LOCK_UNKNOWN; i++) {
        if (i > 0)
            rt_sleep(rt, RECONNECT_NS);
        result = write_status(rt, link, execution, status);
    }
    return result;
}

static void end(struct rt *rt, struct link *link, const struct execution *execution,
                enum publish_result published)
{
    const char *status = status_of(published);

    rt_metric_count(rt, METRIC_PUBLISHES, "outcome", status, 1);
    enum lock_result result = settle(rt, link, execution, status);
    rt_metric_observe(rt, METRIC_HELD, NULL, NULL,
                      mono_since_ns(rt_mono_now(rt), execution->locked_since));
    rt_emit(rt, result == LOCK_GOT ? "lock.released" : "lock.lost", "deviation", execution->id,
            "lock", execution->lock_id, "outcome", status, NULL);
    /* Whoever was quicker has written the same: this version has ended. */
    if (result != LOCK_UNKNOWN && published != PUBLISH_UNKNOWN)
        unresolved_clear(rt, execution->id, execution->version);
}

/* May it be published by us? From here on nobody else will, whatever becomes of us. */
static bool is_ours(struct rt *rt, struct link *link, struct execution *execution)
{
    enum lock_result result = lock_acquire(rt, link, execution);

    if (result != LOCK_REFUSED && !rt_weak(rt, UUID_LOCK_WEAK_PUBLISH_WITHOUT_INTENT))
        result = lock_mark(rt, link, execution);
    rt_emit(rt, result == LOCK_GOT ? "lock.acquired" : "lock.refused", "deviation", execution->id,
            "lock", execution->lock_id, "version", execution->version, NULL);
    return result == LOCK_GOT;
}

/* A lock's id need only be unique: this life of the process, and a number. */
void publish_scheduled(struct rt *rt, struct publisher *publisher, const char *id)
{
    struct execution execution = {
        .id = id,
        .lock_id = rt_printf(rt, "%s/%" PRId64, rt_instance(rt), ++publisher->execution_count)};

    if (is_ours(rt, &publisher->link, &execution))
        end(rt, &publisher->link, &execution, gallery_publish(rt, &execution));
}

void publish_listed(struct rt *rt, struct publisher *publisher, const struct rt_sql *list)
{
    const char *ids[LIST_COUNT_MAX];
    struct rt_rows rows = {0};

    if (link_ready(rt, &publisher->link) != ERR_OK ||
        link_exec(rt, &publisher->link, list, NULL, &rows) != ERR_OK)
        return;
    int count = rows.row_count < LIST_COUNT_MAX ? rows.row_count : LIST_COUNT_MAX;
    for (int i = 0; i < count; i++)
        ids[i] = keep_cell(rt, &rows, i, 0);
    for (int i = 0; i < count; i++)
        publish_scheduled(rt, publisher, ids[i]);
}
