#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/output.h"
#include "sim/scenario/reference.h"

extern const struct command command_help;

static bool put_page(const char *topic, struct strbuf *out)
{
    const struct command *command = command_find(topic);
    if (command)
        command_page(command, out);
    else if (strcmp(topic, "scenario") == 0)
        scenario_reference(out);
    else
        return false;
    return true;
}

static int help_run(const struct args *args, const void *config)
{
    (void)config;
    struct strbuf text = STRBUF_INIT;
    int code = EXIT_PASS;
    if (args->operand_count == 0)
        command_overview(&text);
    else if (!put_page(args->operands[0], &text))
        code = command_usage(&command_help, "there is no page `%s`", args->operands[0]);
    output_text(&text);
    strbuf_release(&text);
    return code;
}

const struct command command_help = {
    .name = "help",
    .about = "this overview, the page of a command, or of scenario files (help scenario)",
    .operands = {"COMMAND|scenario", 0, 1,
                 "a command, or `scenario`: every key of a scenario file"},
    .run = help_run,
};
