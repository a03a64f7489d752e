/* Processors: the harness and its server take turns, so they are quickest on one CPU. A turn is
 * then a switch and not a wake-up of another core. */
#ifndef FENCEPOST_CPU_H
#define FENCEPOST_CPU_H

#include "sim/core/base.h"

/* How many this process may use; 1 when that is unknown. */
int cpu_count(void);
/* The one for a lane of this number, from the first again when there are more lanes; -1: unknown.
 */
int cpu_of_lane(int lane);
/* This thread runs there and nowhere else. -1: stays as it is. */
void cpu_pin(int cpu);

#endif
