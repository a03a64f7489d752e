/* Changes of a scenario's text, for those who make a smaller one of it. The result is a text again,
 * without comments. */
#ifndef FENCEPOST_EDIT_H
#define FENCEPOST_EDIT_H

#include "sim/core/strbuf.h"
#include "sim/scenario/scenario.h"

/* Each appends to `out` and gives false, with nothing added, when the text or the path is not good.
 * A path is one as in --set: "faults", "workload.jobs", "topology.workers". */

/* As `--set path=value` would. */
bool edit_set(const char *text, const char *assignment, struct strbuf *out);
/* Without entry `index` of that list. */
bool edit_remove(const char *text, const char *list, size_t index, struct strbuf *out);
/* With these choices in place of any that it has; values of 0 are left out, and so are streams that
 * have no other. */
bool edit_choices(const char *text, const struct scenario_stream *streams, size_t stream_count,
                  struct strbuf *out);

/* How many entries the list has; 0 when there is none. */
size_t edit_count(const char *text, const char *list);

#endif
