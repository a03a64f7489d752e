/* Events for people: one line each, without quotes and braces. */
#ifndef FENCEPOST_REPORT_EVENTS_H
#define FENCEPOST_REPORT_EVENTS_H

#include "sim/core/strbuf.h"

/* The last `count` events up to the end of `step` (all steps when it is negative), as in
 *   1h10m  worker-2  effect.start  operation destroy, resource control-plane
 * `lines` are events as a trace has them. A line that is no event is printed as it is. */
void report_events(const char *lines, int64_t step, size_t count, struct strbuf *out);

#endif
