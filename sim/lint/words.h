/* What the words in a schema mean: which statuses wait, which are on the way, which columns count.
 */
#ifndef FENCEPOST_LINT_WORDS_H
#define FENCEPOST_LINT_WORDS_H

#include "sim/lint/schema.h"

bool word_is_waiting(const char *status);      /* PENDING, READY, ... */
bool word_is_intermediate(const char *status); /* PROCESSING, EXECUTING, ...: somebody is at it */
/* Does a column of this name say how many there are? `attempt`, `version` and the like do not: they
 * count what happened to their own row. */
bool word_is_aggregate(const char *column);
bool word_is_idempotency_key(const char *column);

#endif
