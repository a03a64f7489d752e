#include "sim/core/choice.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#define MILLION 1000000u
/* Each rejection has odds below one half: reaching this means that the generator is broken. */
#define REJECTION_COUNT_MAX 256

struct values {
    uint32_t *list;
    size_t count;
    size_t capacity;
};

struct choice_stream {
    struct choices *choices;
    char name[CHOICE_NAME_SIZE_MAX];
    uint64_t state[4]; /* of xoshiro256** */
    struct values drawn;
    struct values replay;
    size_t replay_next;
    bool is_used; /* since the last reset */
    bool is_replaying;
};

/* Streams are never given back before choices_free, as callers may hold them over a reset. */
struct choices {
    uint64_t seed;
    bool is_bent;
    bool zeros;                     /* streams that are not fed back answer 0 */
    struct choice_stream **streams; /* every one ever made */
    size_t stream_count;
    size_t stream_capacity;
    struct choice_stream *used[CHOICE_STREAM_COUNT_MAX]; /* in the order of first use */
    size_t used_count;
};

static void values_reserve(struct values *values, size_t count)
{
    if (count <= values->capacity)
        return;
    size_t capacity = values->capacity == 0 ? 64 : values->capacity * 2;
    if (capacity < count)
        capacity = count;
    values->list = fp_realloc(values->list, capacity * sizeof(values->list[0]));
    values->capacity = capacity;
}

static void values_add(struct values *values, uint32_t value)
{
    values_reserve(values, values->count + 1);
    values->list[values->count++] = value;
}

