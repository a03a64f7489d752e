#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json.h"
#include "reports/progress.h"
#include "reports/terminal.h"
#include "sim/cli/command.h"
#include "sim/cli/gather.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/output.h"
#include "sim/cli/pg_options.h"
#include "sim/cli/search.h"
#include "sim/cli/shrinking.h"
#include "sim/core/realtime.h"
#include "sim/hunt/exhaustive.h"
#include "sim/hunt/failure.h"
#include "sim/hunt/single.h"
#include "sim/hunt/sweep.h"

#define SEED_COUNT_MAX 10000000
#define FOLDER_TIME_NS (50 * NS_PER_S)
#define RECHECK_PER_MILLION 20000
/* Findings that are made small after a campaign, and the time for each. */
#define SHRINK_COUNT_MAX 3
#define SHRINK_TIME_NS (30 * NS_PER_S)

struct run_config {
    int64_t seeds, seed, first_seed, time_ns, jobs;
    bool json, check_determinism, sweep, trace, no_shrink, no_prune, quiet, verbose, no_colour;
    const char *out, *search, *via;
    struct pg_choice pg;
    struct args_list set;
};

static const char *const via_words[] = {"socket", "toxiproxy", NULL}; /* as enum fault_via */

#define AT(member) offsetof(struct run_config, member)
static const struct option run_options[] = {
    {.name = "seeds",
     .type = OPTION_INTEGER,
     .offset = AT(seeds),
     .low = 1,
     .high = SEED_COUNT_MAX,
     .value = "N",
     .fallback = "100",
     .about = "how many seeds of each scenario"},
    {.name = "seed",
     .type = OPTION_INTEGER,
     .offset = AT(seed),
     .low = 0,
     .high = INT64_MAX,
     .value = "S",
     .about = "just that one"},
    {.name = "first-seed",
     .type = OPTION_INTEGER,
     .offset = AT(first_seed),
     .low = 0,
     .high = INT64_MAX,
     .value = "N",
     .fallback = "1",
     .about = "the first of the seeds"},
    {.name = "time",
     .type = OPTION_DURATION,
     .offset = AT(time_ns),
     .low = NS_PER_S,
     .high = 30 * NS_PER_DAY,
     .value = "D",
     .about = "begin no seed after it [50s for several scenarios without --seeds, else no limit]"},
    {.name = "jobs",
     .type = OPTION_INTEGER,
     .offset = AT(jobs),
     .low = 1,
     .high = CAMPAIGN_LANE_COUNT_MAX,
     .value = "J",
     .about = "servers side by side [as many as there are processors]"},
    {.name = "set",
     .type = OPTION_LIST,
     .offset = AT(set),
     .value = "PATH=VALUE",
     .about = "put a value in place of the scenario's: topology.workers=5"},
    {.name = "check-determinism",
     .type = OPTION_FLAG,
     .offset = AT(check_determinism),
     .about = "run every seed twice and compare, not only 2 %"},
    {.name = "search",
     .type = OPTION_TEXT,
     .offset = AT(search),
     .value = "HOW",
     .fallback = "random",
     .about = SEARCH_ABOUT},
    {.name = "sweep",
     .type = OPTION_FLAG,
     .offset = AT(sweep),
     .about = "of a scenario with a fault that has `nth: sweep`: strike at each of its points, one "
              "run each"},
    {.name = "out",
     .type = OPTION_TEXT,
     .offset = AT(out),
     .value = "DIR",
     .fallback = "out",
     .about = "failures go to DIR/failures, traces to DIR/trace"},
    {.name = "trace",
     .type = OPTION_FLAG,
     .offset = AT(trace),
     .about = "with --seed: write the events and the metrics, pass or not"},
    {.name = "no-shrink",
     .type = OPTION_FLAG,
     .offset = AT(no_shrink),
     .about = "leave violations that were not expected as they are, do not make them small"},
    {.name = "no-prune",
     .type = OPTION_FLAG,
     .offset = AT(no_prune),
     .about = "with exhaustive:P: also the schedules that come to a state which is known"},
    {.name = "via",
     .type = OPTION_WORD,
     .offset = AT(via),
     .words = via_words,
     .value = "WHO",
     .about = "who cuts connections, whatever the scenario says (not with a pooler)"},
    PG_OPTIONS(AT(pg)),
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = AT(json),
     .about = "one JSON object on standard output, the rest on standard error"},
    {.name = "quiet",
     .type = OPTION_FLAG,
     .offset = AT(quiet),
     .about = "no progress, no summary; only what was not expected"},
    {.name = "verbose",
     .type = OPTION_FLAG,
     .offset = AT(verbose),
     .about = "also how often each kind of event was reached, and what was measured"},
    {.name = "no-color",
     .type = OPTION_FLAG,
     .offset = AT(no_colour),
     .about = "plain text on a terminal too, as NO_COLOR does"},
};
#undef AT

