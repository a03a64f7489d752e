/* What came of one run, replayed or not. */
#ifndef FENCEPOST_REPORT_REPLAY_H
#define FENCEPOST_REPORT_REPLAY_H

#include "sim/hunt/failure.h"

#define REPLAY_TAIL_COUNT 15

struct replay_report {
    const struct scenario *scenario;
    const struct failure *failure; /* NULL: a seed was run, nothing was compared */
    const struct run_result *result;
    const struct trace *trace;
    const struct pg_environment *environment; /* NULL: not told */
};

/* The run is not the recorded one: another event, hash, verdict or invariant. */
bool replay_report_differs(const struct replay_report *report);
/* The verdict in a sentence, before it the last events when `events` is set. */
void report_replay(const struct replay_report *report, bool events, struct strbuf *out);
/* One object on one line. */
void report_replay_json(const struct replay_report *report, struct strbuf *out);

#endif