/* SplitMix64: spreads one word over the state of the generator below, which must not be 0. */
static uint64_t splitmix_next(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

static uint64_t rotate_left(uint64_t word, int count)
{
    return (word << count) | (word >> (64 - count));
}

/* xoshiro256**, by Blackman and Vigna. */
static uint64_t random_next(uint64_t state[4])
{
    uint64_t result = rotate_left(state[1] * 5, 7) * 9;
    uint64_t shifted = state[1] << 17;

    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate_left(state[3], 45);
    return result;
}

/* Uniform below n, by Lemire's multiplication: the answer is the upper half of a product, and the
 * few lower halves that would favour some answers are rejected. */
static uint32_t random_below(uint64_t state[4], uint32_t n)
{
    FP_ASSERT(n >= 1);
    uint32_t biased_count = (UINT32_MAX - n + 1) % n; /* 2^32 modulo n */
    for (int attempt = 0; attempt < REJECTION_COUNT_MAX; attempt++) {
        uint64_t product = (random_next(state) >> 32) * n;
        if ((uint32_t)product >= biased_count)
            return (uint32_t)(product >> 32);
    }
    FP_ASSERT(!"the generator yields no usable number");
    return 0;
}

static void stream_seed(struct choice_stream *stream)
{
    uint64_t state =
        XXH3_64bits_withSeed(stream->name, strlen(stream->name), stream->choices->seed);
    for (size_t i = 0; i < FP_COUNT(stream->state); i++)
        stream->state[i] = splitmix_next(&state);
}

static void stream_reset(struct choice_stream *stream)
{
    stream->drawn.count = 0;
    stream->replay.count = 0;
    stream->replay_next = 0;
    stream->is_used = false;
    stream->is_replaying = false;
}

static void stream_free(struct choice_stream *stream)
{
    free(stream->drawn.list);
    free(stream->replay.list);
    free(stream);
}

struct choices *choices_new(uint64_t seed)
{
    struct choices *choices = fp_alloc(sizeof(*choices));
    choices->seed = seed;
    return choices;
}

void choices_free(struct choices *choices)
{
    if (choices == NULL)
        return;
    for (size_t i = 0; i < choices->stream_count; i++)
        stream_free(choices->streams[i]);
    free(choices->streams);
    free(choices);
}

void choices_reset(struct choices *choices, uint64_t seed)
{
    FP_ASSERT(choices != NULL);
    choices->seed = seed;
    choices->is_bent = false;
    choices->zeros = false;
    choices->used_count = 0;
    for (size_t i = 0; i < choices->stream_count; i++)
        stream_reset(choices->streams[i]);
}

static struct choice_stream *stream_find(const struct choices *choices, const char *name)
{
    for (size_t i = 0; i < choices->stream_count; i++)
        if (strcmp(choices->streams[i]->name, name) == 0)
            return choices->streams[i];
    return NULL;
}

static struct choice_stream *stream_new(struct choices *choices, const char *name)
{
    size_t size = strlen(name) + 1;
    FP_ASSERT(size > 1);
    FP_ASSERT(size <= CHOICE_NAME_SIZE_MAX);
    struct choice_stream *stream = fp_alloc(sizeof(*stream));
    stream->choices = choices;
    memcpy(stream->name, name, size);

    if (choices->stream_count == choices->stream_capacity) {
        choices->stream_capacity =
            choices->stream_capacity == 0 ? CHOICE_STREAM_COUNT_MAX : choices->stream_capacity * 2;
        choices->streams =
            fp_realloc(choices->streams, choices->stream_capacity * sizeof(choices->streams[0]));
    }
    choices->streams[choices->stream_count++] = stream;
    return stream;
}

static struct choice_stream *stream_find_or_new(struct choices *choices, const char *name)
{
    FP_ASSERT(choices != NULL);
    FP_ASSERT(name != NULL);
    struct choice_stream *stream = stream_find(choices, name);
    return stream != NULL ? stream : stream_new(choices, name);
}

/* First use since the reset: only now is the stream part of the run. */
static void stream_use(struct choice_stream *stream)
{
    struct choices *choices = stream->choices;
    if (stream->is_used)
        return;
    FP_ASSERT(choices->used_count < CHOICE_STREAM_COUNT_MAX);
    choices->used[choices->used_count++] = stream;
    stream->is_used = true;
    stream_seed(stream);
}

struct choice_stream *choices_stream(struct choices *choices, const char *name)
{
    struct choice_stream *stream = stream_find_or_new(choices, name);
    stream_use(stream);
    return stream;
}

static bool is_given(const struct choice_stream *stream)
{
    return stream->is_replaying || stream->choices->zeros;
}

/* The next replayed value, made to fit below n. */
static uint32_t replay_next(struct choice_stream *stream, uint32_t n)
{
    if (stream->replay_next == stream->replay.count) {
        stream->choices->is_bent = true;
        return 0;
    }
    uint32_t value = stream->replay.list[stream->replay_next++];
    if (value < n)
        return value;
    stream->choices->is_bent = true;
    return value % n;
}

uint32_t choice_below(struct choice_stream *stream, uint32_t n)
{
    FP_ASSERT(stream != NULL);
    FP_ASSERT(n >= 1);
    stream_use(stream);
    if (n == 1)
        return 0;
    uint32_t value = is_given(stream) ? replay_next(stream, n) : random_below(stream->state, n);
    FP_ASSERT(value < n);
    values_add(&stream->drawn, value);
    return value;
}

static uint32_t random_rare(uint64_t state[4], uint32_t n, uint32_t per_million_nonzero)
{
    if (random_below(state, MILLION) >= per_million_nonzero)
        return 0;
    return 1 + random_below(state, n - 1);
}

uint32_t choice_rare(struct choice_stream *stream, uint32_t n, uint32_t per_million_nonzero)
{
    FP_ASSERT(stream != NULL);
    FP_ASSERT(n >= 1);
    FP_ASSERT(per_million_nonzero <= MILLION);
    stream_use(stream);
    if (n == 1)
        return 0;
    uint32_t value = is_given(stream) ? replay_next(stream, n)
                                      : random_rare(stream->state, n, per_million_nonzero);
    FP_ASSERT(value < n);
    values_add(&stream->drawn, value);
    return value;
}

uint32_t choice_made(struct choice_stream *stream, uint32_t n, uint32_t value)
{
    FP_ASSERT(value < n);
    stream_use(stream);
    if (n == 1)
        return 0;
    if (is_given(stream))
        value = replay_next(stream, n);
    values_add(&stream->drawn, value);
    return value;
}

int64_t choice_range(struct choice_stream *stream, int64_t low, int64_t high, uint32_t notch_count)
{
    FP_ASSERT(low <= high);
    FP_ASSERT(notch_count >= 1);
    FP_ASSERT(notch_count < UINT32_MAX);
    uint64_t span = (uint64_t)high - (uint64_t)low;
    if (span == 0)
        return low;
    uint64_t notches = span < notch_count ? span : notch_count;
    uint64_t notch = choice_below(stream, (uint32_t)notches + 1);

    /* span * notch / notches, in two parts so that it can't overflow. */
    uint64_t offset = span / notches * notch + span % notches * notch / notches;
    FP_ASSERT(offset <= span);
    return (int64_t)((uint64_t)low + offset);
}

void choices_replay(struct choices *choices, const char *name, const uint32_t *values,
                    size_t value_count)
{
    FP_ASSERT(values != NULL || value_count == 0);
    struct choice_stream *stream = stream_find_or_new(choices, name);
    FP_ASSERT(stream->drawn.count == 0);
    values_reserve(&stream->replay, value_count);
    if (value_count > 0)
        memcpy(stream->replay.list, values, value_count * sizeof(values[0]));
    stream->replay.count = value_count;
    stream->replay_next = 0;
    stream->is_replaying = true;
}

void choices_zero_others(struct choices *choices)
{
    choices->zeros = true;
}

bool choices_bent(const struct choices *choices)
{
    FP_ASSERT(choices != NULL);
    return choices->is_bent;
}

size_t choices_stream_count(const struct choices *choices)
{
    FP_ASSERT(choices != NULL);
    return choices->used_count;
}

const char *choices_stream_name(const struct choices *choices, size_t index)
{
    FP_ASSERT(index < choices->used_count);
    return choices->used[index]->name;
}

const uint32_t *choices_values(const struct choices *choices, size_t index, size_t *value_count)
{
    FP_ASSERT(index < choices->used_count);
    FP_ASSERT(value_count != NULL);
    *value_count = choices->used[index]->drawn.count;
    return choices->used[index]->drawn.list;
}
