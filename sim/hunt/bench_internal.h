/* Shared by the files of the bench only. */
#ifndef FENCEPOST_BENCH_INTERNAL_H
#define FENCEPOST_BENCH_INTERNAL_H

#include <sched.h>

#include "sim/hunt/bench.h"
#include "sim/hunt/single.h"

/* Scenarios by what they stand for; all below this folder of the scenario directory. */
#define BENCH_FOLDER "job_locks"
#define BENCH_USUAL "three-destroys-at-once"
#define BENCH_RELATIVE "concurrent-acquire"
#define BENCH_MIXED "create-then-destroy"
#define BENCH_SMALLEST "unkeyed-lock"
#define BENCH_LARGEST "mixed"
#define BENCH_LONG_LEASE "zombie-worker"

struct bench {
    const struct bench_options *options;
    const volatile bool *interrupted;
    bench_watch *watch;
    void *watch_self;
};

void bench_say(struct bench *bench, const char *format, ...) FP_PRINTF(2, 3);
bool bench_is_interrupted(const struct bench *bench);
/* The number of seeds to use: the user's, or one of these. */
int64_t bench_seed_count(const struct bench *bench, int64_t usual_count, int64_t quick_count);

/* Loads FOLDER/name.yaml; NULL with the figure's reason. */
struct scenario *bench_load(struct bench *bench, struct bench_figure *figure, const char *name);
/* The same with values put in place of the file's, as in --set. */
struct scenario *bench_load_with(struct bench *bench, struct bench_figure *figure, const char *name,
                                 const char *const *overrides, size_t override_count);

/* A campaign of one scenario; time_ns 0: no limit. */
enum bench_end bench_campaign(struct bench *bench, struct bench_figure *figure,
                              const struct scenario *scenario, int lane_count, uint64_t seed_count,
                              int64_t time_ns, double *seeds_per_s, double *wall_s);

/* A lane in this process, it and its server on one processor, as in a campaign. */
struct bench_lane {
    struct single single;
    cpu_set_t allowed; /* as it was before */
    int cpu;
};
/* False with the figure's reason. */
bool bench_lane_open(struct bench *bench, struct bench_figure *figure, struct bench_lane *lane);
void bench_lane_close(struct bench_lane *lane);

/* Run one seed and add its counts. BENCH_FAILED with the figure's reason. */
struct bench_sum {
    int64_t seed_count, steps, statements, virtual_ns, contended;
};
enum bench_end bench_seed(struct bench *bench, struct bench_figure *figure, struct bench_lane *lane,
                          const struct scenario *scenario, uint64_t seed, struct bench_sum *sum);

enum bench_end bench_fail(struct bench_figure *figure, const char *text);
struct bench_row *bench_row(struct bench_figure *figure, const char *scenario);
void bench_detail(struct bench_row *row, const char *key, double value, int decimals);

#define BENCH(name, decimals, bound_kind, bound, about)                                            \
    enum bench_end bench_##name(struct bench *bench, struct bench_figure *figure);
#include "sim/hunt/bench.def"
#undef BENCH

#endif
