/* What the files of this strategy share. README.md says how the design works. */
#ifndef FENCEPOST_PATTERNS_H
#define FENCEPOST_PATTERNS_H

#include "patterns_sql.h"
#include "reference_impl/common/link.h"
#include "sim/rt.h"

/* Numbers of the document. The monitor's timeouts of 5 and 2 minutes are in sql/monitor.sql. */
#define ITEM_POLL_NS (5 * NS_PER_S)
#define TASK_POLL_NS (10 * NS_PER_S)
#define TASK_BATCH_COUNT_MAX 10
#define MONITOR_INTERVAL_NS NS_PER_MIN

/* Ours. A beat must come several times within the shorter of the monitor's timeouts. */
#define BEAT_INTERVAL_NS (30 * NS_PER_S)
#define RETRY_NS (10 * NS_PER_S)
#define CALL_TRY_COUNT_MAX 3
#define DB_TRY_COUNT_MAX 1000
#define ATTEMPT_COUNT_ALERT 5
/* No call to a service is in progress for longer. */
#define CALL_LONGEST_NS (10 * NS_PER_MIN)

enum patterns_weakness {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql) PATTERNS_WEAK_##id,
#include "reference_impl/patterns/weaknesses.def"
#undef WEAKNESS
};

#define METRIC_CLAIMED "patterns_claims_total"
#define METRIC_ENDED "patterns_ended_total"
#define METRIC_TAKEN_AWAY "patterns_taken_away_total"
#define METRIC_RECOVERED "patterns_recovered_total"
#define METRIC_WORK "patterns_work_seconds"
#define ALERT_KEEPS_COMING_BACK "WorkKeepsComingBack"

/* ---- work.c, call.c: one item or task in a worker's hands ---- */

/* What tells items from tasks. */
struct work_kind {
    const char *name;         /* "item" */
    const char *service, *op; /* who does the work, and what it is called there */
    const struct rt_sql *complete, *fail, *beat, *give_back;
    const struct rt_sql *complete_by_id, *fail_by_id;
};
extern const struct work_kind item_kind, task_kind;

/* Lives in the process's memory, shared by the work's fiber and its heartbeat. */
struct work {
    const struct work_kind *kind;
    struct link *link; /* the worker's own connection */
    const char *id;
    const char *parent_id; /* "": it has none */
    const char *attempt;   /* the token, as text */
    int64_t token;
    int64_t takes_ns;
    int64_t run; /* tells two executions of one process apart */
    mono_time since;
    struct rt_signal done; /* the heartbeat may end */
};

enum work_outcome {
    WORK_DONE,    /* the service has done it */
    WORK_REFUSED, /* it has not, and will not */
    WORK_UNKNOWN, /* it may have: somebody must find out */
    WORK_LOST,    /* somebody else has taken over */
};

/* Do it, and write down how it ended. MAY SUSPEND, for as long as the work takes and the database
 * is away. False: an error that the document lets out of the loop (loop_ends_on_error). */
bool work_run(struct rt *rt, struct work *work);
/* call.c: ask the service for it. MAY SUSPEND. */
enum work_outcome work_call(struct rt *rt, const struct work *work);
/* It is ours from now on, by that claim. */
void work_set_attempt(struct rt *rt, struct work *work, const char *attempt);
int64_t work_takes_ns(const char *takes_ms);
void work_emit(struct rt *rt, const char *event, const struct work *work, const char *why);

/* ---- finish.c: the last word on a row ---- */

/* Write down that it is COMPLETED or FAILED, and tell its parent. MAY SUSPEND. Errors as
 * rt_db_exec. *is_ours is false when somebody else has the row by now: nothing was changed. */
enum err work_finish(struct rt *rt, struct work *work, bool succeeded, const char *error,
                     bool *is_ours);

/* ---- aggregate.c: what a parent says of its items ---- */

/* Before an item changes, within the same transaction: nobody else may change the parent's items.
 */
enum err aggregate_begin(struct rt *rt, struct link *link, const char *parent_id);
/* After it, in the same transaction. Errors as rt_db_exec. */
enum err aggregate_update(struct rt *rt, struct link *link, const char *parent_id, bool succeeded);
/* Both, after the commit: aggregate_after_commit. */
enum err aggregate_update_later(struct rt *rt, struct link *link, const char *parent_id,
                                bool succeeded);

/* ---- actors, one file each ---- */
void patterns_client(struct rt *rt);
void patterns_worker(struct rt *rt);
void patterns_executor(struct rt *rt);
void patterns_monitor(struct rt *rt);
void patterns_setup(struct rt *rt);

#endif
