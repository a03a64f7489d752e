/* A fault: what goes wrong. One file each, one line in faults.def.
 *
 * The harness calls a fault at named points of the seam. The fault draws from its own stream
 * whether it strikes, and then acts through the host. It heals by itself or when told. */
#ifndef FENCEPOST_FAULT_H
#define FENCEPOST_FAULT_H

#include "sim/core/base.h"
#include "sim/scenario/fields.h"

/* Where a fault may strike: name, what is about to happen or has just happened. */
#define FAULT_POINTS(X)                                                                            \
    X(POINT_DB_OPEN, "db.open", "before a connection is made")                                     \
    X(POINT_DB_OPENED, "db.opened", "a connection was made")                                       \
    X(POINT_DB_EXEC, "db.exec", "before a statement is sent")                                      \
    X(POINT_DB_SENT, "db.sent",                                                                    \
      "the statement is on its way, the client does not know its answer")                          \
    X(POINT_DB_DONE, "db.done", "the answer has come")                                             \
    X(POINT_DB_COMMIT, "db.commit", "before a COMMIT is sent")                                     \
    X(POINT_DB_COMMITTED, "db.committed", "a COMMIT was answered")                                 \
    X(POINT_DB_BLOCKED, "db.blocked", "the statement waits for a lock")                            \
    X(POINT_CLOUD_CALL, "cloud.call", "before a call to the cloud")                                \
    X(POINT_CLOUD_DONE, "cloud.done", "the cloud has answered")                                    \
    X(POINT_STORE_CALL, "store.call", "before a call to the artifact store")                       \
    X(POINT_STORE_DONE, "store.done", "the artifact store has answered")                           \
    X(POINT_SERVICE_CALL, "service.call", "before a call to an outside service")                   \
    X(POINT_SERVICE_DONE, "service.done", "the service has answered")                              \
    X(POINT_QUEUE_RECEIVE, "queue.receive", "before a receive")                                    \
    X(POINT_QUEUE_RECEIVED, "queue.received", "a message has come")                                \
    X(POINT_QUEUE_DELETE, "queue.delete", "before a message is deleted")                           \
    X(POINT_QUEUE_DELETED, "queue.deleted", "a message was deleted")                               \
    X(POINT_QUEUE_VISIBILITY, "queue.visibility", "before a message is held longer, or let go")    \
    X(POINT_QUEUE_SEND, "queue.send", "before a message is sent")                                  \
    X(POINT_QUEUE_SENT, "queue.sent", "a message was sent")                                        \
    X(POINT_DEAD_RECEIVED, "dead.received", "a dead letter has come")                              \
    X(POINT_DEAD_SETTLE, "dead.settle", "before a dead letter is deleted or put back")             \
    X(POINT_SLEEP, "sleep", "before a sleep")                                                      \
    X(POINT_WAKE, "wake", "after a sleep")                                                         \
    X(POINT_CLOCK, "clock", "at the time that `at` gives, whatever anybody does")

enum fault_point {
#define X(id, name, about) id,
    FAULT_POINTS(X)
#undef X
        FAULT_POINT_COUNT
};

const char *fault_point_name(enum fault_point point);
const char *fault_point_about(enum fault_point point);

enum fault_target_kind { TARGET_ANY, TARGET_ROLE, TARGET_NAME, TARGET_DATABASE };
struct fault_target {
    enum fault_target_kind kind;
    char *name; /* the role or the actor; else NULL */
};

/* Where the statement of a visit stands. */
enum fault_transaction { TRANSACTION_ANY, TRANSACTION_INSIDE, TRANSACTION_OUTSIDE };

/* What every fault has, at the start of its config struct. */
struct fault_common {
    struct fault_target target;
    uint64_t points; /* bit set of enum fault_point; 0: the kind's own default */
    uint32_t probability_per_million;
    int64_t times;               /* strikes at most; 0: no limit */
    int64_t after_ns, before_ns; /* window of virtual time; before_ns 0: end of chaos */
    int64_t nth;   /* 0: by probability; N: at the Nth visit of a point, exactly; NTH_SWEEP */
    int64_t step;  /* 0: any; N: at the first visit at or after the scheduler's Nth step */
    int64_t at_ns; /* < 0: at points; else by the clock, once */
    struct name_list operation;       /* only visits of these operations; none: of all */
    int transaction;                  /* enum fault_transaction */
    struct duration_range heal_after; /* of a kind that lasts; both 0: until chaos ends */
};
/* The seed says which visit it is. */
#define NTH_SWEEP (-1)

/* A fault that lasts has this among its fields. It is undone after a time drawn from the range, and
 * at the start of settle at the latest; see sim/run/healing.h. `text` is the default. */
#define HEAL_AFTER_FIELD(text)                                                                     \
    {                                                                                              \
        .key = "heal_after", .type = FIELD_DURATION_RANGE,                                         \
        .offset = offsetof(struct fault_common, heal_after), .fallback = (text),                   \
        .example = "10m..1h",                                                                      \
        .about = "how long it lasts, drawn from this range; 0s: until chaos ends"                  \
    }

