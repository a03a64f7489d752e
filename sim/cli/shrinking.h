/* Shrinking a failure file, with its line of progress and its files: for `shrink` and for `run`. */
#ifndef FENCEPOST_SHRINKING_H
#define FENCEPOST_SHRINKING_H

#include "reports/shrink.h"
#include "sim/hunt/single.h"

/* FAILURE.jsonl gives FAILURE-small.jsonl and FAILURE-small.yaml. Returns EXIT_PASS, or another
 * exit code with `why`. The caller ends `report` with shrinking_release in any case. */
int shrinking_run(struct single *single, const struct failure *failure, int64_t time_ns, bool quiet,
                  struct shrink_report *report, struct strbuf *why);
void shrinking_release(struct shrink_report *report);

#endif
