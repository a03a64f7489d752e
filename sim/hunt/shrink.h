/* Making a counterexample small: fewer faults, actors and jobs, fewer choices that are not the
 * simplest, fewer steps. Each candidate is a real run and must break the same invariant at the same
 * kind of event. */
#ifndef FENCEPOST_SHRINK_H
#define FENCEPOST_SHRINK_H

#include "sim/hunt/failure.h"
#include "sim/hunt/single.h"

/* How large a counterexample is. Compared in this order; steps and choices count together. */
struct shrink_size {
    size_t part_count;   /* faults, actors and entries of the workload */
    int64_t step_count;  /* until the violation */
    size_t choice_count; /* that are not 0 */
    uint64_t choice_sum;
};
/* < 0: a is smaller. */
int shrink_size_compare(const struct shrink_size *a, const struct shrink_size *b);

struct shrink_progress {
    int64_t run_count, elapsed_ns;
    struct shrink_size first, best;
};
typedef void shrink_watch(void *self, const struct shrink_progress *progress);

struct shrink_options {
    int64_t time_ns; /* no candidate is begun after it; 0: no limit */
    shrink_watch *watch;
    void *watch_self;
    const volatile bool *interrupted;
};

struct shrunk {
    struct strbuf text;        /* the scenario */
    struct scenario *scenario; /* of the text */
    struct scenario_stream *streams;
    size_t stream_count;
    struct run_result result;
    struct shrink_progress progress;
    bool complete; /* nothing more can be taken away; false: the time was over */
};

/* False with `why`: it does not fail any more as it says, or the environment failed. On true the
 * caller ends it with shrunk_release, and the last run of `single` is the small one. */
bool shrink(struct single *single, const struct failure *failure,
            const struct shrink_options *options, struct shrunk *out, struct strbuf *why);
void shrunk_release(struct shrunk *shrunk);
/* The scenario with its choices written down, called NAME-small: it fails without any seed. */
void shrunk_write(const struct shrunk *shrunk, struct strbuf *out);

#endif
