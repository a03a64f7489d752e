#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/cli/command.h"
#include "sim/cli/gather.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/output.h"
#include "sim/core/json_out.h"
#include "sim/hunt/bench.h"

#define NAME_WIDTH 20

struct bench_config {
    bool json, quick;
    int64_t seeds;
    const char *only, *pg_bin, *pg_image, *scenarios;
};

#define AT(member) offsetof(struct bench_config, member)
static const struct option bench_command_options[] = {
    {.name = "quick",
     .type = OPTION_FLAG,
     .offset = AT(quick),
     .about = "fewer seeds and rounds: about a minute, and less certain"},
    {.name = "only",
     .type = OPTION_WORD,
     .offset = AT(only),
     .words = bench_names,
     .value = "NAME",
     .about = "one figure"},
    {.name = "seeds",
     .type = OPTION_INTEGER,
     .offset = AT(seeds),
     .low = 1,
     .high = 100000,
     .value = "N",
     .about = "seeds per round [each figure its own number]"},
    {.name = "scenarios",
     .type = OPTION_TEXT,
     .offset = AT(scenarios),
     .value = "DIR",
     .about = "where the shipped scenarios are [next to ./fencepost]"},
    {.name = "pg-bin",
     .type = OPTION_TEXT,
     .offset = AT(pg_bin),
     .value = "DIR",
     .about = "the folder of initdb and postgres [found by itself]"},
    {.name = "pg-image",
     .type = OPTION_TEXT,
     .offset = AT(pg_image),
     .value = "IMAGE",
     .about = "the image of the rows in docker; it is not pulled [" PG_IMAGE_DEFAULT "]"},
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = AT(json),
     .about = "one JSON object on standard output, the rest on standard error"},
};
#undef AT

/* ---- JSON ---- */

static void put_details_json(struct json_out *out, const struct bench_row *row)
{
    for (size_t i = 0; i < row->detail_count; i++) {
        json_key(out, row->details[i].key);
        json_double(out, row->details[i].value, row->details[i].decimals);
    }
}

static void put_rows_json(struct json_out *out, const struct bench_figure *figure)
{
    json_key(out, "scenarios");
    json_array_begin(out);
    for (size_t i = 0; i < figure->row_count; i++) {
        json_object_begin(out);
        json_key(out, "scenario");
        json_string(out, figure->rows[i].scenario);
        if (figure->rows[i].reason) {
            json_key(out, "reason");
            json_string(out, figure->rows[i].reason);
        }
        put_details_json(out, &figure->rows[i]);
        json_object_end(out);
    }
    json_array_end(out);
}

static void put_figure_json(struct json_out *out, const struct bench_figure *figure)
{
    const struct bench_kind *kind = figure->kind;
    bool measured = figure->end == BENCH_MEASURED;
    json_key(out, kind->name);
    json_object_begin(out);
    json_key(out, "value");
    json_double(out, measured ? figure->value : NAN, kind->decimals);
    json_key(out, "bound");
    json_double(out, kind->bound_kind == BENCH_NO_BOUND ? NAN : kind->bound, 2);
    json_key(out, "within");
    if (measured && kind->bound_kind != BENCH_NO_BOUND)
        json_bool(out, bench_is_within(figure));
    else
        json_null(out);
    json_key(out, "reason");
    json_string(out, measured ? NULL : strbuf_str(&figure->reason));
    put_details_json(out, &figure->total);
    put_rows_json(out, figure);
    json_object_end(out);
}

static void put_json(const struct bench_config *config, const struct bench_report *report,
                     struct strbuf *text)
{
    struct json_out out;
    json_out_init(&out, text);
    json_object_begin(&out);
    for (size_t i = 0; i < report->figure_count; i++)
        put_figure_json(&out, &report->figures[i]);
    json_key(&out, "quick");
    json_bool(&out, config->quick);
    json_key(&out, "cpus");
    json_int(&out, report->cpu_count);
    json_key(&out, "load_before");
    json_double(&out, report->load_before >= 0 ? report->load_before : NAN, 2);
    json_key(&out, "load_after");
    json_double(&out, report->load_after >= 0 ? report->load_after : NAN, 2);
    json_key(&out, "wall_s");
    json_double(&out, (double)report->wall_ns / (double)NS_PER_S, 1);
    json_object_end(&out);
    json_out_finish(&out);
    strbuf_putc(text, '\n');
}

