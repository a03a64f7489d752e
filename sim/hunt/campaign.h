/* A campaign: many seeds of many scenarios over several lanes.
 *
 * A lane is a process with a server of its own. Which lane runs a seed makes no difference to what
 * comes out: the report depends on the scenarios and seeds alone (times apart). */
#ifndef FENCEPOST_CAMPAIGN_H
#define FENCEPOST_CAMPAIGN_H

#include "sim/pg/server.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario.h"

#define CAMPAIGN_SCENARIO_COUNT_MAX 1024
#define CAMPAIGN_LANE_COUNT_MAX 64

struct campaign_options {
    uint64_t first_seed;
    uint64_t seed_count; /* per scenario */
    int64_t time_ns;     /* no new seed is begun after it; 0: no limit */
    int lane_count;
    bool overview; /* many scenarios in little time: each gets some seeds soon, and one that is
                      expected to break gets no more once it did */
    bool check_determinism;       /* run every seed twice and compare */
    uint32_t recheck_per_million; /* else: this share of the seeds is run twice */
    const char *out_dir;          /* failures go to OUT/failures; NULL: nowhere */
    struct pg_server_options server;
};

/* From the most to the least interesting; the lowest seed of each kind is kept as a file. */
enum failure_kind {
    FAILURE_UNEXPECTED, /* a violation that the scenario does not expect */
    FAILURE_EXPECTED,
    FAILURE_UNKNOWN, /* did not settle */
    FAILURE_KIND_COUNT
};
struct campaign_failure {
    bool found;
    enum failure_kind kind; /* the worst there was */
    uint64_t seed;          /* the lowest of that kind */
    const struct invariant *invariant;
    int64_t step;
    char *sentence;
    char *file;       /* NULL: not written */
    char *small_file; /* the scenario that was made of it by shrinking; NULL: none */
    int64_t small_step;
};
/* What came of one scenario. */
struct campaign_scenario {
    const struct scenario *scenario;
    int64_t seed_count; /* that were run */
    int64_t outcomes[RUN_OUTCOME_COUNT];
    int64_t by_invariant[SCENARIO_INVARIANT_COUNT_MAX]; /* violations, by index into
                                                           scenario->invariants */
    int64_t checked_count, diverged_count;
    uint64_t hash;                         /* over the hashes of its seeds in their order */
    struct run_counts counts;              /* summed */
    struct tally *reached;                 /* summed; NULL: no seed was run */
    struct tally *measured;                /* the same, see sim/run/measured.h */
    struct campaign_failure first_failure; /* of RUN_VIOLATION */
    struct campaign_failure first_unknown; /* of RUN_UNKNOWN and RUN_INFRASTRUCTURE */
    struct campaign_failure first_divergence;
    bool met; /* the expectation of the scenario */
    /* Of an exhaustive search, in which a schedule stands for a seed. */
    struct {
        bool is_used;
        int bound;            /* preemptions */
        bool complete;        /* every schedule within the bound was looked at */
        int64_t pruned_count; /* runs that ended at a state which was known */
        int64_t state_count;
        int64_t open_count; /* not complete: decisions with an alternative that was not tried */
    } exhaustive;
};

struct campaign_report {
    struct campaign_scenario *scenarios;
    size_t scenario_count;
    int64_t wall_ns;  /* of the campaign, without starting servers */
    int64_t start_ns; /* starting the servers took so long */
    int lane_count;
    struct pg_environment environment; /* of the lanes; all zero: none came up */
    int64_t sweep_point_count; /* of a sweep: points at which its fault could strike; 0: none */
    bool interrupted;
    bool out_of_time;
    bool lane_failed;      /* a lane died, or could not start: infrastructure */
    struct strbuf trouble; /* why */
};

/* Called now and then from the parent, and once at the end. */
struct campaign_progress {
    int64_t done_count, total_count; /* seeds */
    int64_t violation_count;         /* unexpected ones */
    int64_t expected_count;          /* violations that a scenario expects */
    int64_t diverged_count;
    int64_t elapsed_ns;
    int64_t left_ns; /* estimate; -1: unknown */
    double seeds_per_s;
    const char *scenario; /* one that is being run */
};
typedef void campaign_watch(void *self, const struct campaign_progress *progress);

/* How many seeds of it a campaign runs: an explicit scenario is the same run for each. */
uint64_t campaign_seed_count(const struct campaign_options *options,
                             const struct scenario *scenario);

/* As many lanes as there are processors. */
int campaign_lane_count_default(void);

/* Runs to the end, to the time limit, or until *interrupted becomes true (set by a signal handler).
 * Nothing is left running. The report is the caller's to release. */
void campaign_run(const struct scenario *const *scenarios, size_t scenario_count,
                  const struct campaign_options *options, campaign_watch *watch, void *self,
                  const volatile bool *interrupted, struct campaign_report *report);
/* Nothing was run yet. */
void campaign_report_init(struct campaign_report *report, const struct scenario *const *scenarios,
                          size_t scenario_count, int lane_count);
void campaign_report_release(struct campaign_report *report);
/* Sets `met` by what came of it. */
void campaign_judge(struct campaign_scenario *item);
/* The exit code that DESIGN gives to this report: 0, 1, 2, 3, 4 or 130. A divergence counts as
 * infrastructure that cannot be trusted: 70. */
int campaign_exit_code(const struct campaign_report *report);

#endif
