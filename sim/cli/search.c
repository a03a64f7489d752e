#include "sim/cli/search.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cli/output.h"
#include "sim/core/pct.h"
#include "sim/hunt/exhaustive.h"

static const char *const pct_settings[PCT_DEPTH_MAX + 1] = {
    [1] = "scheduling.pct=1",   [2] = "scheduling.pct=2",   [3] = "scheduling.pct=3",
    [4] = "scheduling.pct=4",   [5] = "scheduling.pct=5",   [6] = "scheduling.pct=6",
    [7] = "scheduling.pct=7",   [8] = "scheduling.pct=8",   [9] = "scheduling.pct=9",
    [10] = "scheduling.pct=10", [11] = "scheduling.pct=11", [12] = "scheduling.pct=12",
    [13] = "scheduling.pct=13", [14] = "scheduling.pct=14", [15] = "scheduling.pct=15",
    [16] = "scheduling.pct=16",
};

/* The number behind `prefix`; -1: there is none. */
static long number_behind(const char *search, const char *prefix, long most)
{
    size_t size = strlen(prefix);
    char *end;
    if (strncmp(search, prefix, size) != 0 || search[size] < '0' || search[size] > '9')
        return -1;
    long number = strtol(search + size, &end, 10);
    return *end == '\0' && number <= most ? number : -1;
}

int search_bound(const char *search)
{
    return (int)number_behind(search, "exhaustive:", EXHAUSTIVE_BOUND_MAX);
}

/* NULL: there is no such search. "": it is what happens anyway. */
static const char *setting_of(const char *search)
{
    if (strcmp(search, "random") == 0)
        return "";
    if (strcmp(search, "swarm") == 0)
        return "scheduling.swarm=true";
    if (search_bound(search) >= 0)
        return "";
    long depth = number_behind(search, "pct:", PCT_DEPTH_MAX);
    return depth > 0 ? pct_settings[depth] : NULL;
}

int search_take(const struct command *command, const char *search, struct args_list *overrides)
{
    const char *setting = setting_of(search);
    if (setting == NULL)
        return command_usage(command,
                             "--search: expected random, swarm, pct:D with D in 1..%d or "
                             "exhaustive:P with P in 0..%d, found `%s`",
                             PCT_DEPTH_MAX, EXHAUSTIVE_BOUND_MAX, search);
    if (setting[0] == '\0')
        return EXIT_PASS;
    if (overrides->count == ARGS_LIST_COUNT_MAX)
        return command_usage(command, "--set: so often is not possible together with --search %s",
                             search);
    overrides->values[overrides->count++] = setting;
    return EXIT_PASS;
}
