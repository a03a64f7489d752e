/* Every decision of a run is "an integer below n" from a named stream.
 *
 * A stream is seeded from the run's seed and its own name, so that removing one fault does not
 * reshuffle the others. In every draw 0 is the simplest answer. The recorded values are the run:
 * fed back they give the same run, made smaller they give a smaller one. */
#ifndef FENCEPOST_CHOICE_H
#define FENCEPOST_CHOICE_H

#include "sim/core/base.h"

#define CHOICE_STREAM_COUNT_MAX 64
#define CHOICE_NAME_SIZE_MAX 48

struct choices;
struct choice_stream;

/* A fresh set that draws from the seed and records what it draws. Freed with choices_free. */
struct choices *choices_new(uint64_t seed);
void choices_free(struct choices *choices);
/* Start again with another seed; keeps the memory, forgets recorded and replayed values. Streams
 * that the caller still holds stay valid and draw from the new seed. */
void choices_reset(struct choices *choices, uint64_t seed);

/* The stream of that name, made on first use. Owned by `choices`; valid until choices_free. At most
 * CHOICE_STREAM_COUNT_MAX in one run; the name is shorter than CHOICE_NAME_SIZE_MAX. */
struct choice_stream *choices_stream(struct choices *choices, const char *name);

/* An integer below n, uniform. n >= 1; a draw with n == 1 is not recorded. */
uint32_t choice_below(struct choice_stream *stream, uint32_t n);
/* As above, but 0 with the odds of (per_million_nonzero misses); the rest is uniform over 1..n-1.
 * One value is recorded, below n like any other. per_million_nonzero <= 1000000. */
uint32_t choice_rare(struct choice_stream *stream, uint32_t n, uint32_t per_million_nonzero);
/* A decision that was made by other means, below n: recorded as if it had been drawn. While values
 * are fed back the next of them counts, and `value` does not. */
uint32_t choice_made(struct choice_stream *stream, uint32_t n, uint32_t value);
/* A value in [low, high], in `notch_count` equal notches: 0 is low, notch_count is high. Where the
 * range is narrower than that, every value is a notch; low == high draws nothing. low <= high,
 * 1 <= notch_count < UINT32_MAX. */
int64_t choice_range(struct choice_stream *stream, int64_t low, int64_t high, uint32_t notch_count);

/* Feed back recorded values of one stream instead of drawing. A value that is not below the n asked
 * for is taken modulo n; past the end the answer is 0. Copies `values`. The answers are recorded as
 * drawn ones are. Other streams go on drawing from the seed. Before the stream's first draw. */
void choices_replay(struct choices *choices, const char *stream, const uint32_t *values,
                    size_t value_count);
/* From now until the next reset streams that are not fed back answer 0. */
void choices_zero_others(struct choices *choices);
/* True when some replayed value had to be bent, or was missing: the run is not the recorded one. */
bool choices_bent(const struct choices *choices);

/* Streams in the order of their first use since the last reset; a replay alone is no use. */
size_t choices_stream_count(const struct choices *choices);
const char *choices_stream_name(const struct choices *choices, size_t index);
/* What was drawn so far, for the failure file. Valid until the next draw from that stream. */
const uint32_t *choices_values(const struct choices *choices, size_t index, size_t *value_count);

#endif
