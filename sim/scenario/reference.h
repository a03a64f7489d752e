/* The reference page of scenario files, from the same tables that check them. */
#ifndef FENCEPOST_REFERENCE_H
#define FENCEPOST_REFERENCE_H

#include "sim/core/strbuf.h"

/* Appends the page as Markdown: every key of the file, every fault, point, invariant and strategy.
 */
void scenario_reference(struct strbuf *out);

#endif
