#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/selftest.h"
#include "sim/cli/command.h"
#include "sim/cli/gather.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/output.h"
#include "sim/hunt/failure.h"

#define QUICK_TRY_COUNT 3
#define NAME_COUNT_MAX 1024

struct selftest_config {
    bool json, quick;
    int64_t tries, seeds, budget_ns, jobs;
    const char *scenarios, *pg_bin, *markdown;
    struct args_list only;
};

#define AT(member) offsetof(struct selftest_config, member)
static const struct option selftest_options[] = {
    {.name = "tries",
     .type = OPTION_INTEGER,
     .offset = AT(tries),
     .low = 1,
     .high = SELFTEST_TRY_COUNT_MAX,
     .value = "N",
     .fallback = "20",
     .about = "how often each weakness is hunted"},
    {.name = "quick", .type = OPTION_FLAG, .offset = AT(quick), .about = "3 tries unless told"},
    {.name = "seeds",
     .type = OPTION_INTEGER,
     .offset = AT(seeds),
     .low = 1,
     .high = SELFTEST_SEED_STRIDE,
     .value = "N",
     .fallback = "200",
     .about = "a try ends after so many seeds"},
    {.name = "budget",
     .type = OPTION_DURATION,
     .offset = AT(budget_ns),
     .low = NS_PER_MS,
     .high = NS_PER_DAY,
     .value = "D",
     .fallback = "60s",
     .about = "and after so much time"},
    {.name = "only",
     .type = OPTION_LIST,
     .offset = AT(only),
     .value = "WEAKNESS",
     .about = "this weakness and its scenarios"},
    {.name = "jobs",
     .type = OPTION_INTEGER,
     .offset = AT(jobs),
     .low = 1,
     .high = CAMPAIGN_LANE_COUNT_MAX,
     .value = "J",
     .about = "servers side by side [as many as there are processors]"},
    {.name = "scenarios",
     .type = OPTION_TEXT,
     .offset = AT(scenarios),
     .value = "DIR",
     .about = "where the scenarios are [those shipped, next to ./fencepost]"},
    {.name = "markdown",
     .type = OPTION_TEXT,
     .offset = AT(markdown),
     .value = "FILE",
     .about = "with one STRATEGY: put its table into this page"},
    {.name = "pg-bin",
     .type = OPTION_TEXT,
     .offset = AT(pg_bin),
     .value = "DIR",
     .about = "the folder of initdb and postgres [found by itself]"},
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = AT(json),
     .about = "one JSON object on standard output, the rest on standard error"},
};
#undef AT

extern const struct command command_selftest;

/* ---- names ---- */

