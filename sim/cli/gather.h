/* Scenarios from the command line: files, and folders that are searched. */
#ifndef FENCEPOST_GATHER_H
#define FENCEPOST_GATHER_H

#include "sim/cli/args.h"
#include "sim/hunt/campaign.h"
#include "sim/scenario/scenario.h"

struct gathered {
    char *files[CAMPAIGN_SCENARIO_COUNT_MAX];
    struct scenario *scenarios[CAMPAIGN_SCENARIO_COUNT_MAX];
    size_t count;
};

/* Find the files: a folder is searched for *.yaml in sorted order, without folders called bad or
 * corpus below it (their scenarios are wrong on purpose, or no scenarios) and without hidden ones.
 * A file that is named twice counts once. Then load all of them, with the overrides. Returns
 * EXIT_PASS, EXIT_USAGE (all mistakes of all files are on standard error), or EXIT_NOTHING_RAN
 * (nothing found, said on standard error). The caller releases in every case. */
int gather(struct gathered *gathered, const char *const *paths, size_t path_count,
           const struct args_list *overrides);
void gather_release(struct gathered *gathered);
/* Take one out; those behind it move up. */
void gather_remove(struct gathered *gathered, size_t index);

/* Where the shipped scenarios are: as the user says, or next to ./fencepost. Caller frees. */
char *gather_shipped_folder(const char *given);

#endif
