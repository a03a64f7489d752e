#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/events.h"
#include "reports/replay.h"
#include "sim/cli/command.h"
#include "sim/cli/gather.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/output.h"
#include "sim/cli/pg_options.h"
#include "sim/hunt/failure.h"
#include "sim/hunt/single.h"

struct replay_config {
    int64_t seed;
    bool json, quiet;
    struct pg_choice pg;
    struct args_list set;
};

#define AT(member) offsetof(struct replay_config, member)
static const struct option replay_options[] = {
    {.name = "seed",
     .type = OPTION_INTEGER,
     .offset = AT(seed),
     .low = 0,
     .high = INT64_MAX,
     .value = "S",
     .about = "with a scenario: the seed to run"},
    {.name = "set",
     .type = OPTION_LIST,
     .offset = AT(set),
     .value = "PATH=VALUE",
     .about = "with a scenario: put a value in place of the scenario's"},
    PG_OPTIONS(AT(pg)),
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = AT(json),
     .about = "one JSON object on standard output, the rest on standard error"},
    {.name = "quiet",
     .type = OPTION_FLAG,
     .offset = AT(quiet),
     .about = "the verdict alone, no events"},
};
#undef AT

extern const struct command command_replay;

static bool is_given(const struct args *args, const char *name)
{
    return args_given(args, replay_options, FP_COUNT(replay_options), name);
}

/* ---- running and telling ---- */

static int exit_code_of(const struct replay_report *report)
{
    if (*interrupt_flag())
        return EXIT_INTERRUPTED;
    if (replay_report_differs(report))
        return EXIT_HARNESS_BUG;
    switch (report->result->outcome) {
    case RUN_PASS:
        return EXIT_PASS;
    case RUN_VIOLATION:
        return EXIT_VIOLATION;
    case RUN_UNKNOWN:
        return EXIT_UNKNOWN;
    case RUN_DIVERGED:
        return EXIT_HARNESS_BUG;
    default:
        return EXIT_INFRASTRUCTURE;
    }
}

static void tell(const struct replay_config *config, const struct replay_report *report)
{
    struct strbuf text = STRBUF_INIT;
    report_replay(report, !config->quiet, &text);
    if (config->json) {
        if (!config->quiet)
            fputs(strbuf_str(&text), stderr);
        strbuf_clear(&text);
        report_replay_json(report, &text);
    }
    output_text(&text);
    strbuf_release(&text);
}

static void note_other_server(const struct failure *failure, const struct single *single)
{
    const char *now = pg_lane_server_version(single->pg);
    if (failure && failure->server_version && strcmp(failure->server_version, now) != 0)
        fprintf(stderr, "note: recorded with PostgreSQL %s, this is %s\n", failure->server_version,
                now);
}

static int run_and_tell(const struct replay_config *config, const struct pg_server_options *server,
                        const struct scenario *scenario, uint64_t seed,
                        const struct failure *failure)
{
    struct single single;
    struct run_result result;
    struct strbuf why = STRBUF_INIT;
    int code = EXIT_INFRASTRUCTURE;
    run_result_init(&result);
    if (single_open(&single, server, &why)) {
        struct run_replay replay = {0};
        if (failure)
            replay = (struct run_replay){.streams = failure->streams,
                                         .stream_count = failure->stream_count,
                                         .lines = failure->lines};
        note_other_server(failure, &single);
        single_run(&single, scenario, seed, failure ? &replay : NULL, &result);
        struct pg_environment environment;
        pg_server_describe(single.server, &environment);
        struct replay_report report = {scenario, failure, &result, run_lane_trace(single.runs),
                                       &environment};
        tell(config, &report);
        code = exit_code_of(&report);
        single_close(&single);
    } else {
        code = *interrupt_flag() ? EXIT_INTERRUPTED : code;
        fprintf(stderr, "fencepost: %s\n", strbuf_str(&why));
    }
    run_result_release(&result);
    strbuf_release(&why);
    return code;
}

