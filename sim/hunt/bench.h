/* What the harness costs, as ratios measured in one run on one machine. What each figure means
 * and how it is obtained is in docs/bench.md. */
#ifndef FENCEPOST_BENCH_H
#define FENCEPOST_BENCH_H

#include "sim/pg/server.h"

#define BENCH_FIGURE_COUNT_MAX 16
#define BENCH_ROW_COUNT_MAX 16
#define BENCH_DETAIL_COUNT_MAX 12

struct bench_options {
    bool quick;
    int64_t seed_count; /* of the figures that count seeds; 0: what each thinks best */
    const char *only;   /* one figure by its name; NULL: all */
    const char *scenario_dir;
    struct pg_server_options server;
};

enum bench_bound_kind { BENCH_NO_BOUND, BENCH_AT_MOST, BENCH_AT_LEAST };

struct bench;
struct bench_figure;
enum bench_end {
    BENCH_MEASURED,
    BENCH_UNMEASURED, /* cannot be had here; the figure's reason says why */
    BENCH_FAILED,     /* the environment failed; the figure's reason says how */
    BENCH_INTERRUPTED
};

/* A line of the table of figures. */
struct bench_kind {
    const char *name;
    const char *about;
    int decimals;
    enum bench_bound_kind bound_kind;
    double bound;
    enum bench_end (*measure)(struct bench *bench, struct bench_figure *figure);
};
/* All of them (bench.def), ended by a NULL name. */
extern const struct bench_kind bench_kinds[];
/* Their names, ended by NULL. */
extern const char *const bench_names[];

struct bench_detail {
    const char *key;
    double value;
    int decimals;
};
struct bench_row {
    char *scenario; /* NULL: about the figure as a whole */
    char *reason;   /* why there is nothing in it; NULL: it was measured */
    struct bench_detail details[BENCH_DETAIL_COUNT_MAX];
    size_t detail_count;
};

struct bench_figure {
    const struct bench_kind *kind;
    enum bench_end end;
    double value; /* BENCH_MEASURED */
    struct strbuf reason;
    struct bench_row total;
    struct bench_row rows[BENCH_ROW_COUNT_MAX]; /* by scenario */
    size_t row_count;
};

struct bench_report {
    struct bench_figure figures[BENCH_FIGURE_COUNT_MAX];
    size_t figure_count;
    double load_before, load_after; /* of one minute; below 0: unknown */
    int cpu_count;                  /* that this process may use */
    int64_t wall_ns;
    bool interrupted;
};

typedef void bench_watch(void *self, const char *text);

/* Measure. Nothing is left running, whatever happens; stops soon after *interrupted becomes true.
 * The report is the caller's to release. `watch` hears of what is being done; NULL: nobody. */
void bench_run(const struct bench_options *options, bench_watch *watch, void *self,
               const volatile bool *interrupted, struct bench_report *report);
void bench_report_release(struct bench_report *report);

/* A figure that was not measured is not out of bounds. */
bool bench_is_within(const struct bench_figure *figure);
/* 0: all measured figures are within their bounds; 1: one is not; 3; 130. */
int bench_exit_code(const struct bench_report *report);

#endif