/* A fault that is there from the start, unless the scenario says where or when, has this too. */
extern const char *const fault_at_words[];
#define FROM_THE_START_FIELD                                                                       \
    {                                                                                              \
        .key = "at", .type = FIELD_DURATION, .offset = offsetof(struct fault_common, at_ns),       \
        .words = fault_at_words, .fallback = "0s", .example = "40m",                               \
        .about = "strike at this virtual time, once; any: at points, as when they are given"       \
    }

/* How a connection is cut. */
enum drop_how {
    DROP_REQUEST_LOST, /* the statement never arrives */
    DROP_REPLY_LOST,   /* the statement runs, the client never learns */
    DROP_IDLE,         /* between two statements */
};

/* Who cuts it: the harness at its own end, or a toxiproxy between client and server. */
enum fault_via { VIA_SOCKET, VIA_TOXIPROXY };

/* How a call to the cloud goes wrong; the mildest first. */
enum cloud_error {
    CLOUD_ERROR_THROTTLED,    /* refused at once */
    CLOUD_ERROR_REQUEST_LOST, /* it never arrives; the caller learns of a timeout */
    CLOUD_ERROR_REPLY_LOST,   /* it happens; the caller learns of a timeout */
    CLOUD_ERROR_QUOTA,        /* refused at once */
    CLOUD_ERROR_CREDENTIALS,  /* refused at once */
    CLOUD_ERROR_ANY,          /* in a scenario: one of those above, drawn */
    CLOUD_ERROR_HALF_DONE,    /* it stops half way; the caller learns of a timeout */
    CLOUD_ERROR_COUNT
};

/* How a call to an outside service goes wrong; the mildest first. */
enum service_error {
    SERVICE_ERROR_THROTTLED,    /* refused at once */
    SERVICE_ERROR_REQUEST_LOST, /* it never arrives; the caller learns of a timeout */
    SERVICE_ERROR_REPLY_LOST,   /* it happens; the caller learns of a timeout */
    SERVICE_ERROR_REJECTED,     /* refused at once, and for good */
    SERVICE_ERROR_ANY,          /* in a scenario: one of those above, drawn */
    SERVICE_ERROR_COUNT
};

/* How the queue goes wrong; the mildest first. */
enum queue_error {
    QUEUE_ERROR_EMPTY,     /* a receive finds nothing though there is something */
    QUEUE_ERROR_LATE,      /* a message is not delivered before some time */
    QUEUE_ERROR_DUPLICATE, /* one that is in flight is delivered once more */
    QUEUE_ERROR_EARLY,     /* its visibility runs out before its time */
    QUEUE_ERROR_COUNT
};

/* How the database cannot be reached; the mildest first. */
enum partition_how {
    PARTITION_REFUSED, /* everything fails at once */
    PARTITION_HANGING, /* nothing is answered */
    PARTITION_HOW_COUNT
};

/* What is done to the server's container; the mildest first. */
enum container_how { CONTAINER_PAUSE, CONTAINER_RESTART, CONTAINER_KILL, CONTAINER_HOW_COUNT };

struct fault_host;

/* One visit of a point. Text is static or lives during the call. */
struct fault_visit {
    enum fault_point point;
    const char *actor;     /* "worker-1" */
    const char *role;      /* "worker" */
    const char *fiber;     /* "worker-1/heartbeat" */
    const char *operation; /* statement name, cloud operation, ... */
    /* Names of the statements of the transaction under way, in which the visit is; NULL: outside of
     * any. A COMMIT is found by them too. */
    const char *const *transaction;
    size_t transaction_size;
    int64_t t_ns;
};
/* Is it a visit that a fault with these common fields wants, as far as operation and transaction
 * go? */
bool fault_wants(const struct fault_common *common, const struct fault_visit *visit);

/* What a fault may do. Those up to fault_fail_store act on the actor of the visit. */
void fault_crash(struct fault_host *host,
                 int64_t restart_after_ns); /* < 0: never. Does not return */
void fault_pause(struct fault_host *host, int64_t duration_ns);
/* DROP_IDLE where no statement has just been answered: one of the process's idle connections is
 * cut, which one is drawn. A strike that finds none does not count. */
void fault_drop_connection(struct fault_host *host, enum drop_how how, enum fault_via via);
/* At POINT_CLOUD_CALL, POINT_STORE_CALL: the call about to be made fails. A look has no half: that
 * strike does not count. */
void fault_fail_cloud(struct fault_host *host, enum cloud_error error);
void fault_fail_store(struct fault_host *host);
/* At POINT_SERVICE_CALL: the call about to be made fails. A look that fails times out. */
void fault_fail_service(struct fault_host *host, enum service_error error);
/* Rows of the strategy's lock table vanish in one commit: all of them, or a drawn one. What a
 * transaction under way has locked stays. A strike that finds no row does not count. */
