/* A scenario file as structs. Everything is owned by the scenario and immutable after loading. */
#ifndef FENCEPOST_SCENARIO_H
#define FENCEPOST_SCENARIO_H

#include "sim/core/arena.h"
#include "sim/core/base.h"
#include "sim/core/strbuf.h"
#include "sim/scenario/diag.h"
#include "sim/strategy.h"

#define SCENARIO_FAULT_COUNT_MAX 32
#define SCENARIO_INVARIANT_COUNT_MAX 64
#define SCENARIO_GATE_COUNT_MAX 16
#define SCENARIO_ROLE_COUNT_MAX 16
#define SCENARIO_OVERRIDE_COUNT_MAX 32

struct fault_kind; /* faults/fault.h */
struct invariant;  /* sim/check/check.h */

struct scenario_fault {
    const struct fault_kind *kind;
    void *config;      /* kind->config_size bytes, filled by its field table */
    char *stream_name; /* "fault.0.crash": names its choice stream */
};

/* Choices that are given rather than drawn: see choices_replay. */
struct scenario_stream {
    char *name;
    uint32_t *values;
    size_t value_count;
};

enum expect_kind { EXPECT_PASS, EXPECT_VIOLATION };

struct scenario {
    struct arena *arena; /* holds all of it, itself included */
    char *file;          /* as given */
    char *source;        /* the file's text, for failure files; without the overrides */
    char *overrides[SCENARIO_OVERRIDE_COUNT_MAX]; /* "path=value", in the order they were applied */
    size_t override_count;
    char *name;
    char *about;
    const struct strategy *strategy;
    char *variant;                            /* "hardened", "as_written" or "weak: a, b" */
    uint64_t weaknesses;                      /* bit per index into strategy->weaknesses */
    int role_counts[SCENARIO_ROLE_COUNT_MAX]; /* by index into strategy->roles */
    int standby_count;
    bool synchronous; /* what is committed is on a standby too */
    int pool_size;    /* of a pooler in transaction mode; 0: there is none */
    struct scenario_fault faults[SCENARIO_FAULT_COUNT_MAX];
    size_t fault_count;
    const struct invariant *invariants[SCENARIO_INVARIANT_COUNT_MAX];
    size_t invariant_count;
    char *gates[SCENARIO_GATE_COUNT_MAX]; /* functions with a gate before them */
    size_t gate_count;
    int64_t pct_depth; /* 0: every decision of the scheduler is drawn; else see sim/core/pct.h */
    bool swarm;        /* each run has a drawn half of the faults */
    bool sweeps; /* seed N strikes at the Nth visit of this fault, in one and the same schedule: */
    size_t sweep_index;
    uint32_t slowness_per_million; /* how often time passes although somebody could run */
    int64_t chaos_ns, settle_ns;
    int64_t step_count_max;
    enum expect_kind expect;
    const struct invariant *expect_invariant; /* EXPECT_VIOLATION: must break */
    const struct invariant *expect_also[SCENARIO_INVARIANT_COUNT_MAX]; /* may break as well */
    size_t expect_also_count;
    struct workload *workload;
    bool is_explicit; /* every choice is given, whatever the seed: those of `streams`, the rest 0 */
    struct scenario_stream *streams;
    size_t stream_count;
};

/* Load and check one file. On any mistake returns NULL and `diags` holds all of them, in the order
 * of their positions. Caller frees with scenario_free. */
struct scenario *scenario_load(const char *path, struct diags *diags);
/* The same from memory; `file` names it in messages. */
struct scenario *scenario_parse(const char *file, const char *text, size_t size,
                                struct diags *diags);
/* The same with values put in place of the file's before anything is checked, as in
 * "topology.workers=5" or "faults.0.crash.times=2". The value is YAML. Missing mappings on the way
 * are made, list entries must exist. A mistake in one is reported for the file as a whole and names
 * it. */
struct scenario *scenario_load_with(const char *path, const char *const *overrides,
                                    size_t override_count, struct diags *diags);
struct scenario *scenario_parse_with(const char *file, const char *text, size_t size,
                                     const char *const *overrides, size_t override_count,
                                     struct diags *diags);
/* Do its faults cut connections by toxiproxy? */
bool scenario_uses_toxiproxy(const struct scenario *scenario);
/* Who cuts connections, whatever the faults say (an enum fault_via). False: it has a pooler, where
 * only the client's own end can, and stays as it is. */
bool scenario_set_via(struct scenario *scenario, int via);
/* NULL is allowed. */
void scenario_free(struct scenario *scenario);
/* May a run of it break this invariant? */
bool scenario_expects(const struct scenario *scenario, const struct invariant *invariant);

/* ---- the workload: lists of entries with the strategy's keys ---- */

/* A list or key that the strategy does not declare, or an index past the end, is a programmer's
 * error. workload_text is for texts, names and enums, workload_number for integers and durations
 * (ns). */
int workload_count(const struct workload *workload, const char *list);
const char *workload_text(const struct workload *workload, const char *list, int index,
                          const char *key);
int64_t workload_number(const struct workload *workload, const char *list, int index,
                        const char *key);

#endif