/* ---- a failure file ---- */

static struct scenario *parse_embedded(const struct failure *failure)
{
    struct diags *diags = fp_alloc(sizeof *diags);
    diags_init(diags, failure->scenario_file);
    struct scenario *scenario = scenario_parse_with(
        failure->scenario_file, failure->scenario_source, strlen(failure->scenario_source),
        (const char *const *)failure->overrides, failure->override_count, diags);
    if (!scenario) {
        struct strbuf text = STRBUF_INIT;
        diags_print(diags, &text);
        fprintf(stderr, "%s:1: the scenario inside is not one for this fencepost:\n%s",
                failure->file, strbuf_str(&text));
        strbuf_release(&text);
    }
    diags_release(diags);
    free(diags);
    return scenario;
}

static int replay_failure(const struct replay_config *config, struct pg_server_options *server,
                          const char *file)
{
    struct strbuf why = STRBUF_INIT;
    struct failure *failure = failure_read(file, &why);
    struct scenario *scenario = NULL;
    int code = EXIT_USAGE;
    if (!failure)
        fprintf(stderr, "%s\n", strbuf_str(&why));
    else
        scenario = parse_embedded(failure);
    if (scenario) {
        if (failure->engine_version != FP_ENGINE_VERSION)
            fprintf(stderr,
                    "warning: recorded with engine %d, this is engine %d: the same choices may "
                    "lead elsewhere\n",
                    failure->engine_version, FP_ENGINE_VERSION);
        code = pg_options_fit_one(&command_replay, server, scenario);
        if (code == EXIT_PASS)
            code = run_and_tell(config, server, scenario, failure->seed, failure);
    }
    scenario_free(scenario);
    failure_free(failure);
    strbuf_release(&why);
    return code;
}

/* ---- a scenario ---- */

static int replay_scenario(const struct replay_config *config, struct pg_server_options *server,
                           const char *file)
{
    static struct gathered gathered;
    int code = gather(&gathered, &file, 1, &config->set);
    if (code == EXIT_PASS && gathered.count > 1)
        code = command_usage(&command_replay, "%s: expected one scenario, found %zu", file,
                             gathered.count);
    if (code == EXIT_PASS)
        code = pg_options_fit(&command_replay, server, &gathered);
    if (code == EXIT_PASS)
        code = run_and_tell(config, server, gathered.scenarios[0], (uint64_t)config->seed, NULL);
    gather_release(&gathered);
    return code;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static int replay_run(const struct args *args, const void *config)
{
    const struct replay_config *replay = config;
    const char *file = args->operands[0];
    bool is_scenario = ends_with(file, ".yaml") || ends_with(file, ".yml");
    struct pg_server_options server;
    int code = pg_options_take(&command_replay, &replay->pg, &server);
    if (code != EXIT_PASS)
        return code;
    if (is_given(args, "seed") && !ends_with(file, ".jsonl"))
        return replay_scenario(replay, &server, file);
    if (is_scenario)
        return command_usage(&command_replay, "%s is a scenario and needs --seed", file);
    if (is_given(args, "seed") || is_given(args, "set"))
        return command_usage(&command_replay, "%s replays as it was recorded: no --seed, no --set",
                             file);
    return replay_failure(replay, &server, file);
}

const struct command command_replay = {
    .name = "replay",
    .about = "run a failure once more, comparing step by step; or one seed of a scenario",
    .notes =
        "A failure file holds its scenario and every choice, so it replays on any machine. The "
        "exit code is\nthe verdict of the run: 0 pass, 1 violation, 2 unknown; 70 when it did "
        "something else than recorded.\n",
    .operands = {"FAILURE|SCENARIO", 1, 1, "a file from OUT/failures, or a scenario with --seed"},
    .options = replay_options,
    .option_count = FP_COUNT(replay_options),
    .config_size = sizeof(struct replay_config),
    .run = replay_run,
};