void fault_lose_locks(struct fault_host *host, bool one);
/* The wall clock of the target's machine, or of the database, is put forward or back; lasts. */
void fault_step_clock(struct fault_host *host, int64_t by_ns);
/* From now on it runs too fast or too slow; lasts. A strike on one that does so already does not
 * count. */
void fault_drift_clock(struct fault_host *host, int64_t rate_ppm);
/* At POINT_QUEUE_RECEIVE: empty. At POINT_QUEUE_SEND: late. At POINT_QUEUE_RECEIVED: duplicate or
 * early, `delay_ns` from now. */
void fault_disturb_queue(struct fault_host *host, enum queue_error error, int64_t delay_ns);
/* The call of the visit takes so much longer. After POINT_DB_SENT its statement runs meanwhile. */
void fault_delay(struct fault_host *host, int64_t duration_ns);
/* The actor cannot reach the database; lasts. A strike on one that cannot already does not count.
 */
void fault_partition(struct fault_host *host, enum partition_how how);
/* The targets have at most so many connections between them; lasts. A second limit does not count.
 */
void fault_limit_connections(struct fault_host *host, int limit, int64_t wait_ns);
/* An administrator ends a session: that of the visit's statement, or one that the process has and
 * that is idle or waits for a lock, drawn. A strike that finds none does not count. */
void fault_terminate(struct fault_host *host);
/* At POINT_DB_EXEC, POINT_DB_BLOCKED: an administrator cancels the statement. */
void fault_cancel(struct fault_host *host);
/* From now on standbys show the past: by that much, or (0) nothing new; lasts. A strike while they
 * do so already does not count. */
void fault_lag(struct fault_host *host, int64_t by_ns);
/* The primary is stopped at once and recovers what was committed; every connection to it is gone,
 * and nobody gets a new one while it lasts. */
void fault_crash_server(struct fault_host *host);
/* The primary dies for good and a standby takes its place, with what it has received; every
 * connection is gone, and nobody gets a new one while it lasts. A strike during an outage does not
 * count. */
void fault_fail_over(struct fault_host *host);
/* The container of the server is hit; lasts. A strike while it is out of reach already does not
 * count. Only where the server is in a container. */
void fault_hit_container(struct fault_host *host, enum container_how how);
/* An integer in the fault's own stream; 0 is the mildest. */
uint32_t fault_draw(struct fault_host *host, uint32_t n);
int64_t fault_draw_duration(struct fault_host *host, struct duration_range range);

struct fault_kind {
    const char *name;
    const char *about;
    const char *example;        /* one line of YAML */
    const struct field *fields; /* beyond the common ones */
    size_t field_count;
    size_t config_size; /* its config begins with struct fault_common */
    uint64_t points;    /* where it can strike */
    uint64_t points_default;
    /* Where it can strike with this config, when that is less than `points`; NULL: at all of them.
     */
    uint64_t (*points_of)(const void *config);
    bool of_environment;  /* it acts on no actor: by the clock it needs none */
    bool takes_database;  /* `target: database` is the server */
    bool kills_server;    /* the run must be ready for it */
    bool needs_standby;   /* topology.postgres.standbys must not be 0 */
    bool needs_container; /* the server must be in one: --pg docker */
    /* Where the config says who cuts connections, an enum fault_via; NULL: it cuts none. */
    int *(*via)(void *config);
    /* It strikes now. */
    void (*strike)(struct fault_host *host, const void *config, const struct fault_visit *visit);
};

extern const struct field fault_common_fields[];
extern const size_t fault_common_field_count;

/* All of them, ended by NULL. */
extern const struct fault_kind *const fault_kinds[];
const struct fault_kind *fault_kind_find(const char *name);
/* Where a fault with this config strikes: the points it asks for (or the kind's default) as far as
 * the kind can strike there with this config. 0: nowhere, which is a mistake in the scenario. */
uint64_t fault_points(const struct fault_kind *kind, const void *config);

#define POINT_BIT(point) (UINT64_C(1) << (point))
#define POINTS_ALL (POINT_BIT(FAULT_POINT_COUNT) - 1)
/* Where somebody works. Where processes come by most often (a poller's sleep and receive) is left
 * out: a fault that strikes once would otherwise nearly always strike an idle process. So are
 * points next to another one; they are there for those who ask. */
#define POINTS_AT_WORK                                                                             \
    (POINTS_ALL & ~POINT_BIT(POINT_SLEEP) & ~POINT_BIT(POINT_WAKE) &                               \
     ~POINT_BIT(POINT_QUEUE_RECEIVE) & ~POINT_BIT(POINT_CLOCK) & ~POINT_BIT(POINT_DB_OPENED) &     \
     ~POINT_BIT(POINT_QUEUE_DELETED) & ~POINT_BIT(POINT_QUEUE_VISIBILITY) &                        \
     ~POINT_BIT(POINT_QUEUE_SENT))

#endif
