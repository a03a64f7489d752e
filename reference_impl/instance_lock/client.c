/* Those who call /process/next: the workload's requests, each at its time. */
#include <string.h>

#include "reference_impl/instance_lock/instance_lock.h"

/* Longer than a handler takes at most. */
#define PATIENCE_NS NS_PER_HOUR
#define RESEND_PAUSE_NS NS_PER_MIN
#define SEND_COUNT_MAX 200

struct call {
    const char *id;
    const char *instance_id;
    int64_t at_ns;
    bool retries_conflict, retries_failure;
    bool is_unsettled; /* a try has ended without saying how far it came */
};

/* Did it end in a way that says what became of it? A conflict says so only when nothing of this
 * request was ever begun. */
static bool is_final(struct call *call, enum err err, int status)
{
    if (err == ERR_OK && (status == HTTP_OK || status == HTTP_ENDED))
        return true;
    if (err == ERR_OK && status == HTTP_CONFLICT && !call->is_unsettled)
        return !call->retries_conflict;
    call->is_unsettled = true;
    return !call->retries_failure;
}

static void call_body(struct rt *rt, void *arg)
{
    struct call *call = arg;
    struct rt_answer answer;

    rt_sleep(rt, call->at_ns);
    for (int i = 1; i <= SEND_COUNT_MAX; i++) {
        enum err err = rt_request(rt, call->instance_id, rt_printf(rt, "%s %d", call->id, i),
                                  PATIENCE_NS, &answer);
        if (is_final(call, err, answer.status))
            return;
        rt_sleep(rt, RESEND_PAUSE_NS);
    }
}

static bool is_retry(struct rt *rt, int index, const char *key)
{
    return strcmp(rt_workload_text(rt, "requests", index, key), "retry") == 0;
}

void instance_lock_client(struct rt *rt)
{
    int count = rt_workload_count(rt, "requests");

    for (int i = 0; i < count; i++) {
        struct call *call = rt_alloc(rt, sizeof *call);
        call->id = rt_printf(rt, "r%d", i + 1);
        call->instance_id = instance_id_of(rt, rt_workload_text(rt, "requests", i, "instance"));
        call->at_ns = rt_workload_number(rt, "requests", i, "at");
        call->retries_conflict = is_retry(rt, i, "on_conflict");
        call->retries_failure = is_retry(rt, i, "on_failure");
        rt_spawn(rt, call->id, call_body, call);
    }
}