/* ---- the table ---- */

static void put_details(struct strbuf *text, const struct bench_row *row)
{
    const char *comma = "";
    if (row->reason)
        strbuf_printf(text, "not measured: %s", row->reason);
    for (size_t i = 0; i < row->detail_count; i++, comma = ", ")
        strbuf_printf(text, "%s%s %.*f", comma, row->details[i].key, row->details[i].decimals,
                      row->details[i].value);
    strbuf_putc(text, '\n');
}

static void put_value(struct strbuf *text, const struct bench_figure *figure)
{
    const struct bench_kind *kind = figure->kind;
    if (figure->end != BENCH_MEASURED) {
        strbuf_printf(text, "not measured: %s\n", strbuf_str(&figure->reason));
        return;
    }
    strbuf_printf(text, "%.*f", kind->decimals, figure->value);
    if (kind->bound_kind != BENCH_NO_BOUND)
        strbuf_printf(text, "  (%s %g: %s)",
                      kind->bound_kind == BENCH_AT_MOST ? "at most" : "at least", kind->bound,
                      bench_is_within(figure) ? "ok" : "OUT OF BOUNDS");
    strbuf_printf(text, "  %s\n", kind->about);
}

static void put_table(const struct bench_report *report, struct strbuf *text)
{
    for (size_t i = 0; i < report->figure_count; i++) {
        const struct bench_figure *figure = &report->figures[i];
        strbuf_printf(text, "%-*s", NAME_WIDTH, figure->kind->name);
        put_value(text, figure);
        if (figure->total.detail_count > 0) {
            strbuf_printf(text, "%*s", NAME_WIDTH, "");
            put_details(text, &figure->total);
        }
        for (size_t row = 0; row < figure->row_count; row++) {
            strbuf_printf(text, "%*s%s: ", NAME_WIDTH, "", figure->rows[row].scenario);
            put_details(text, &figure->rows[row]);
        }
    }
    strbuf_printf(text, "%d processors, load %.2f before and %.2f after, %.0f s\n",
                  report->cpu_count, report->load_before, report->load_after,
                  (double)report->wall_ns / (double)NS_PER_S);
}

/* ---- the command ---- */

static void say(void *self, const char *text)
{
    (void)self;
    fprintf(stderr, "bench: %s\n", text);
}

/* What the environment failed at is said even to those who only read the exit code. */
static void say_failures(const struct bench_report *report)
{
    for (size_t i = 0; i < report->figure_count; i++)
        if (report->figures[i].end == BENCH_FAILED)
            fprintf(stderr, "fencepost: %s: %s\n", report->figures[i].kind->name,
                    strbuf_str(&report->figures[i].reason));
}

static int bench_command_run(const struct args *args, const void *config)
{
    (void)args;
    const struct bench_config *bench = config;
    struct bench_report report;
    struct strbuf text = STRBUF_INIT;
    char *dir = gather_shipped_folder(bench->scenarios);
    struct bench_options options = {
        .quick = bench->quick,
        .seed_count = bench->seeds,
        .only = bench->only,
        .scenario_dir = dir,
        .server = {.bin_dir = bench->pg_bin, .image = bench->pg_image, .cpu = -1},
    };
    bench_run(&options, say, NULL, interrupt_flag(), &report);
    say_failures(&report);
    if (bench->json)
        put_json(bench, &report, &text);
    else
        put_table(&report, &text);
    output_text(&text);
    int code = bench_exit_code(&report);
    strbuf_release(&text);
    bench_report_release(&report);
    free(dir);
    return code;
}

const struct command command_bench = {
    .name = "bench",
    .about = "measure what the harness costs, as ratios with bounds",
    .notes = "What each figure means and how it is obtained is in docs/bench.md. The exit code is\n"
             "1 when a measured ratio is out of its bound. Use it on a machine that has nothing\n"
             "else to do.\n",
    .options = bench_command_options,
    .option_count = FP_COUNT(bench_command_options),
    .config_size = sizeof(struct bench_config),
    .run = bench_command_run,
};
