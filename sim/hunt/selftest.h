/* The harness tests itself: every weakness must be caught by a shipped scenario, what catches it
 * must be that weakness, and the hardened form of the same scenarios must raise no alarm. How to
 * read the outcome is in docs/selftest.md. */
#ifndef FENCEPOST_SELFTEST_H
#define FENCEPOST_SELFTEST_H

#include <stdatomic.h>

#include "sim/pg/server.h"
#include "sim/scenario/scenario.h"

#define SELFTEST_TRY_COUNT_MAX 100
#define SELFTEST_CANDIDATE_COUNT_MAX 8
/* From the first seed of one try to that of the next, so no seed belongs to two. */
#define SELFTEST_SEED_STRIDE 1000
#define SELFTEST_SENTENCE_SIZE 512

struct selftest_options {
    int try_count;
    int64_t seed_count; /* of one try, at most SELFTEST_SEED_STRIDE */
    int64_t budget_ns;  /* of one try: no further seed is begun after it; real time */
    int lane_count;
    struct pg_server_options server;
};

/* One try: seeds upward from its own first one, until the expected invariant breaks. */
struct selftest_try {
    bool caught;
    int64_t seed_count; /* that were run; with `caught` the last one is the catch */
    int64_t wall_ns;    /* on one lane, without starting the server or installing the schema */
};

/* What came of one weakness. */
struct selftest_row {
    const struct strategy *strategy;
    const struct weakness *weakness;
    /* The scenarios that may catch it, the best first. */
    const struct scenario *candidates[SELFTEST_CANDIDATE_COUNT_MAX];
    size_t candidate_count;
    size_t chosen; /* the first candidate that caught it; none did: the last */
    struct selftest_try tries[SELFTEST_TRY_COUNT_MAX]; /* of the chosen one */
    int try_count;
    /* The seeds of the tries once more with this weakness alone removed, and how many of them break
     * the same invariant nevertheless. */
    int64_t without_seed_count, without_violation_count;
    _Atomic bool done; /* written by a lane, read by its parent */
};

/* What came of a weak scenario run in the hardened form. */
struct selftest_hardened {
    struct scenario *scenario; /* the hardened form; owned */
    int64_t seed_count, violation_count, unknown_count;
    uint64_t seed; /* of the first violation, with the rest of this */
    const struct invariant *invariant;
    char sentence[SELFTEST_SENTENCE_SIZE];
    _Atomic bool done; /* written by a lane, read by its parent */
};

struct selftest_report {
    struct selftest_row *rows;
    size_t row_count;
    struct selftest_hardened *hardened;
    size_t hardened_count;
    int lane_count;
    int64_t wall_ns;
    bool interrupted;
    struct strbuf trouble; /* not empty: the environment failed */
};

/* ---- what is to be done ---- */

/* An empty list means all of them. */
struct selftest_wish {
    const char *const *strategies;
    size_t strategy_count;
    const char *const *weaknesses;
    size_t weakness_count;
};

/* Lay out the report: a row for every wanted weakness, and for every weak scenario of the wanted
 * strategies its hardened form; when weaknesses are named, only for those that may catch them. The
 * scenarios must outlive the report, which is the caller's to release. */
void selftest_plan(const struct selftest_wish *wish, const struct scenario *const *scenarios,
                   size_t scenario_count, struct selftest_report *report);
void selftest_report_release(struct selftest_report *report);

/* The scenario with another set of weaknesses, all else as it is. Caller frees. */
struct scenario *selftest_variant(const struct scenario *scenario, uint64_t weaknesses);

/* ---- doing it ---- */

typedef void selftest_watch(void *self, const char *text);

/* Carries out the plan. Nothing is left running, whatever happens; stops soon after *interrupted
 * becomes true. `watch` hears what came of each weakness; NULL: nobody. */
void selftest_run(struct selftest_report *report, const struct selftest_options *options,
                  selftest_watch *watch, void *self, const volatile bool *interrupted);

/* ---- what came of it ---- */

/* Over the tries that caught it; zero without any. */
struct selftest_stats {
    int caught_count;
    double seeds_median, seeds_worst;
    double s_median, s_worst;
};
struct selftest_stats selftest_stats_of(const struct selftest_row *row);
/* NULL: there is no candidate. */
const struct scenario *selftest_scenario(const struct selftest_row *row);
/* Was it looked for, and not caught? */
bool selftest_is_missed(const struct selftest_row *row);
/* Does its scenario find the violation without it too? */
bool selftest_is_doubtful(const struct selftest_row *row);
/* 0: every weakness was caught, and no hardened form raised an alarm; 1; 3; 4: no weakness; 130. */
int selftest_exit_code(const struct selftest_report *report);

#endif
