/* What the files of this strategy share. README.md says how the design works. */
#ifndef FENCEPOST_UUID_LOCK_H
#define FENCEPOST_UUID_LOCK_H

#include "reference_impl/common/link.h"
#include "sim/rt.h"
#include "uuid_lock_sql.h"

/* Numbers of the document. The timeout is also in sql/. */
#define LOCK_TIMEOUT_NS NS_PER_HOUR
#define CLEANUP_INTERVAL_NS (30 * NS_PER_MIN)
#define PUBLISH_SHORTEST_NS (30 * NS_PER_S)

/* Not in the document. */
#define SCHEDULER_INTERVAL_NS NS_PER_MIN
#define RECOVERY_INTERVAL_NS (10 * NS_PER_MIN)
#define JITTER_S 10
#define RECONNECT_NS (10 * NS_PER_S)
#define LIST_COUNT_MAX 128

#define GALLERY "gallery"
#define GALLERY_PUBLISH "publish"

#define METRIC_ACQUISITION "isekai_lock_acquisition_seconds"
#define METRIC_HELD "isekai_lock_held_seconds"
#define METRIC_PUBLISHES "isekai_publishes_total"
#define METRIC_STALE_LOCKS "isekai_stale_locks_released_total"
#define ALERT_UNRESOLVED "PublishUnresolved"

enum uuid_lock_weakness {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql) UUID_LOCK_WEAK_##id,
#include "reference_impl/uuid_lock/weaknesses.def"
#undef WEAKNESS
};

/* ---- lock.c: the lock in a deviation's row ---- */

/* A deviation in a publisher's hands. */
struct execution {
    const char *id;
    const char *lock_id;
    const char *version;    /* NULL: not known yet */
    int64_t upload_ns;      /* the longest that the gallery takes over it */
    mono_time locked_since; /* before the lock was asked for */
};

enum lock_result {
    LOCK_GOT,
    LOCK_REFUSED, /* it is not there to be had, or not ours any more */
    LOCK_UNKNOWN, /* no answer: it may be ours */
};
/* Try to take the lock, once. MAY SUSPEND. */
enum lock_result lock_acquire(struct rt *rt, struct link *link, struct execution *execution);
/* Write down that it is about to be published. MAY SUSPEND, for as long as the database is away.
 * LOCK_GOT: it is written, and the lock is ours. LOCK_REFUSED: it is not ours. */
enum lock_result lock_mark(struct rt *rt, struct link *link, struct execution *execution);
/* Give it back with that status, once. MAY SUSPEND. LOCK_REFUSED: it is not ours. */
enum lock_result lock_release(struct rt *rt, struct link *link, const struct execution *execution,
                              const char *status);
/* Leave it to an operator, once. MAY SUSPEND. As lock_release. */
enum lock_result lock_give_up(struct rt *rt, struct link *link, const struct execution *execution);
/* The application's idea of the date, `ago_ns` before now, for a statement that has no better
 * one. */
const char *app_date(struct rt *rt, int64_t ago_ns);

/* ---- gallery.c: the API, which knows neither idempotency keys nor fencing tokens ---- */

enum publish_result {
    PUBLISH_DONE,
    PUBLISH_NOT_DONE, /* refused: it has not happened and will not */
    PUBLISH_UNKNOWN,  /* it may have happened, or happen yet */
};
/* Publish it. MAY SUSPEND for virtual minutes. */
enum publish_result gallery_publish(struct rt *rt, const struct execution *execution);
/* Is it there now? MAY SUSPEND. ERR_SERVICE_TIMEOUT: no answer. */
enum err gallery_look(struct rt *rt, const char *id, bool *is_there);

/* ---- publish.c: the document's processScheduledDeviation ---- */

/* What a publisher's process has. */
struct publisher {
    struct link link;
    int64_t execution_count;
};
void publish_scheduled(struct rt *rt, struct publisher *publisher, const char *id);
/* Publish what a statement lists. MAY SUSPEND, for long. */
void publish_listed(struct rt *rt, struct publisher *publisher, const struct rt_sql *list);

/* ---- unresolved.c: the alert about one execution ---- */

void unresolved_tell(struct rt *rt, const char *id, const char *version);
void unresolved_clear(struct rt *rt, const char *id, const char *version);

/* ---- actors, one file each ---- */
void uuid_lock_scheduler(struct rt *rt);
void uuid_lock_recovery(struct rt *rt);
void uuid_lock_cleanup(struct rt *rt);
void uuid_lock_user(struct rt *rt);
void uuid_lock_setup(struct rt *rt);

#endif
