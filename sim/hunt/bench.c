#include "sim/hunt/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/hunt/bench_internal.h"
#include "sim/hunt/cpu.h"
#include "sim/hunt/median.h"
#include "sim/scenario/diag.h"

const struct bench_kind bench_kinds[] = {
#define BENCH(name, decimals, bound_kind, bound, about)                                            \
    {#name, about, decimals, bound_kind, bound, bench_##name},
#include "sim/hunt/bench.def"
#undef BENCH
    {.name = NULL},
};

const char *const bench_names[] = {
#define BENCH(name, decimals, bound_kind, bound, about) #name,
#include "sim/hunt/bench.def"
#undef BENCH
    NULL,
};

/* ---- for the measuring files ---- */

void bench_say(struct bench *bench, const char *format, ...)
{
    char text[256];
    va_list args;
    if (!bench->watch)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bench->watch(bench->watch_self, text);
}

bool bench_is_interrupted(const struct bench *bench)
{
    return bench->interrupted && *bench->interrupted;
}

int64_t bench_seed_count(const struct bench *bench, int64_t usual_count, int64_t quick_count)
{
    if (bench->options->seed_count > 0)
        return bench->options->seed_count;
    return bench->options->quick ? quick_count : usual_count;
}

enum bench_end bench_fail(struct bench_figure *figure, const char *text)
{
    strbuf_puts(&figure->reason, text);
    return BENCH_FAILED;
}

struct scenario *bench_load_with(struct bench *bench, struct bench_figure *figure, const char *name,
                                 const char *const *overrides, size_t override_count)
{
    char *file = fp_format("%s/" BENCH_FOLDER "/%s.yaml", bench->options->scenario_dir, name);
    struct diags *diags = fp_alloc(sizeof *diags);
    diags_init(diags, file);
    struct scenario *scenario = scenario_load_with(file, overrides, override_count, diags);
    if (!scenario)
        diags_print(diags, &figure->reason);
    diags_release(diags);
    free(diags);
    free(file);
    return scenario;
}

struct scenario *bench_load(struct bench *bench, struct bench_figure *figure, const char *name)
{
    return bench_load_with(bench, figure, name, NULL, 0);
}

bool bench_lane_open(struct bench *bench, struct bench_figure *figure, struct bench_lane *lane)
{
    struct pg_server_options options = bench->options->server;
    memset(lane, 0, sizeof *lane);
    bool known = sched_getaffinity(0, sizeof lane->allowed, &lane->allowed) == 0;
    lane->cpu = known ? cpu_of_lane(0) : -1;
    options.cpu = lane->cpu;
    if (!single_open(&lane->single, &options, &figure->reason))
        return false;
    cpu_pin(lane->cpu);
    return true;
}

void bench_lane_close(struct bench_lane *lane)
{
    single_close(&lane->single);
    if (lane->cpu >= 0)
        sched_setaffinity(0, sizeof lane->allowed, &lane->allowed);
}

enum bench_end bench_seed(struct bench *bench, struct bench_figure *figure, struct bench_lane *lane,
                          const struct scenario *scenario, uint64_t seed, struct bench_sum *sum)
{
    struct run_result result;
    if (bench_is_interrupted(bench))
        return BENCH_INTERRUPTED;
    run_result_init(&result);
    single_run(&lane->single, scenario, seed, NULL, &result);
    sum->seed_count++;
    sum->steps += result.counts.steps;
    sum->statements += result.counts.statements;
    sum->virtual_ns += result.counts.virtual_ns;
    sum->contended += result.counts.contended;
    enum bench_end end = BENCH_MEASURED;
    if (result.outcome == RUN_INFRASTRUCTURE)
        end = bench_fail(figure, strbuf_str(&result.sentence));
    run_result_release(&result);
    return end;
}

struct bench_row *bench_row(struct bench_figure *figure, const char *scenario)
{
    FP_ASSERT(figure->row_count < BENCH_ROW_COUNT_MAX);
    struct bench_row *row = &figure->rows[figure->row_count++];
    row->scenario = fp_strdup(scenario);
    return row;
}

void bench_detail(struct bench_row *row, const char *key, double value, int decimals)
{
    FP_ASSERT(row->detail_count < BENCH_DETAIL_COUNT_MAX);
    row->details[row->detail_count++] = (struct bench_detail){key, value, decimals};
}

/* ---- all of it ---- */

static double load_now(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

static bool is_wanted(const struct bench_options *options, const struct bench_kind *kind)
{
    return !options->only || strcmp(options->only, kind->name) == 0;
}

static void measure(struct bench *bench, const struct bench_kind *kind, struct bench_report *report)
{
    FP_ASSERT(report->figure_count < BENCH_FIGURE_COUNT_MAX);
    struct bench_figure *figure = &report->figures[report->figure_count++];
    figure->kind = kind;
    figure->end = BENCH_UNMEASURED;
    if (!is_wanted(bench->options, kind)) {
        strbuf_puts(&figure->reason, "not asked for");
        return;
    }
    if (report->interrupted) {
        figure->end = BENCH_INTERRUPTED;
    } else {
        bench_say(bench, "%s: %s", kind->name, kind->about);
        figure->end = kind->measure(bench, figure);
    }
    /* A child that was stopped by the same Ctrl-C fails; that is not the environment's fault. */
    if (bench_is_interrupted(bench) && figure->end != BENCH_MEASURED)
        figure->end = BENCH_INTERRUPTED;
    if (figure->end == BENCH_INTERRUPTED) {
        report->interrupted = true;
        strbuf_clear(&figure->reason);
        strbuf_puts(&figure->reason, "interrupted");
    }
    FP_ASSERT(figure->end == BENCH_MEASURED || figure->reason.size > 0);
}

void bench_run(const struct bench_options *options, bench_watch *watch, void *self,
               const volatile bool *interrupted, struct bench_report *report)
{
    struct bench bench = {
        .options = options, .interrupted = interrupted, .watch = watch, .watch_self = self};
    memset(report, 0, sizeof *report);
    int64_t began_ns = realtime_ns();
    report->cpu_count = cpu_count();
    report->load_before = load_now();
    for (const struct bench_kind *kind = bench_kinds; kind->name; kind++)
        measure(&bench, kind, report);
    report->load_after = load_now();
    report->wall_ns = realtime_ns() - began_ns;
}

void bench_report_release(struct bench_report *report)
{
    for (size_t i = 0; i < report->figure_count; i++) {
        struct bench_figure *figure = &report->figures[i];
        strbuf_release(&figure->reason);
        for (size_t row = 0; row < figure->row_count; row++) {
            free(figure->rows[row].scenario);
            free(figure->rows[row].reason);
        }
    }
    memset(report, 0, sizeof *report);
}

bool bench_is_within(const struct bench_figure *figure)
{
    if (figure->end != BENCH_MEASURED)
        return true;
    switch (figure->kind->bound_kind) {
    case BENCH_NO_BOUND:
        return true;
    case BENCH_AT_MOST:
        return figure->value <= figure->kind->bound;
    case BENCH_AT_LEAST:
        return figure->value >= figure->kind->bound;
    }
    FP_ASSERT(!"no such kind of bound");
    return false;
}

int bench_exit_code(const struct bench_report *report)
{
    bool failed = false, outside = false;
    for (size_t i = 0; i < report->figure_count; i++) {
        failed = failed || report->figures[i].end == BENCH_FAILED;
        outside = outside || !bench_is_within(&report->figures[i]);
    }
    if (report->interrupted)
        return EXIT_INTERRUPTED;
    if (failed)
        return EXIT_INFRASTRUCTURE;
    return outside ? EXIT_VIOLATION : EXIT_PASS;
}
