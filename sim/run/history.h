/* What each process has observed so far, and what has been done to the world, as hashes.
 *
 * An actor is a function of what it has observed, so two runs in which every process has observed
 * the same, in which the same was committed and done in the same order, and whose fibers stand at
 * the same places, are in the same state: whatever may follow in one may follow in the other. */
#ifndef FENCEPOST_HISTORY_H
#define FENCEPOST_HISTORY_H

#include "sim/core/trace.h"

#define HISTORY_PROCESS_COUNT_MAX 256

struct history {
    struct {
        uint64_t name;
        uint64_t observed;
    } processes[HISTORY_PROCESS_COUNT_MAX];
    size_t process_count;
    uint64_t world; /* commits and effects, in their order */
};

void history_clear(struct history *history);
/* A trace_observer; `self` is a struct history. */
void history_event(void *self, const struct event *event);
/* What a statement answered to the connection or fiber of this name; NULL is SQL null. */
void history_cell(struct history *history, const char *who, const char *text);
/* Of all of it. */
uint64_t history_hash(const struct history *history);

#endif
