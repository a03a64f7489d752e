#include <inttypes.h>

#include "sim/cli/command.h"
#include "sim/cli/gather.h"
#include "sim/cli/output.h"

struct check_config {
    struct args_list set;
};

static const struct option check_options[] = {
    {.name = "set",
     .type = OPTION_LIST,
     .offset = offsetof(struct check_config, set),
     .value = "PATH=VALUE",
     .about = "put a value in place of the file's"},
};

static int check_run(const struct args *args, const void *config)
{
    static struct gathered gathered;
    const struct check_config *check = config;
    int code = gather(&gathered, args->operands, args->operand_count, &check->set);
    if (code == EXIT_PASS) {
        struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, "%zu scenario%s ok\n", gathered.count, gathered.count == 1 ? "" : "s");
        output_text(&text);
        strbuf_release(&text);
    }
    gather_release(&gathered);
    return code;
}

const struct command command_check = {
    .name = "check",
    .about = "validate scenarios, run nothing; all mistakes of all files at once",
    .operands = {"SCENARIO|FOLDER", 1, SIZE_MAX, "files, or folders that are searched for *.yaml"},
    .options = check_options,
    .option_count = FP_COUNT(check_options),
    .config_size = sizeof(struct check_config),
    .run = check_run,
};
