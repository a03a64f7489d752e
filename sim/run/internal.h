/* Shared by the files of sim/run only: the simulated seam and the run behind it. */
#ifndef FENCEPOST_RUN_INTERNAL_H
#define FENCEPOST_RUN_INTERNAL_H

#include "faults/fault.h"
#include "sim/core/arena.h"
#include "sim/core/clock.h"
#include "sim/core/sched.h"
#include "sim/pg/session.h"
#include "sim/run/history.h"
#include "sim/run/network.h"
#include "sim/run/run.h"
#include "sim/world/cloud.h"
#include "sim/world/metrics.h"
#include "sim/world/queue.h"
#include "sim/world/service.h"
#include "sim/world/store.h"

#define RUN_ACTOR_COUNT_MAX 128
/* Statements of a transaction by which a fault finds it; of a longer one the first. */
#define TRANSACTION_SIZE_MAX 32

struct actor {
    struct run *run;
    const struct role *role;
    char name[48];     /* "worker-1" */
    char instance[64]; /* "worker-1", then "worker-1.2", ... */
    int life_count;
    struct machine_clock clock; /* of its machine: a new life finds it as it is */
    enum network network;
    struct proc *proc;       /* NULL: dead */
    struct fiber *restarter; /* waits to start it again */
};

/* One connection: the seam's side of a session. Outlives its process when it becomes a ghost. */
struct rt_db {
    struct run *run;
    struct proc *proc;          /* NULL: a ghost */
    struct actor *actor;        /* whose it is, or was; NULL: the harness's */
    char name[80];              /* "worker-1/job" */
    struct pg_session *session; /* NULL: lost or closed */
    bool on_standby;
    bool severed; /* its server died: whatever is under way has no answer */
    bool lost;
    char sqlstate[6];
    /* A statement under way. */
    const struct rt_sql *sql;
    bool in_flight;
    bool sent;
    bool driving; /* the server's side goes on in a fiber of its own */
    enum pg_answer answer;
    /* Names of the statements sent since the transaction began. */
    const char *transaction[TRANSACTION_SIZE_MAX];
    size_t transaction_size;
    bool cut_off;         /* its client learns no answer any more */
    bool lingers;         /* lost, but the server has not noticed */
    bool cancel_next;     /* the next statement is cancelled at its start */
    bool interrupted;     /* an administrator has ended it: `answer` is there */
    struct fiber *client; /* waits for the server's side */
    struct fiber *waiter; /* the server's side, until its lock is granted */
    struct arena *kept;   /* of a ghost: what its statement needs */
    const char *const *params;
    struct rt_db *next;
};

struct rt {
    struct run *run;
    struct actor *actor; /* NULL: the harness's own */
    struct proc *proc;
    struct fiber *fiber;
    void (*body)(struct rt *rt, void *arg);
    void *arg;
    struct rt_db *sending; /* whose statement is on its way */
    bool receives;         /* suspended in a receive */
    bool accepts;          /* suspended in an accept */
    bool waits_for_network, waits_for_place;
    struct rt *next_receiver;
};

struct fault_state {
    struct choice_stream *stream;
    int64_t visit_count;
    int64_t strike_count;
    int64_t nth; /* 0: not by count */
    bool off;    /* not in this run */
};

/* What the strikes at one visit of a point ask of the seam. Zeroed is nothing. */
struct struck {
    bool drop;          /* cut the connection */
    enum fault_via via; /* with `drop`: who cuts it */
    enum cloud_fault cloud;
    bool store; /* the store does not answer */
    enum service_fault service;
    bool queue; /* the queue goes wrong: */
    enum queue_error queue_error;
    int64_t queue_delay_ns;
};

/* What a strike acts on. */
struct fault_host {
    struct run *run;
    struct rt *rt;       /* NULL: it strikes by the clock */
    struct actor *actor; /* whom it strikes; NULL: nobody, it is of the environment */
    struct rt_db *db;    /* of the visit's statement; NULL: it is none */
    struct fault_state *state;
    const struct scenario_fault *fault;
    const struct fault_visit *visit;
    struct struck struck;
    bool missed; /* there was nothing to strike: it does not count */
};

struct run_lane {
    struct pg_lane *pg;
    struct strbuf installed;             /* what the database was made for; "": nothing */
    uint32_t decision_count;             /* of the scheduler in a run of this scenario: */
    const struct scenario *measured_for; /* NULL: not measured */
    struct choices *choices;
    struct trace *trace;
    struct context_pool *contexts;
    struct queue *queue;
    struct cloud *cloud;
    struct store *store;
    struct service *service;
    struct metrics *metrics;
    struct tally *reached;
    struct tally *measured;
};

/* How many connections there may be. */
struct pool {
    int limit; /* 0: any number */
    int64_t wait_ns;
    const struct fault_target *target; /* among whom */
};

