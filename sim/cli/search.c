#include "sim/cli/search.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cli/output.h"
#include "sim/core/pct.h"

static const char *const pct_settings[PCT_DEPTH_MAX + 1] = {
    [1] = "scheduling.pct=1",   [2] = "scheduling.pct=2",   [3] = "scheduling.pct=3",
    [4] = "scheduling.pct=4",   [5] = "scheduling.pct=5",   [6] = "scheduling.pct=6",
    [7] = "scheduling.pct=7",   [8] = "scheduling.pct=8",   [9] = "scheduling.pct=9",
    [10] = "scheduling.pct=10", [11] = "scheduling.pct=11", [12] = "scheduling.pct=12",
    [13] = "scheduling.pct=13", [14] = "scheduling.pct=14", [15] = "scheduling.pct=15",
    [16] = "scheduling.pct=16",
};

/* NULL: there is no such search. "": it is what happens anyway. */
static const char *setting_of(const char *search)
{
    if (strcmp(search, "random") == 0)
        return "";
    if (strcmp(search, "swarm") == 0)
        return "scheduling.swarm=true";
    if (strncmp(search, "pct:", 4) != 0)
        return NULL;
    char *end;
    long depth = strtol(search + 4, &end, 10);
    bool good = search[4] >= '1' && search[4] <= '9' && *end == '\0' && depth <= PCT_DEPTH_MAX;
    return good ? pct_settings[depth] : NULL;
}

int search_take(const struct command *command, const char *search, struct args_list *overrides)
{
    const char *setting = setting_of(search);
    if (setting == NULL)
        return command_usage(
            command, "--search: expected random, swarm or pct:D with D in 1..%d, found `%s`",
            PCT_DEPTH_MAX, search);
    if (setting[0] == '\0')
        return EXIT_PASS;
    if (overrides->count == ARGS_LIST_COUNT_MAX)
        return command_usage(command, "--set: so often is not possible together with --search %s",
                             search);
    overrides->values[overrides->count++] = setting;
    return EXIT_PASS;
}
