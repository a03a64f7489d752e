/* What the files of this strategy share. README.md says how the design works. */
#ifndef FENCEPOST_CACHE_LOCK_H
#define FENCEPOST_CACHE_LOCK_H

#include "cache_lock_sql.h"
#include "reference_impl/common/link.h"
#include "sim/rt.h"

/* Numbers of the document. The time to live of a day that goes on is in sql/. */
#define LOSER_WAIT_NS (100 * NS_PER_MS)
#define GRACE_MIN 5
#define BLOCKING_TIMEOUT_NS (5 * NS_PER_S)
#define CONTENTION_PERCENT_MAX 20
#define HIT_RATE_PERCENT_MIN 80

/* A process has so many connections for reading, and so many more for rebuilding. */
#define READ_POOL_SIZE 3
#define REBUILD_POOL_SIZE 2
#define POOL_WAIT_NS (10 * NS_PER_S)
/* So long a request goes on trying before it says that it cannot. */
#define REQUEST_BUDGET_NS (2 * NS_PER_MIN)
#define BACKOFF_MAX_NS (20 * NS_PER_S)
/* A request takes no longer than its budget and what one try of it may take. */
#define ANSWER_WITHIN_NS (10 * NS_PER_MIN)

enum cache_lock_weakness {
#define WEAKNESS(id, name, about, source, breaks, as_written, schema_sql) CACHE_LOCK_WEAK_##id,
#include "reference_impl/cache_lock/weaknesses.def"
#undef WEAKNESS
};

/* The metrics and alerts of the document. Its two rates are made of them. */
#define METRIC_HITS "cacheHits"
#define METRIC_MISSES "cacheMisses"
#define METRIC_REBUILDS "cacheRebuilds"
#define METRIC_LOCKED "lockAcquisitionSuccesses"
#define METRIC_NOT_LOCKED "lockAcquisitionFailures"
#define METRIC_GRACE "gracePeriodApplications"
#define ALERT_CONTENTION "HighLockContention"
#define ALERT_GRACE "FrequentGracePeriodApplications"
#define ALERT_HIT_RATE "LowCacheHitRate"

/* ---- clients.c: the connections that the requests of a process share ---- */

#define CLIENT_COUNT_MAX 4

struct client_waiter;
struct clients {
    int size;
    struct link links[CLIENT_COUNT_MAX];
    bool taken[CLIENT_COUNT_MAX];
    struct client_waiter *waiters; /* the longest waiting first */
};

/* Zeroed before. `labels` has `size` entries that live as long as the process. */
void clients_init(struct clients *clients, const char *const *labels, int size);
/* A connection that nobody else uses, until it is given back. MAY SUSPEND. NULL: there was none for
 * so long, or the database cannot be reached. */
struct link *clients_take(struct rt *rt, struct clients *clients, int64_t wait_ns);
/* Are all of them in use? */
bool clients_are_taken(const struct clients *clients);
/* Back to the pool as it is, with all that its session holds. NULL is allowed. */
void clients_give(struct rt *rt, struct clients *clients, struct link *client);
/* Back to the pool, but its session ends. */
void clients_discard(struct rt *rt, struct clients *clients, struct link *client);

/* What a server's process has. */
struct api {
    struct clients reads, rebuilds;
    int64_t run_count;
};

/* ---- lock.c: withAdvisoryLock ---- */

/* A day's lock in somebody's hands. */
struct day_lock {
    struct api *api;
    const char *date, *request;
    struct link *client; /* the connection that holds it */
    int64_t token;       /* 0: none */
};
enum lock_result { LOCK_GOT, LOCK_HELD, LOCK_FAILED };

/* Take the lock on lock->date for lock->request. MAY SUSPEND; waits for a holder only with
 * `blocking`, and then not for ever. On LOCK_GOT it must be left. */
enum lock_result day_lock_enter(struct rt *rt, struct day_lock *lock, bool blocking);
/* Is it still ours? MAY SUSPEND. */
bool day_lock_check(struct rt *rt, const struct day_lock *lock);
/* Give it back. What was saved within it is there when `good` and ERR_OK; ERR_DB_LOST: perhaps.
 * MAY SUSPEND. */
enum err day_lock_leave(struct rt *rt, struct day_lock *lock, bool good);

/* ---- cache.c: the table ---- */

struct entry {
    const char *data; /* NULL: there is none */
    bool live;
};
/* MAY SUSPEND. Errors as rt_db_exec. */
enum err cache_check(struct rt *rt, struct link *client, const char *date, struct entry *entry);

/* ---- rebuild.c: what is done under the lock ---- */

struct rebuild {
    const char *date;
    bool forced;      /* by an admin, whether there is an entry or not */
    int64_t work_ns;  /* how long it takes */
    int64_t run;      /* unique within the process; 0: none yet */
    const char *data; /* what it was built from; NULL: not yet */
};
/* The document's callback: look again, read the source, save. MAY SUSPEND for minutes. ERR_FENCED:
 * the lock is lost. ERR_STORE_UNAVAILABLE: the source does not answer. Else as rt_db_exec. On
 * ERR_OK rebuild->data is set. */
enum err rebuild_within(struct rt *rt, struct day_lock *lock, struct rebuild *rebuild);
/* Write the entry down. Errors as rt_db_exec. */
enum err cache_save(struct rt *rt, struct link *client, const struct rebuild *rebuild,
                    bool is_current);

/* ---- ttl.c: how long an entry lives ---- */

/* Will there be more of that day? `started` is when the rebuild began, by this machine's clock. */
bool day_goes_on(struct rt *rt, const struct rebuild *rebuild, wall_time started);

/* ---- source.c: where the usage comes from ---- */

/* "usage/2026-01-01" */
const char *source_key(struct rt *rt, const char *date);
/* What the source says of a day with so many records; and whether there will be no more. */
const char *source_text(struct rt *rt, int64_t record_count, bool is_closed);
bool source_is_closed(const char *data);

/* ---- request.c ---- */

/* One request, from its message to its answer. `body` lives as long as the process. */
void cache_request_serve(struct rt *rt, struct api *api, const char *body);
const char *cache_request_body(struct rt *rt, int index);

/* ---- monitor.c ---- */

void cache_count(struct rt *rt, const char *metric);

/* ---- actors, one file each ---- */
void cache_lock_api(struct rt *rt);
void cache_lock_client(struct rt *rt);
void cache_lock_meter(struct rt *rt);
void cache_lock_tenant(struct rt *rt);
void cache_lock_setup(struct rt *rt);

#endif
