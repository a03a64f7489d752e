/* Figures of one lane by itself: memory, virtual time, speed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/core/realtime.h"
#include "sim/hunt/bench_internal.h"

#define RSS_EARLY_SEED 1000
#define RSS_LATE_SEED 20000
#define RSS_EARLY_SEED_QUICK 200
#define RSS_LATE_SEED_QUICK 2000

/* Resident memory of this process in KiB; 0: unknown. */
static int64_t resident_kib(void)
{
    long long total_count = 0, resident_count = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lld %lld", &total_count, &resident_count) != 2)
        resident_count = 0;
    fclose(file);
    return resident_count * sysconf(_SC_PAGESIZE) / 1024;
}

/* Seeds `first` to `last`. */
static enum bench_end run_seeds(struct bench *bench, struct bench_figure *figure,
                                struct bench_lane *lane, const struct scenario *scenario,
                                int64_t first, int64_t last, struct bench_sum *sum)
{
    enum bench_end end = BENCH_MEASURED;
    for (int64_t seed = first; seed <= last && end == BENCH_MEASURED; seed++)
        end = bench_seed(bench, figure, lane, scenario, (uint64_t)seed, sum);
    return end;
}

typedef enum bench_end lane_measure(struct bench *bench, struct bench_figure *figure,
                                    struct bench_lane *lane, const struct scenario *scenario);

static enum bench_end with_lane(struct bench *bench, struct bench_figure *figure, const char *name,
                                lane_measure *measure)
{
    struct bench_lane lane;
    enum bench_end end = BENCH_FAILED;
    struct scenario *scenario = bench_load(bench, figure, name);
    if (!scenario)
        return BENCH_FAILED;
    if (bench_lane_open(bench, figure, &lane)) {
        end = measure(bench, figure, &lane, scenario);
        bench_lane_close(&lane);
    }
    scenario_free(scenario);
    return end;
}

/* ---- memory ---- */

static enum bench_end measure_rss(struct bench *bench, struct bench_figure *figure,
                                  struct bench_lane *lane, const struct scenario *scenario)
{
    bool quick = bench->options->quick;
    int64_t early = quick ? RSS_EARLY_SEED_QUICK : RSS_EARLY_SEED;
    int64_t late = quick ? RSS_LATE_SEED_QUICK : RSS_LATE_SEED;
    struct bench_sum sum = {0};
    enum bench_end end = run_seeds(bench, figure, lane, scenario, 1, early, &sum);
    int64_t early_kib = resident_kib();
    if (end == BENCH_MEASURED)
        end = run_seeds(bench, figure, lane, scenario, early + 1, late, &sum);
    int64_t late_kib = resident_kib();
    if (end != BENCH_MEASURED)
        return end;
    if (early_kib == 0 || late_kib == 0) {
        strbuf_puts(&figure->reason, "the kernel does not tell the memory of a process");
        return BENCH_UNMEASURED;
    }
    figure->value = (double)(late_kib - early_kib) / (double)early_kib;
    bench_detail(&figure->total, "early_seed", (double)early, 0);
    bench_detail(&figure->total, "late_seed", (double)late, 0);
    bench_detail(&figure->total, "early_kib", (double)early_kib, 0);
    bench_detail(&figure->total, "late_kib", (double)late_kib, 0);
    return BENCH_MEASURED;
}

enum bench_end bench_rss_growth(struct bench *bench, struct bench_figure *figure)
{
    return with_lane(bench, figure, BENCH_SMALLEST, measure_rss);
}

/* ---- virtual time ---- */

static enum bench_end measure_virtual(struct bench *bench, struct bench_figure *figure,
                                      struct bench_lane *lane, const struct scenario *scenario)
{
    struct bench_sum warm_up = {0}, sum = {0};
    int64_t seed_count = bench_seed_count(bench, 100, 10);
    enum bench_end end = run_seeds(bench, figure, lane, scenario, 1, 1, &warm_up);
    int64_t began_ns = realtime_ns();
    if (end == BENCH_MEASURED)
        end = run_seeds(bench, figure, lane, scenario, 1, seed_count, &sum);
    if (end != BENCH_MEASURED)
        return end;
    int64_t real_ns = realtime_ns() - began_ns;
    figure->value = (double)sum.virtual_ns / (double)real_ns;
    bench_detail(&figure->total, "seeds", (double)seed_count, 0);
    bench_detail(&figure->total, "virtual_s", (double)sum.virtual_ns / (double)NS_PER_S, 0);
    bench_detail(&figure->total, "real_s", (double)real_ns / (double)NS_PER_S, 3);
    return BENCH_MEASURED;
}

enum bench_end bench_virtual_to_real(struct bench *bench, struct bench_figure *figure)
{
    return with_lane(bench, figure, BENCH_LONG_LEASE, measure_virtual);
}

/* ---- speed ---- */

static enum bench_end measure_speed(struct bench *bench, struct bench_figure *figure,
                                    struct bench_lane *lane, const struct scenario *scenario)
{
    struct bench_sum warm_up = {0}, sum = {0};
    bool large = strcmp(scenario->name, BENCH_LARGEST) == 0;
    int64_t seed_count = large ? bench_seed_count(bench, 40, 2) : bench_seed_count(bench, 200, 20);
    enum bench_end end = run_seeds(bench, figure, lane, scenario, 1, 1, &warm_up);
    int64_t began_ns = realtime_ns();
    if (end == BENCH_MEASURED)
        end = run_seeds(bench, figure, lane, scenario, 1, seed_count, &sum);
    if (end != BENCH_MEASURED)
        return end;
    double real_s = (double)(realtime_ns() - began_ns) / (double)NS_PER_S;
    struct bench_row *row = bench_row(figure, scenario->name);
    bench_detail(row, "seeds", (double)seed_count, 0);
    bench_detail(row, "seeds_per_s", (double)seed_count / real_s, 1);
    bench_detail(row, "steps_per_s", (double)sum.steps / real_s, 0);
    bench_detail(row, "steps_per_seed", (double)sum.steps / (double)seed_count, 0);
    bench_detail(row, "statements_per_s", (double)sum.statements / real_s, 0);
    return BENCH_MEASURED;
}

enum bench_end bench_seeds_per_s(struct bench *bench, struct bench_figure *figure)
{
    enum bench_end end = with_lane(bench, figure, BENCH_SMALLEST, measure_speed);
    if (end == BENCH_MEASURED) {
        figure->value = figure->rows[0].details[1].value;
        end = with_lane(bench, figure, BENCH_LARGEST, measure_speed);
    }
    return end;
}
