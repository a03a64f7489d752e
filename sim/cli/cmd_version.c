#include "fp_version.h"
#include "sim/cli/command.h"
#include "sim/cli/output.h"

static int version_run(const struct args *args, const void *config)
{
    (void)args;
    (void)config;
    struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "fencepost %s (commit %s, engine %d)\n", FP_VERSION, FP_GIT_COMMIT,
                  FP_ENGINE_VERSION);
    output_text(&text);
    strbuf_release(&text);
    return EXIT_PASS;
}

const struct command command_version = {
    .name = "version",
    .about = "version, commit, and engine: seeds give the same run within one engine",
    .run = version_run,
};
