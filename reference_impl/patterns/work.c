/* One item or task in a worker's hands, from its claim to the last word on it. */
#include "reference_impl/patterns/patterns.h"

#include <stdlib.h>

const struct work_kind item_kind = {
    .name = "item",
    .service = "processor",
    .op = "process",
    .complete = &patterns_complete_item,
    .fail = &patterns_fail_item,
    .beat = &patterns_beat_item,
    .give_back = &patterns_return_item,
    .complete_by_id = &patterns_complete_item_by_id,
    .fail_by_id = &patterns_fail_item_by_id,
};

const struct work_kind task_kind = {
    .name = "task",
    .service = "executor",
    .op = "execute",
    .complete = &patterns_complete_task,
    .fail = &patterns_fail_task,
    .beat = &patterns_beat_task,
    .give_back = &patterns_return_task,
    .complete_by_id = &patterns_complete_task_by_id,
    .fail_by_id = &patterns_fail_task_by_id,
};

void work_set_attempt(struct rt *rt, struct work *work, const char *attempt)
{
    work->attempt = rt_printf(rt, "%s", attempt);
    work->token = strtoll(attempt, NULL, 10);
    work->since = rt_mono_now(rt);
}

int64_t work_takes_ns(const char *takes_ms)
{
    return strtoll(takes_ms, NULL, 10) * NS_PER_MS;
}

void work_emit(struct rt *rt, const char *event, const struct work *work, const char *why)
{
    rt_emit(rt, event, "kind", work->kind->name, "id", work->id, "attempt", work->attempt,
            why != NULL ? "why" : NULL, why, NULL);
}

/* ---- the heartbeat ---- */

static bool beat(struct rt *rt, struct link *link, const struct work *work)
{
    struct rt_rows rows = {0};

    enum err err = link_ready(rt, link);
    if (err == ERR_OK)
        err = link_exec(rt, link, work->kind->beat, PARAMS(work->id, work->attempt), &rows);
    return err != ERR_OK || rows.affected_count == 1;
}

/* Says that the work goes on, from a fiber and a connection of its own. When the row is somebody
 * else's there is nothing more to say: the token does the rest. */
static void beat_body(struct rt *rt, void *arg)
{
    struct work *work = arg;
    struct link link = {.label = "beat"};

    while (!rt_wait(rt, &work->done, BEAT_INTERVAL_NS))
        if (!beat(rt, &link, work))
            break;
    link_close(rt, &link);
}

/* ---- how it ended ---- */

static void note_end(struct rt *rt, const struct work *work, bool is_ours, const char *status)
{
    if (!is_ours) {
        rt_metric_count(rt, METRIC_TAKEN_AWAY, "kind", work->kind->name, 1);
        work_emit(rt, "work.lost", work, NULL);
        return;
    }
    rt_alert_clear(rt, ALERT_KEEPS_COMING_BACK, work->id);
    rt_metric_count(rt, METRIC_ENDED, "status", status, 1);
    rt_metric_observe(rt, METRIC_WORK, "kind", work->kind->name,
                      mono_since_ns(rt_mono_now(rt), work->since));
    work_emit(rt, "work.ended", work, status);
}

/* Until the database has said it. When an answer is lost the next try finds the row as it is: still
 * ours, or with its last word, which may be our own. */
static void finish_surely(struct rt *rt, struct work *work, bool succeeded)
{
    for (int i = 0; i < DB_TRY_COUNT_MAX; i++) {
        bool is_ours = false;
        if (work_finish(rt, work, succeeded, "refused by the service", &is_ours) == ERR_OK) {
            note_end(rt, work, is_ours, succeeded ? "COMPLETED" : "FAILED");
            return;
        }
        rt_sleep(rt, RETRY_NS);
    }
}

/* When this fails the monitor does it. */
static void give_back(struct rt *rt, struct work *work)
{
    work_emit(rt, "work.given_back", work, NULL);
    if (link_ready(rt, work->link) == ERR_OK)
        link_exec(rt, work->link, work->kind->give_back,
                  PARAMS("not certain whether it was done", work->id, work->attempt), NULL);
}

/* The document's try block: whatever goes wrong, also with writing down that it was done, is
 * "except Exception". What goes wrong there leaves the loop. */
static bool finish_as_written(struct rt *rt, struct work *work, bool succeeded)
{
    bool is_ours = false;
    enum err err = succeeded ? work_finish(rt, work, true, NULL, &is_ours) : ERR_DB_SQL;

    if (err != ERR_OK) {
        succeeded = false;
        err = work_finish(rt, work, false, "an exception", &is_ours);
    }
    if (err == ERR_OK)
        note_end(rt, work, is_ours, succeeded ? "COMPLETED" : "FAILED");
    return err == ERR_OK;
}

static bool finish(struct rt *rt, struct work *work, enum work_outcome outcome)
{
    if (rt_weak(rt, PATTERNS_WEAK_FAILURE_WITHOUT_KNOWING))
        return finish_as_written(rt, work, outcome == WORK_DONE);
    switch (outcome) {
    case WORK_DONE:
    case WORK_REFUSED:
        finish_surely(rt, work, outcome == WORK_DONE);
        break;
    case WORK_UNKNOWN:
        give_back(rt, work);
        break;
    case WORK_LOST:
        note_end(rt, work, false, NULL);
        break;
    }
    return true;
}

bool work_run(struct rt *rt, struct work *work)
{
    rt_metric_count(rt, METRIC_CLAIMED, "kind", work->kind->name, 1);
    work_emit(rt, "work.claimed", work, NULL);
    if (!rt_weak(rt, PATTERNS_WEAK_MONITOR_SHORTER_THAN_WORK))
        rt_spawn(rt, "beat", beat_body, work);
    bool is_well = finish(rt, work, work_call(rt, work));
    rt_raise(rt, &work->done);
    return is_well || !rt_weak(rt, PATTERNS_WEAK_LOOP_ENDS_ON_ERROR);
}
