/* What faults of clocks have in common. */
#ifndef FENCEPOST_FAULT_CLOCKS_H
#define FENCEPOST_FAULT_CLOCKS_H

#include "faults/fault.h"

enum clock_direction { CLOCK_ANY, CLOCK_FORWARDS, CLOCK_BACKWARDS };

/* Words of a field, in the order of the enum. */
extern const char *const clock_direction_words[];

/* -1 or 1. */
int64_t clock_sign(struct fault_host *host, int direction);

#endif