extern const struct command command_run;

static bool is_given(const struct args *args, const char *name)
{
    return args_given(args, run_options, FP_COUNT(run_options), name);
}

/* ---- options that belong together ---- */

static int check_options(const struct args *args, const struct run_config *config)
{
    bool one_seed = is_given(args, "seed");
    if (one_seed && is_given(args, "seeds"))
        return command_usage(&command_run, "--seed and --seeds: either one seed or many");
    if (one_seed && is_given(args, "first-seed"))
        return command_usage(&command_run, "--seed and --first-seed: either one seed or many");
    if (config->sweep && (one_seed || is_given(args, "seeds") || is_given(args, "first-seed")))
        return command_usage(&command_run, "--sweep and --seeds: a sweep says itself how many");
    if (config->trace && !one_seed)
        return command_usage(&command_run, "--trace needs --seed: the trace is that of one run");
    if (!one_seed && config->first_seed > INT64_MAX - config->seeds)
        return command_usage(&command_run, "--first-seed: seeds end at %" PRId64, INT64_MAX);
    return EXIT_PASS;
}

/* A server that gets no seed would only cost its start. */
static int lane_count(const struct args *args, const struct run_config *config,
                      size_t scenario_count, uint64_t seed_count)
{
    int64_t wanted = is_given(args, "jobs") ? config->jobs : campaign_lane_count_default();
    uint64_t run_count = scenario_count * seed_count;
    return run_count < (uint64_t)wanted ? (int)run_count : (int)wanted;
}

static struct campaign_options
campaign_options_of(const struct args *args, const struct run_config *config, size_t scenario_count)
{
    bool one_seed = is_given(args, "seed");
    struct campaign_options options = {
        .first_seed = (uint64_t)(one_seed ? config->seed : config->first_seed),
        .seed_count = one_seed ? 1 : (uint64_t)config->seeds,
        .time_ns = config->time_ns,
        .check_determinism = config->check_determinism,
        .recheck_per_million = RECHECK_PER_MILLION,
        .out_dir = config->out,
    };
    if (!one_seed && !is_given(args, "time") && !is_given(args, "seeds") && scenario_count > 1) {
        options.time_ns = FOLDER_TIME_NS;
        options.overview = true;
    }
    options.lane_count = lane_count(args, config, scenario_count, options.seed_count);
    return options;
}

/* ---- sweeps ---- */

static int plan_sweep(const struct args *args, const struct run_config *config,
                      const struct gathered *gathered, struct campaign_options *options,
                      int64_t *point_count)
{
    if (gathered->count != 1 || !gathered->scenarios[0]->sweeps)
        return command_usage(&command_run,
                             "--sweep is for one scenario, with a fault that has `nth: sweep`");
    struct strbuf why = STRBUF_INIT;
    int code = EXIT_PASS;
    if (!sweep_count_points(gathered->scenarios[0], &options->server, point_count, &why))
        code = EXIT_INFRASTRUCTURE;
    else if (*point_count == 0)
        code = EXIT_NOTHING_RAN;
    if (code != EXIT_PASS)
        fprintf(stderr, "fencepost: %s\n",
                why.size > 0 ? strbuf_str(&why)
                             : "the fault comes by no point where it can strike");
    strbuf_release(&why);
    /* One more, in which it does not strike. */
    options->first_seed = 1;
    options->seed_count = (uint64_t)*point_count + 1;
    options->lane_count = lane_count(args, config, 1, options->seed_count);
    return code;
}

/* ---- traces ---- */

static bool write_beside(const struct run_config *config, const struct scenario *scenario,
                         const char *what, const char *suffix, const struct strbuf *lines,
                         struct strbuf *why)
{
    char *file =
        fp_format("%s/trace/%s-%" PRId64 ".%s", config->out, scenario->name, config->seed, suffix);
    struct strbuf nothing = STRBUF_INIT;
    bool good = failure_write_lines(file, &nothing, lines, why);
    if (good && !config->quiet)
        fprintf(stderr, "%s: %s\n", what, file);
    free(file);
    return good;
}

static bool write_trace(const struct run_config *config, const struct scenario *scenario,
                        const struct single *single, struct strbuf *why)
{
    struct strbuf metrics = STRBUF_INIT;
    run_lane_metrics(single->runs, &metrics);
    bool good = write_beside(config, scenario, "trace", "jsonl",
                             trace_lines(run_lane_trace(single->runs)), why) &&
                write_beside(config, scenario, "metrics", "prom", &metrics, why);
    strbuf_release(&metrics);
    return good;
}