static int refuse_name(const char *what, const char *name, const char *const *names, size_t count)
{
    const char *nearest = suggest(name, names, count);
    return command_usage(&command_selftest, "there is no %s `%s`%s%s%s", what, name,
                         nearest ? ", did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
}

static int check_names(const char *what, const char *const *given, size_t given_count,
                       const char *const *names, size_t count)
{
    for (size_t i = 0; i < given_count; i++) {
        size_t at = 0;
        while (at < count && strcmp(given[i], names[at]) != 0)
            at++;
        if (at == count)
            return refuse_name(what, given[i], names, count);
    }
    return EXIT_PASS;
}

static int check_options(const struct args *args, const struct selftest_config *config)
{
    static const char *strategy_names[NAME_COUNT_MAX], *weakness_names[NAME_COUNT_MAX];
    size_t strategy_count = 0, weakness_count = 0;
    for (size_t i = 0; strategies[i]; i++) {
        strategy_names[strategy_count++] = strategies[i]->name;
        for (size_t w = 0; w < strategies[i]->weakness_count; w++) {
            FP_ASSERT(weakness_count < NAME_COUNT_MAX);
            weakness_names[weakness_count++] = strategies[i]->weaknesses[w].name;
        }
    }
    int code = check_names("strategy", args->operands, args->operand_count, strategy_names,
                           strategy_count);
    if (code == EXIT_PASS)
        code = check_names("weakness", config->only.values, config->only.count, weakness_names,
                           weakness_count);
    if (code == EXIT_PASS && config->markdown &&
        (args->operand_count != 1 || config->only.count > 0))
        code = command_usage(&command_selftest,
                             "--markdown needs one STRATEGY and all of its weaknesses");
    return code;
}

/* ---- the page ---- */

/* NULL with `why`. */
static char *read_page(const char *file, struct strbuf *why)
{
    struct strbuf text = STRBUF_INIT;
    char chunk[4096];
    FILE *input = fopen(file, "r");
    size_t got = 0;
    while (input && (got = fread(chunk, 1, sizeof chunk, input)) > 0)
        strbuf_add(&text, chunk, got);
    bool good = input && !ferror(input);
    if (!good)
        strbuf_puts(why, "cannot be read");
    if (input)
        fclose(input);
    if (good)
        return strbuf_detach(&text);
    strbuf_release(&text);
    return NULL;
}

static int write_page(const struct selftest_report *report, const char *strategy_name,
                      const char *file)
{
    struct strbuf text = STRBUF_INIT, nothing = STRBUF_INIT, why = STRBUF_INIT;
    char *page = read_page(file, &why);
    const struct strategy *strategy = strategy_find(strategy_name);
    bool good = page && report_selftest_page(report, strategy, page, &text, &why);
    if (!good)
        fprintf(stderr, "fencepost: %s: %s\n", file, strbuf_str(&why));
    else if (!(good = failure_write_lines(file, &nothing, &text, &why)))
        fprintf(stderr, "fencepost: %s\n", strbuf_str(&why));
    free(page);
    strbuf_release(&text);
    strbuf_release(&why);
    return good ? EXIT_PASS : EXIT_USAGE;
}

/* ---- the command ---- */

static void say(void *self, const char *text)
{
    (void)self;
    fprintf(stderr, "selftest: %s\n", text);
}

static void tell(const struct selftest_config *config, const struct selftest_report *report)
{
    struct strbuf text = STRBUF_INIT;
    report_selftest(report, &text);
    if (config->json) {
        fputs(strbuf_str(&text), stderr);
        strbuf_clear(&text);
        report_selftest_json(report, &text);
    }
    output_text(&text);
    strbuf_release(&text);
    if (report->interrupted)
        fputs("fencepost: interrupted\n", stderr);
    else if (report->trouble.size > 0)
        fprintf(stderr, "fencepost: %s\n", strbuf_str(&report->trouble));
}

static int try_count(const struct args *args, const struct selftest_config *config)
{
    bool is_given = args_given(args, selftest_options, FP_COUNT(selftest_options), "tries");
    return config->quick && !is_given ? QUICK_TRY_COUNT : (int)config->tries;
}

static int run_gathered(const struct args *args, const struct selftest_config *config,
                        const struct gathered *gathered)
{
    struct selftest_report report;
    struct selftest_wish wish = {args->operands, args->operand_count, config->only.values,
                                 config->only.count};
    struct selftest_options options = {
        .try_count = try_count(args, config),
        .seed_count = config->seeds,
        .budget_ns = config->budget_ns,
        .lane_count = config->jobs > 0 ? (int)config->jobs : campaign_lane_count_default(),
        .server = {.bin_dir = config->pg_bin, .cpu = -1},
    };
    selftest_plan(&wish, (const struct scenario *const *)gathered->scenarios, gathered->count,
                  &report);
    selftest_run(&report, &options, say, NULL, interrupt_flag());
    tell(config, &report);
    int code = selftest_exit_code(&report);
    if (config->markdown && (code == EXIT_PASS || code == EXIT_VIOLATION)) {
        int page_code = write_page(&report, args->operands[0], config->markdown);
        code = code == EXIT_PASS ? page_code : code;
    }
    selftest_report_release(&report);
    return code;
}

static int selftest_command_run(const struct args *args, const void *config)
{
    static struct gathered gathered;
    const struct selftest_config *selftest = config;
    int code = check_options(args, selftest);
    if (code != EXIT_PASS)
        return code;
    char *folder = gather_shipped_folder(selftest->scenarios);
    const char *paths[] = {folder};
    code = gather(&gathered, paths, 1, NULL);
    if (code == EXIT_PASS)
        code = run_gathered(args, selftest, &gathered);
    gather_release(&gathered);
    free(folder);
    return code;
}

const struct command command_selftest = {
    .name = "selftest",
    .about = "hunt every known weakness: is it caught, and is it what was caught",
    .notes = "The exit code is 1 when a weakness is caught by no scenario, or when the hardened "
             "form of a\nweak scenario raises an alarm. docs/selftest.md says how to read the "
             "table.\n",
    .operands = {"STRATEGY", 0, SIZE_MAX, "whose weaknesses [all]"},
    .options = selftest_options,
    .option_count = FP_COUNT(selftest_options),
    .config_size = sizeof(struct selftest_config),
    .run = selftest_command_run,
};
