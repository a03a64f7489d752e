/* --search: how seeds are turned into runs. */
#ifndef FENCEPOST_SEARCH_H
#define FENCEPOST_SEARCH_H

#include "sim/cli/command.h"

#define SEARCH_ABOUT                                                                               \
    "random: every decision is drawn; pct:D: by priorities with D - 1 changes; swarm: each seed "  \
    "with a drawn part of the faults; exhaustive:P: every schedule with at most P preemptions, "   \
    "without seeds"

/* The preemptions of exhaustive:P; -1: it is another search. */
int search_bound(const char *search);
/* Adds what the search means as --set. Returns EXIT_PASS, or EXIT_USAGE after saying why. */
int search_take(const struct command *command, const char *search, struct args_list *overrides);

#endif
