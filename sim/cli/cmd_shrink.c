#include <stdio.h>

#include "sim/cli/command.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/output.h"
#include "sim/cli/pg_options.h"
#include "sim/cli/shrinking.h"

struct shrink_config {
    int64_t time_ns;
    bool json, quiet;
    struct pg_choice pg;
};

#define AT(member) offsetof(struct shrink_config, member)
static const struct option shrink_options[] = {
    {.name = "time",
     .type = OPTION_DURATION,
     .offset = AT(time_ns),
     .low = NS_PER_S,
     .high = NS_PER_DAY,
     .value = "D",
     .fallback = "60s",
     .about = "try no further candidate after it"},
    PG_OPTIONS(AT(pg)),
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = AT(json),
     .about = "one JSON object on standard output, the rest on standard error"},
    {.name = "quiet", .type = OPTION_FLAG, .offset = AT(quiet), .about = "no progress"},
};
#undef AT

extern const struct command command_shrink;

static void tell(const struct shrink_config *config, const struct shrink_report *report)
{
    struct strbuf text = STRBUF_INIT;
    report_shrink(report, &text);
    if (config->json) {
        fputs(strbuf_str(&text), stderr);
        strbuf_clear(&text);
        report_shrink_json(report, &text);
    }
    output_text(&text);
    strbuf_release(&text);
}

static int shrink_in(struct single *single, const struct shrink_config *config,
                     const struct failure *failure, struct strbuf *why)
{
    struct shrink_report report;
    int code = shrinking_run(single, failure, config->time_ns, config->quiet, &report, why);
    if (code == EXIT_PASS)
        tell(config, &report);
    shrinking_release(&report);
    return code;
}

static int shrink_failure(const struct shrink_config *config,
                          const struct pg_server_options *server, const struct failure *failure)
{
    struct single single;
    struct strbuf why = STRBUF_INIT;
    int code = EXIT_INFRASTRUCTURE;
    if (single_open(&single, server, &why)) {
        code = shrink_in(&single, config, failure, &why);
        single_close(&single);
    }
    if (*interrupt_flag())
        code = EXIT_INTERRUPTED;
    else if (code != EXIT_PASS)
        fprintf(stderr, "fencepost: %s\n", strbuf_str(&why));
    strbuf_release(&why);
    return code;
}

static int shrink_run(const struct args *args, const void *config)
{
    const struct shrink_config *wanted = config;
    struct pg_server_options server;
    int code = pg_options_take(&command_shrink, &wanted->pg, &server);
    if (code != EXIT_PASS)
        return code;
    struct strbuf why = STRBUF_INIT;
    struct failure *failure = failure_read(args->operands[0], &why);
    if (failure == NULL) {
        fprintf(stderr, "%s\n", strbuf_str(&why));
        code = EXIT_USAGE;
    } else if (failure->invariant == NULL) {
        fprintf(stderr, "%s: no invariant was broken in it, there is nothing to keep\n",
                failure->file);
        code = EXIT_USAGE;
    } else {
        code = shrink_failure(wanted, &server, failure);
    }
    failure_free(failure);
    strbuf_release(&why);
    return code;
}

const struct command command_shrink = {
    .name = "shrink",
    .about = "make the smallest run of a failure that still fails",
    .notes =
        "Faults, actors and jobs are taken away, choices are made simpler. Each candidate is a "
        "real run that\nmust break the same invariant at the same kind of event. FAILURE.jsonl "
        "gives FAILURE-small.jsonl, and\nFAILURE-small.yaml: a scenario that fails without any "
        "seed.\n",
    .operands = {"FAILURE", 1, 1, "a file from OUT/failures"},
    .options = shrink_options,
    .option_count = FP_COUNT(shrink_options),
    .config_size = sizeof(struct shrink_config),
    .run = shrink_run,
};
