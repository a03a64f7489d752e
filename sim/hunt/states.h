/* States that were seen, each with how much could still be decided from there. */
#ifndef FENCEPOST_STATES_H
#define FENCEPOST_STATES_H

#include "sim/core/base.h"

struct states;

/* Room for half of so many; a power of two. When it is full no more are remembered. */
struct states *states_new(size_t slot_count_max);
void states_free(struct states *states);
/* Was this state seen with as much left, or more? */
bool states_know(const struct states *states, uint64_t state, int left);
void states_add(struct states *states, uint64_t state, int left);
size_t states_count(const struct states *states);

#endif
