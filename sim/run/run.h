/* One run: one scenario, one seed, from a clean slate to a verdict.
 *
 * chaos:  the workload runs and faults fire, until everything has come to rest or the time is up;
 * settle: everything is healed, nothing fails any more, and the system must come to rest. */
#ifndef FENCEPOST_RUN_H
#define FENCEPOST_RUN_H

#include "sim/check/check.h"
#include "sim/core/choice.h"
#include "sim/core/sched.h"
#include "sim/core/trace.h"
#include "sim/pg/lane.h"
#include "sim/run/tally.h"
#include "sim/scenario/scenario.h"

enum run_outcome {
    RUN_PASS,
    RUN_VIOLATION,      /* an invariant failed */
    RUN_UNKNOWN,        /* it did not come to rest, or ran out of steps */
    RUN_DIVERGED,       /* a replay did something else than was recorded */
    RUN_INFRASTRUCTURE, /* the environment failed; says nothing about the design */
    RUN_OUTCOME_COUNT
};
const char *run_outcome_name(enum run_outcome outcome);

struct run_counts {
    int64_t steps;
    int64_t virtual_ns;
    int64_t statements;
    int64_t contended; /* statements that found their lock taken */
    int64_t parked;    /* times a waiter was stopped */
    int64_t deadlocks;
    int64_t ghosts; /* statements that outlived their client */
    int64_t gates;
    int64_t crashes;
    int64_t control_queries;
    int64_t connects;
    int64_t decisions; /* of the scheduler, between several; the most of one run */
    int64_t fibers;    /* at one time; the most of one run */
    int64_t repeats;   /* runs thrown away because a waiter was parked too late */
    /* By fault of the scenario: how often it struck, and how often it could have. */
    int64_t fired[SCENARIO_FAULT_COUNT_MAX];
    int64_t visited[SCENARIO_FAULT_COUNT_MAX];
};

/* `fired` and `visited` add up only for runs of one scenario. */
void run_counts_add(struct run_counts *sum, const struct run_counts *one);

struct run_result {
    enum run_outcome outcome;
    uint64_t seed;
    uint64_t hash;
    struct run_counts counts;
    const struct invariant *invariant; /* RUN_VIOLATION */
    int64_t step;                      /* of the violation or the difference */
    char kind[TRACE_KIND_SIZE_MAX];    /* RUN_VIOLATION: of the event; "": none in particular */
    bool cut;                          /* a run_watch has ended it: not judged to its end */
    struct strbuf sentence;            /* what happened, or what is still pending, or the trouble */
};
void run_result_init(struct run_result *result);
void run_result_release(struct run_result *result);

/* Recorded choices to feed back, and lines to compare with; either may be missing. */
struct run_replay {
    const struct replay_stream {
        const char *name;
        const uint32_t *values;
        size_t value_count;
    } * streams;
    size_t stream_count;
    const struct run_watch *watch; /* NULL: nobody */
    bool zero_others; /* streams that are not among these answer 0; else they draw from the seed */
    const char *lines;
};

/* Somebody who looks at the decisions of the scheduler while they are made. */
struct run_watch {
    void *self;
    /* A run begins, or begins anew because the first try was spoilt. */
    void (*begun)(void *self);
    /* `state` stands for everything that decides what may follow; see history.h. False: the run is
     * of no interest any more. It ends there, without a verdict. */
    bool (*decided)(void *self, const struct sched_decision *decision, uint64_t state);
};

/* What a lane keeps from run to run. */
struct run_lane;
struct run_lane *run_lane_new(struct pg_lane *pg);
void run_lane_free(struct run_lane *lane);

/* Put the scenario's schema into the database. Once per scenario. ERR_DB_SQL: the schema is wrong.
 */
enum err run_lane_install(struct run_lane *lane, const struct scenario *scenario,
                          struct strbuf *why);
/* Run one seed. `replay` may be NULL. The scenario must be the installed one. */
void run_one(struct run_lane *lane, const struct scenario *scenario, uint64_t seed,
             const struct run_replay *replay, struct run_result *result);

/* Of the last run: its events and its choices, valid until the next. */
const struct trace *run_lane_trace(const struct run_lane *lane);
const struct choices *run_lane_choices(const struct run_lane *lane);
/* What it reached: how often each kind of event happened, and more (see tally.h). */
const struct tally *run_lane_reached(const struct run_lane *lane);
/* What it measured: see measured.h. */
const struct tally *run_lane_measured(const struct run_lane *lane);
/* What a monitoring system has collected, in Prometheus' text format. */
void run_lane_metrics(const struct run_lane *lane, struct strbuf *out);

#endif