static bool trace_scenario(const struct run_config *config, const struct scenario *scenario,
                           struct single *single, struct strbuf *why)
{
    struct run_result result;
    run_result_init(&result);
    single_run(single, scenario, (uint64_t)config->seed, NULL, &result);
    bool good = result.outcome != RUN_INFRASTRUCTURE;
    if (good)
        good = write_trace(config, scenario, single, why);
    else
        strbuf_puts(why, strbuf_str(&result.sentence));
    run_result_release(&result);
    return good;
}

/* A run is a function of scenario and seed, so the events of the campaign's run are had by running
 * it once more, here. */
static int write_traces(const struct run_config *config, const struct gathered *gathered,
                        const struct pg_server_options *server)
{
    struct strbuf why = STRBUF_INIT;
    struct single single;
    bool good = single_open(&single, server, &why);
    for (size_t i = 0; good && i < gathered->count && !*interrupt_flag(); i++)
        good = trace_scenario(config, gathered->scenarios[i], &single, &why);
    single_close(&single);
    if (!good)
        fprintf(stderr, "fencepost: %s\n", strbuf_str(&why));
    strbuf_release(&why);
    return good ? EXIT_PASS : EXIT_INFRASTRUCTURE;
}

/* ---- making findings small ---- */

static bool is_worth_shrinking(const struct campaign_scenario *item)
{
    const struct campaign_failure *failure = &item->first_failure;
    return failure->found && failure->kind == FAILURE_UNEXPECTED && failure->file != NULL &&
           !item->scenario->is_explicit && !item->scenario->sweeps;
}

/* What goes wrong here is said, and takes nothing from the finding. */
static void shrink_finding(const struct run_config *config, struct single *single,
                           struct campaign_failure *finding)
{
    struct strbuf why = STRBUF_INIT;
    struct shrink_report report = {0};
    struct failure *failure = failure_read(finding->file, &why);
    if (failure != NULL &&
        shrinking_run(single, failure, SHRINK_TIME_NS, config->quiet, &report, &why) == EXIT_PASS) {
        finding->small_file = fp_strdup(report.scenario_file);
        finding->small_step = report.shrunk.result.step;
    } else if (!*interrupt_flag()) {
        fprintf(stderr, "fencepost: not made smaller: %s\n", strbuf_str(&why));
    }
    shrinking_release(&report);
    failure_free(failure);
    strbuf_release(&why);
}

static void shrink_findings(const struct run_config *config, const struct pg_server_options *server,
                            struct campaign_report *report)
{
    struct single single;
    struct strbuf why = STRBUF_INIT;
    int count = 0;
    for (size_t i = 0; i < report->scenario_count && count < SHRINK_COUNT_MAX; i++) {
        if (!is_worth_shrinking(&report->scenarios[i]) || *interrupt_flag())
            continue;
        if (count++ == 0 && !single_open(&single, server, &why)) {
            fprintf(stderr, "fencepost: not made smaller: %s\n", strbuf_str(&why));
            break;
        }
        shrink_finding(config, &single, &report->scenarios[i].first_failure);
    }
    if (count > 0)
        single_close(&single);
    strbuf_release(&why);
}

/* ---- telling ---- */

/* The last word on standard error, also when the summary went elsewhere. */
static void tell_trouble(const struct campaign_report *report)
{
    if (report->interrupted)
        fputs("fencepost: interrupted\n", stderr);
    else if (report->lane_failed)
        fprintf(stderr, "fencepost: %s\n", strbuf_str(&report->trouble));
}

static void tell(const struct run_config *config, const struct campaign_report *report)
{
    FILE *file = config->json ? stderr : stdout;
    bool colour = output_has_colour(file, config->no_colour);
    struct strbuf text = STRBUF_INIT;
    if (config->quiet)
        report_terminal_findings(report, colour, &text);
    else
        report_terminal(report, colour, &text);
    if (config->verbose) {
        report_terminal_reached(report, &text);
        report_terminal_measured(report, &text);
    }
    if (config->json) {
        fputs(strbuf_str(&text), stderr);
        strbuf_clear(&text);
        report_json(report, &text);
    }
    output_text(&text);
    strbuf_release(&text);
}

/* ---- the command ---- */

static void run_campaign(const struct run_config *config, const struct gathered *gathered,
                         const struct campaign_options *options, struct campaign_report *report)
{
    struct progress progress;
    progress_init(&progress, stderr, output_is_terminal(stderr));
    campaign_run((const struct scenario *const *)gathered->scenarios, gathered->count, options,
                 config->quiet ? NULL : progress_watch, &progress, interrupt_flag(), report);
    progress_end(&progress);
}

