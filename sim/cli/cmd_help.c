#include "sim/cli/command.h"
#include "sim/cli/output.h"
#include "sim/scenario/reference.h"

#include <string.h>

static int help_run(const struct args *args, const void *config);

const struct command command_help_ = {0};

const struct command command_help;
