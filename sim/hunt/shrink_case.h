/* One candidate after the other, and the best so far. */
#ifndef FENCEPOST_SHRINK_CASE_H
#define FENCEPOST_SHRINK_CASE_H

#include "sim/hunt/shrink.h"

/* Choices that a candidate is made of. */
struct streams {
    struct scenario_stream *list;
    size_t count;
};
void streams_copy(struct streams *to, const struct streams *from);
void streams_release(struct streams *streams);

struct shrinker;

/* NULL with `why`: the failure does not happen. */
struct shrinker *shrinker_new(struct single *single, const struct failure *failure,
                              const struct shrink_options *options, struct strbuf *why);
/* Gives the best, and runs it once more. Frees the shrinker. */
bool shrinker_end(struct shrinker *shrinker, bool complete, struct shrunk *out, struct strbuf *why);

/* Of the best so far; valid until the next try. */
const char *shrinker_text(const struct shrinker *shrinker);
const struct scenario *shrinker_scenario(const struct shrinker *shrinker);
const struct streams *shrinker_streams(const struct shrinker *shrinker);
/* No more candidates: the time is over, or somebody wants to go. */
bool shrinker_is_over(const struct shrinker *shrinker);

#define SHRINK_BY_CHOICES UINT64_MAX
/* Run a candidate: by `streams`, with 0 for everything else; or with NULL by a seed. True: it fails
 * the same way and is smaller, and is the best now. A text that is no scenario is no candidate. */
bool shrinker_try(struct shrinker *shrinker, const char *text, const struct streams *streams,
                  uint64_t seed);

#endif