/* In place of a campaign: one lane, each scenario to its end. */
static void run_exhaustive(const struct run_config *config, const struct gathered *gathered,
                           const struct campaign_options *options, struct campaign_report *report)
{
    struct progress progress;
    struct single single;
    struct exhaustive_options wanted = {.bound = search_bound(config->search),
                                        .prune = !config->no_prune,
                                        .time_ns = options->time_ns,
                                        .out_dir = options->out_dir,
                                        .interrupted = interrupt_flag(),
                                        .watch = config->quiet ? NULL : progress_watch,
                                        .watch_self = &progress};
    int64_t begin_ns = realtime_ns();
    campaign_report_init(report, (const struct scenario *const *)gathered->scenarios,
                         gathered->count, 1);
    progress_init(&progress, stderr, output_is_terminal(stderr));
    bool good = single_open(&single, &options->server, &report->trouble);
    report->start_ns = realtime_ns() - begin_ns;
    if (good)
        pg_server_describe(single.server, &report->environment);
    begin_ns = realtime_ns();
    for (size_t i = 0; good && i < gathered->count && !*interrupt_flag(); i++) {
        good = exhaustive_run(&single, &wanted, &report->scenarios[i], &report->trouble);
        report->out_of_time |= !report->scenarios[i].exhaustive.complete;
    }
    report->wall_ns = realtime_ns() - begin_ns;
    report->lane_failed = !good;
    report->interrupted = *interrupt_flag();
    single_close(&single);
    progress_end(&progress);
}

static int run_gathered(const struct args *args, const struct run_config *config,
                        const struct pg_server_options *server, const struct gathered *gathered)
{
    struct campaign_report report;
    struct campaign_options options = campaign_options_of(args, config, gathered->count);
    int64_t point_count = 0;
    options.server = *server;
    int code = config->sweep ? plan_sweep(args, config, gathered, &options, &point_count) : 0;
    if (code != EXIT_PASS)
        return code;
    if (search_bound(config->search) >= 0)
        run_exhaustive(config, gathered, &options, &report);
    else
        run_campaign(config, gathered, &options, &report);
    report.sweep_point_count = point_count;
    code = campaign_exit_code(&report);
    if (config->trace && !report.interrupted && !report.lane_failed) {
        int trace_code = write_traces(config, gathered, &options.server);
        code = trace_code == EXIT_PASS ? code : trace_code;
    }
    if (!config->no_shrink && !report.interrupted && !report.lane_failed)
        shrink_findings(config, &options.server, &report);
    tell(config, &report);
    tell_trouble(&report);
    campaign_report_release(&report);
    return code;
}

static void cut_via(struct gathered *gathered, const char *word)
{
    int via = 0;
    while (strcmp(via_words[via], word) != 0)
        via++;
    for (size_t i = 0; i < gathered->count; i++) {
        if (!scenario_set_via(gathered->scenarios[i], via))
            fprintf(stderr, "note: --via %s does not apply to %s: with a pooler the client cuts\n",
                    word, gathered->files[i]);
    }
}

static int run_run(const struct args *args, const void *config)
{
    static struct gathered gathered;
    const struct run_config *run = config;
    struct pg_server_options server;
    int code = check_options(args, run);
    if (code == EXIT_PASS)
        code = pg_options_take(&command_run, &run->pg, &server);
    if (code != EXIT_PASS)
        return code;
    struct args_list overrides = run->set;
    code = search_take(&command_run, run->search, &overrides);
    if (code != EXIT_PASS)
        return code;
    code = gather(&gathered, args->operands, args->operand_count, &overrides);
    if (code == EXIT_PASS && run->via)
        cut_via(&gathered, run->via);
    if (code == EXIT_PASS)
        code = pg_options_fit(&command_run, &server, &gathered);
    if (code == EXIT_PASS)
        code = run_gathered(args, run, &server, &gathered);
    gather_release(&gathered);
    return code;
}

const struct command command_run = {
    .name = "run",
    .about = "run many seeds of scenarios and say whether each did what it should",
    .notes =
        "Each seed is one run: the same scenario and seed give the same run, always. The lowest "
        "seed\nthat fails is kept as a file for `./fencepost replay`; one that was not expected is "
        "also "
        "made small.\n",
    .operands = {"SCENARIO|FOLDER", 1, SIZE_MAX,
                 "files, or folders that are searched for *.yaml (not in bad/, corpus/)"},
    .options = run_options,
    .option_count = FP_COUNT(run_options),
    .config_size = sizeof(struct run_config),
    .run = run_run,
};
