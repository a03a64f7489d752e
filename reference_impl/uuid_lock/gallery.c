/* The gallery's API. It knows neither idempotency keys nor fencing tokens, so a call that may have
 * arrived is never made again. */
#include <stdlib.h>

#include "reference_impl/uuid_lock/uuid_lock.h"

#define PUBLISH_TRY_COUNT_MAX 4
#define THROTTLED_BACKOFF_NS NS_PER_MIN
#define LOOK_COUNT_MAX 3
#define LOOK_INTERVAL_NS NS_PER_MIN

static struct rt_service_request request_of(const char *id)
{
    return (struct rt_service_request){
        .service = GALLERY, .op = GALLERY_PUBLISH, .subject = id, .claim = {.cluster_id = id}};
}

static enum err call(struct rt *rt, const struct execution *execution)
{
    struct rt_service_request request = request_of(execution->id);

    request.lasts_low_ns = PUBLISH_SHORTEST_NS;
    request.lasts_high_ns = execution->upload_ns;
    request.claim.job_id = execution->lock_id;
    request.claim.run = strtoll(execution->version, NULL, 10);
    return rt_service_call(rt, &request, NULL);
}

enum err gallery_look(struct rt *rt, const char *id, bool *is_there)
{
    struct rt_service_request request = request_of(id);
    int32_t done_count = 0;

    enum err err = rt_service_look(rt, &request, &done_count);
    *is_there = err == ERR_OK && done_count > 0;
    return err;
}

/* The answer was lost. What is there has happened; what is not there may come yet. */
static enum publish_result find_out(struct rt *rt, const char *id)
{
    for (int i = 0; i < LOOK_COUNT_MAX; i++) {
        bool is_there = false;
        if (gallery_look(rt, id, &is_there) == ERR_OK && is_there)
            return PUBLISH_DONE;
        rt_sleep(rt, LOOK_INTERVAL_NS);
    }
    return PUBLISH_UNKNOWN;
}

/* Is it certain that the call did nothing and will do nothing? */
static bool is_worth_again(struct rt *rt, enum err err)
{
    return err == ERR_SERVICE_THROTTLED ||
           (err == ERR_SERVICE_TIMEOUT && rt_weak(rt, UUID_LOCK_WEAK_TIMEOUT_TRIED_AGAIN));
}

enum publish_result gallery_publish(struct rt *rt, const struct execution *execution)
{
    int64_t backoff_ns = THROTTLED_BACKOFF_NS;

    enum err err = call(rt, execution);
    if (err == ERR_OK)
        return PUBLISH_DONE;
    if (rt_weak(rt, UUID_LOCK_WEAK_PUBLISH_OUTCOME_ASSUMED_FAILED))
        return PUBLISH_NOT_DONE;
    for (int i = 1; i < PUBLISH_TRY_COUNT_MAX && is_worth_again(rt, err); i++) {
        rt_sleep(rt, backoff_ns);
        backoff_ns *= 2;
        err = call(rt, execution);
    }
    if (err == ERR_OK)
        return PUBLISH_DONE;
    return err == ERR_SERVICE_TIMEOUT ? find_out(rt, execution->id) : PUBLISH_NOT_DONE;
}
