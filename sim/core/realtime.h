/* Real time, for progress lines, budgets and the patience of the harness. No decision of a run and
 * no event may ever depend on it. */
#ifndef FENCEPOST_REALTIME_H
#define FENCEPOST_REALTIME_H

#include "sim/core/base.h"

int64_t realtime_ns(void); /* monotonic, from some point in the past */
void realtime_sleep_ns(int64_t duration_ns);

#endif
