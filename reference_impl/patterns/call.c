/* The work itself: a call to an outside service, which cannot be taken back. */
#include "reference_impl/patterns/patterns.h"

#define LOOK_TRY_COUNT_MAX 100

static struct rt_service_request request_of(struct rt *rt, const struct work *work)
{
    struct rt_service_request request = {
        .service = work->kind->service,
        .op = work->kind->op,
        .subject = work->id,
        .lasts_low_ns = work->takes_ns / 2,
        .lasts_high_ns = work->takes_ns,
        .claim = {.cluster_id = work->id, .job_id = work->id, .run = work->run},
    };
    if (!rt_weak(rt, PATTERNS_WEAK_EFFECT_WITHOUT_KEY))
        request.key = work->id;
    if (!rt_weak(rt, PATTERNS_WEAK_EFFECT_WITHOUT_TOKEN))
        request.claim.token = work->token;
    return request;
}

/* Was it done? With the token this is the last that the service hears of all earlier claims: what
 * they begin is refused, and what they have begun has no effect. So the answer stays true. */
static enum work_outcome find_out(struct rt *rt, const struct work *work)
{
    struct rt_service_request request = request_of(rt, work);
    int32_t done_count = 0;

    for (int i = 0; i < LOOK_TRY_COUNT_MAX; i++) {
        enum err err = rt_service_look(rt, &request, &done_count);
        if (err == ERR_OK)
            return done_count > 0 ? WORK_DONE : WORK_REFUSED;
        if (err == ERR_FENCED)
            return WORK_LOST;
        rt_sleep(rt, RETRY_NS);
    }
    return WORK_UNKNOWN;
}

/* Somebody has had it before. What that one has begun may be done, or still in progress. *outcome
 * is set when there is nothing left to do. */
static bool take_over(struct rt *rt, const struct work *work, enum work_outcome *outcome)
{
    if (work->token <= 1 || rt_weak(rt, PATTERNS_WEAK_EFFECT_WITHOUT_KEY))
        return true;
    *outcome = find_out(rt, work);
    if (*outcome != WORK_REFUSED)
        return false;
    if (!rt_weak(rt, PATTERNS_WEAK_TAKE_OVER_WITHOUT_WAITING))
        rt_sleep(rt, CALL_LONGEST_NS);
    return true;
}

/* A timeout says nothing and throttling only "not now": the call is made again, with the same key.
 * A refusal is for this call; an earlier one may have been heard, and may not be over. */
static enum work_outcome call_until_certain(struct rt *rt, const struct work *work)
{
    struct rt_service_request request = request_of(rt, work);
    bool may_be_on_its_way = false;

    for (int i = 0; i < CALL_TRY_COUNT_MAX; i++) {
        enum err err = rt_service_call(rt, &request, NULL);
        if (err == ERR_OK)
            return WORK_DONE;
        if (rt_weak(rt, PATTERNS_WEAK_FAILURE_WITHOUT_KNOWING))
            return WORK_REFUSED;
        if (err == ERR_FENCED)
            return WORK_LOST;
        if (err == ERR_SERVICE_REJECTED) {
            if (may_be_on_its_way)
                rt_sleep(rt, CALL_LONGEST_NS);
            return find_out(rt, work);
        }
        may_be_on_its_way |= err == ERR_SERVICE_TIMEOUT;
        work_emit(rt, "work.tried", work, err_name(err));
        rt_sleep(rt, RETRY_NS);
    }
    return WORK_UNKNOWN;
}

enum work_outcome work_call(struct rt *rt, const struct work *work)
{
    enum work_outcome outcome = WORK_UNKNOWN;

    if (take_over(rt, work, &outcome))
        outcome = call_until_certain(rt, work);
    return outcome;
}