struct run {
    struct run_lane *lane;
    const struct scenario *scenario;
    struct sched *sched;
    struct trace *trace;
    struct checks *checks;
    struct run_result *result;
    struct proc *harness; /* restarts, ghosts, the cloud's own progress */
    struct actor actors[RUN_ACTOR_COUNT_MAX];
    int actor_count;
    struct rt_db *connections;
    struct rt *receivers;
    struct request *requests; /* the first not ended one first */
    int64_t request_count;
    const struct run_watch *watch;
    struct history *history; /* NULL: nobody asks */
    struct fault_state faults[SCENARIO_FAULT_COUNT_MAX];
    struct machine_clock db_clock;
    struct pool pool;
    struct healing *healings; /* in the order they began */
    struct servers *servers;
    struct choice_stream *workload_stream, *world_stream;
    bool faults_on;
    bool setting_up;
    const char *unsettled; /* why it did not come to rest; NULL: it did, or is not that far */
    int64_t pending_count; /* rows that say that something is not finished */
    struct strbuf scratch;
};

/* run.c */
void run_trouble(struct run *run, const char *format, ...) FP_PRINTF(2, 3);
struct rt *rt_new(struct run *run, struct actor *actor, struct proc *proc);
void actor_start(struct actor *actor);
/* The process dies; its connections are cut or become ghosts. Does not return to its own fibers. */
void actor_crash(struct actor *actor, int64_t restart_after_ns);

/* strike_clock.c */
/* What the database's clock shows, since 1970. */
int64_t db_now_ns(const struct run *run);

/* seam_db.c */
/* The client stops listening for a while: its statement must not wait for it. */
void connection_goes_on_alone(struct rt_db *db);
/* A statement that is on its way reaches the server and is done there; the client hears nothing. */
void connection_arrives(struct rt_db *db);
void connections_of_dead(struct run *run, const struct proc *proc);
void connections_wake(struct run *run);
void connections_free(struct run *run);
/* Connections of the process that can be cut now, with no statement under way or (`waiting` too)
 * with one that waits for a lock; and the end of one of them. */
int connections_count(const struct run *run, const struct proc *proc, bool waiting);
struct rt_db *connections_nth(struct run *run, const struct proc *proc, bool waiting, int index);
void connection_cut(struct rt_db *db, enum fault_via via);
/* Its statement waits for a lock, on a server that can be spoken to. */
bool connection_is_blocked(const struct rt_db *db);
/* An administrator ends its session, or cancels the statement that waits. */
void connection_interrupt(struct rt_db *db, bool terminate);
/* Its actor is cut off: clients who wait begin to lose their patience. */
void connections_of_parted(struct run *run, const struct actor *actor);
/* The server learns which of the actor's connections are no more. */
void connections_of_healed(struct run *run, const struct actor *actor);
/* The primary is about to die, or (`all`) every server: nobody has a connection to it any more, and
 * no statement that waits there goes on. */
void connections_sever(struct run *run, bool all);

/* rest.c */
void report_changes(struct run *run, const char *who, const struct pg_result *result);
void report_change(struct run *run, const char *who, const struct pg_change *change);
bool run_is_at_rest(struct run *run);
void describe_pending(struct run *run, struct strbuf *out);

/* lock_rows.c */
/* Rows of the strategy's lock table that no transaction under way has locked. */
int lock_rows_count(struct run *run);
/* They vanish in one commit: all of them (index < 0), or that one. */
void lock_rows_lose(struct run *run, const char *who, int index);

/* seam_queue.c, seam_cloud.c, seam_monitor.c: what happens there without a call becomes events. */
void receivers_wake(struct run *run);
void seam_queue_begin(struct run *run);
void seam_queue_end(struct run *run);
void seam_cloud_begin(struct run *run);
void seam_cloud_end(struct run *run);
void seam_service_begin(struct run *run);
void seam_service_end(struct run *run);
void seam_monitor_begin(struct run *run);

/* seam_request.c: what a process had accepted when it died has no answer, and nobody waits for what
 * it had asked. */
void requests_of_dead(struct run *run, const struct proc *proc);

/* strike_queue.c: what struck at POINT_QUEUE_RECEIVED happens to this delivery, now or later. */
void delivery_disturb(struct run *run, const struct struck *struck, int64_t receipt);

/* strike.c: every fault of the scenario gets its chance at this point. May not return (crash). */
struct struck visit_point(struct rt *rt, enum fault_point point, const char *operation);
/* The same for a point of a statement on this connection. */
struct struck visit_statement(struct rt *rt, struct rt_db *db, enum fault_point point);
bool fault_targets(const struct fault_target *target, const struct actor *actor);
/* The beginning of a fault's event: its kind, who was struck, point and operation. */
void fault_event_begin(struct fault_host *host, const char *kind);
void faults_begin(struct run *run);
/* Those that strike at a time, whoever comes by. */
void faults_start_clock(struct run *run);

#endif
