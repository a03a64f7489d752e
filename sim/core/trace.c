#include "sim/core/trace.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#define KIND_SLOT_COUNT 1024 /* a power of two, well above TRACE_KIND_COUNT_MAX */
#define NO_TEXT SIZE_MAX

struct kind {
    char name[TRACE_KIND_SIZE_MAX];
    int64_t event_count;
};

struct observer {
    trace_observer *observe;
    void *self;
};

enum phase { PHASE_READY, PHASE_BUILDING, PHASE_OBSERVING };

struct trace {
    int64_t step;
    int64_t t_ns;
    uint64_t hash;
    int64_t event_count;
    enum phase phase;

    struct strbuf lines; /* the line of the event that is being built is at its end */
    size_t line_start;
    struct strbuf texts; /* the fields' texts of one event, unescaped, each terminated */
    size_t text_starts[EVENT_FIELD_COUNT_MAX]; /* into texts, which may move while it grows */
    struct event event;

    struct observer observers[TRACE_OBSERVER_COUNT_MAX];
    size_t observer_count;

    struct kind kinds[TRACE_KIND_COUNT_MAX];
    size_t kind_count;
    uint16_t kind_slots[KIND_SLOT_COUNT]; /* open addressing: 1 + index into kinds, 0: free */

    const char *expected; /* the next recorded line; NULL: nothing is expected */
    const char *expected_end;
    struct trace_difference difference;
};

static const struct event_field *find_field(const struct event *event, const char *key)
{
    for (int i = 0; i < event->field_count; i++)
        if (strcmp(event->fields[i].key, key) == 0)
            return &event->fields[i];
    return NULL;
}

const char *event_text(const struct event *event, const char *key)
{
    const struct event_field *field = find_field(event, key);
    return field == NULL ? NULL : field->text;
}

/* Strict: "12abc", " 12" and what does not fit are no numbers. */
static bool parse_number(const char *text, int64_t *number)
{
    bool is_negative = text[0] == '-';
    const char *digit = text + (is_negative ? 1 : 0);
    int64_t value = 0;
    if (*digit == '\0')
        return false;
    for (; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        int amount = is_negative ? '0' - *digit : *digit - '0';
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
        if (__builtin_add_overflow(value, amount, &value))
            return false;
    }
    *number = value;
    return true;
}

int64_t event_number(const struct event *event, const char *key, int64_t fallback)
{
    const struct event_field *field = find_field(event, key);
    int64_t number;
    if (field == NULL)
        return fallback;
    if (field->is_number)
        return field->number;
    return field->text != NULL && parse_number(field->text, &number) ? number : fallback;
}

bool event_is(const struct event *event, const char *kind)
{
    return strcmp(event->kind, kind) == 0;
}

struct trace *trace_new(void)
{
    return fp_alloc(sizeof(struct trace));
}

static void forget_difference(struct trace *trace)
{
    free(trace->difference.recorded);
    free(trace->difference.happened);
    trace->difference = (struct trace_difference){0};
}

void trace_free(struct trace *trace)
{
    if (trace == NULL)
        return;
    forget_difference(trace);
    strbuf_release(&trace->lines);
    strbuf_release(&trace->texts);
    free(trace);
}

void trace_reset(struct trace *trace)
{
    FP_ASSERT(trace->phase != PHASE_OBSERVING);
    trace->step = 0;
    trace->t_ns = 0;
    trace->hash = 0;
    trace->event_count = 0;
    trace->phase = PHASE_READY;
    strbuf_clear(&trace->lines);
    trace->observer_count = 0;
    trace->kind_count = 0;
    memset(trace->kind_slots, 0, sizeof(trace->kind_slots));
    trace->expected = NULL;
    trace->expected_end = NULL;
    forget_difference(trace);
}

void trace_observe(struct trace *trace, trace_observer *observer, void *self)
{
    FP_ASSERT(observer != NULL);
    FP_ASSERT(trace->phase != PHASE_OBSERVING);
    FP_ASSERT(trace->observer_count < TRACE_OBSERVER_COUNT_MAX);
    trace->observers[trace->observer_count++] = (struct observer){observer, self};
}

void trace_set_now(struct trace *trace, int64_t step, int64_t t_ns)
{
    FP_ASSERT(trace->phase == PHASE_READY);
    FP_ASSERT(step >= 0);
    FP_ASSERT(t_ns >= 0);
    trace->step = step;
    trace->t_ns = t_ns;
}

static struct kind *kind_new(struct trace *trace, const char *name, size_t size)
{
    FP_ASSERT(size < TRACE_KIND_SIZE_MAX);
    FP_ASSERT(trace->kind_count < TRACE_KIND_COUNT_MAX);
    struct kind *kind = &trace->kinds[trace->kind_count++];
    memcpy(kind->name, name, size + 1);
    kind->event_count = 0;
    return kind;
}

/* By content and not by address: a kind may be built in a buffer that is used again. The table is
 * never full, so the probe ends. */
static struct kind *find_kind(struct trace *trace, const char *name)
{
    size_t size = strlen(name);
    size_t slot = XXH3_64bits(name, size) % KIND_SLOT_COUNT;
    while (trace->kind_slots[slot] != 0) {
        struct kind *kind = &trace->kinds[trace->kind_slots[slot] - 1];
        if (strcmp(kind->name, name) == 0)
            return kind;
        slot = (slot + 1) % KIND_SLOT_COUNT;
    }
    struct kind *kind = kind_new(trace, name, size);
    trace->kind_slots[slot] = (uint16_t)trace->kind_count;
    return kind;
}

#define PUT_LITERAL(buf, literal) strbuf_add(buf, literal, sizeof(literal) - 1)

static void begin_line(struct trace *trace)
{
    struct strbuf *lines = &trace->lines;
    trace->line_start = lines->size;
    PUT_LITERAL(lines, "{\"step\":");
    strbuf_int(lines, trace->step);
    PUT_LITERAL(lines, ",\"t\":");
    strbuf_int(lines, trace->t_ns);
    PUT_LITERAL(lines, ",\"ev\":");
    strbuf_json_string(lines, trace->event.kind);
    PUT_LITERAL(lines, ",\"who\":");
    strbuf_json_string(lines, trace->event.who);
}

void trace_begin(struct trace *trace, const char *kind, const char *who)
{
    FP_ASSERT(trace->phase == PHASE_READY);
    FP_ASSERT(kind != NULL);
    FP_ASSERT(who != NULL);
    struct kind *counter = find_kind(trace, kind);
    counter->event_count++;

    trace->phase = PHASE_BUILDING;
    trace->event.step = trace->step;
    trace->event.t_ns = trace->t_ns;
    trace->event.kind = counter->name;
    trace->event.who = who;
    trace->event.field_count = 0;
    trace->texts.size = 0;
    begin_line(trace);
}

/* The index of the next field, whose key is written. */
static int begin_field(struct trace *trace, const char *key)
{
    FP_ASSERT(trace->phase == PHASE_BUILDING);
    FP_ASSERT(key != NULL);
    FP_ASSERT(trace->event.field_count < EVENT_FIELD_COUNT_MAX);
    strbuf_putc(&trace->lines, ',');
    strbuf_json_string(&trace->lines, key);
    strbuf_putc(&trace->lines, ':');
    return trace->event.field_count++;
}

void trace_text(struct trace *trace, const char *key, const char *text)
{
    int index = begin_field(trace, key);
    strbuf_json_string(&trace->lines, text);
    trace->event.fields[index] = (struct event_field){.key = key};
    trace->text_starts[index] = NO_TEXT;
    if (text == NULL)
        return;
    trace->text_starts[index] = trace->texts.size;
    strbuf_add(&trace->texts, text, strlen(text) + 1);
}

void trace_number(struct trace *trace, const char *key, int64_t number)
{
    int index = begin_field(trace, key);
    strbuf_int(&trace->lines, number);
    trace->event.fields[index] =
        (struct event_field){.key = key, .number = number, .is_number = true};
    trace->text_starts[index] = NO_TEXT;
}

/* The buffers have come to rest: offsets become pointers. */
static void fix_pointers(struct trace *trace)
{
    struct event *event = &trace->event;
    for (int i = 0; i < event->field_count; i++)
        if (trace->text_starts[i] != NO_TEXT)
            event->fields[i].text = trace->texts.text + trace->text_starts[i];
    event->line = trace->lines.text + trace->line_start;
}

static char *copy_bytes(const char *bytes, size_t size)
{
    char *copy = fp_alloc(size + 1);
    memcpy(copy, bytes, size);
    return copy;
}

/* The next recorded line for the eye, NULL when the recording has ended. */
static char *copy_expected(const struct trace *trace)
{
    size_t rest_size = (size_t)(trace->expected_end - trace->expected);
    if (rest_size == 0)
        return NULL;
    const char *newline = memchr(trace->expected, '\n', rest_size);
    size_t size = newline == NULL ? rest_size : (size_t)(newline - trace->expected);
    return copy_bytes(trace->expected, size);
}

static void differ(struct trace *trace, const char *happened, size_t happened_size)
{
    FP_ASSERT(!trace->difference.found);
    trace->difference.found = true;
    trace->difference.step = trace->step;
    trace->difference.recorded = copy_expected(trace);
    trace->difference.happened = happened == NULL ? NULL : copy_bytes(happened, happened_size);
}

/* The last recorded line may lack its newline. */
static void compare_line(struct trace *trace, const char *line, size_t size)
{
    size_t rest_size = (size_t)(trace->expected_end - trace->expected);
    bool is_same = rest_size >= size && memcmp(trace->expected, line, size) == 0 &&
                   (rest_size == size || trace->expected[size] == '\n');
    if (!is_same) {
        differ(trace, line, size);
        return;
    }
    trace->expected += rest_size == size ? size : size + 1;
}

static void call_observers(struct trace *trace)
{
    trace->phase = PHASE_OBSERVING;
    for (size_t i = 0; i < trace->observer_count; i++)
        trace->observers[i].observe(trace->observers[i].self, &trace->event);
    trace->phase = PHASE_READY;
}

/* The newline comes last, as observers read the line as a terminated text. */
void trace_end(struct trace *trace)
{
    FP_ASSERT(trace->phase == PHASE_BUILDING);
    strbuf_putc(&trace->lines, '}');
    fix_pointers(trace);
    const char *line = trace->event.line;
    size_t size = trace->lines.size - trace->line_start;

    trace->hash = XXH3_64bits_withSeed(line, size, trace->hash);
    trace->event_count++;
    if (trace->expected != NULL && !trace->difference.found)
        compare_line(trace, line, size);
    call_observers(trace);
    strbuf_putc(&trace->lines, '\n');
}

void trace_event(struct trace *trace, const char *kind, const char *who, ...)
{
    va_list pairs;
    trace_begin(trace, kind, who);
    va_start(pairs, who);
    const char *key = va_arg(pairs, const char *);
    while (key != NULL) {
        trace_text(trace, key, va_arg(pairs, const char *));
        key = va_arg(pairs, const char *);
    }
    va_end(pairs);
    trace_end(trace);
}

uint64_t trace_hash(const struct trace *trace)
{
    return trace->hash;
}

int64_t trace_event_count(const struct trace *trace)
{
    return trace->event_count;
}

size_t trace_kind_count(const struct trace *trace)
{
    return trace->kind_count;
}

const char *trace_kind_name(const struct trace *trace, size_t index)
{
    FP_ASSERT(index < trace->kind_count);
    return trace->kinds[index].name;
}

int64_t trace_kind_events(const struct trace *trace, size_t index)
{
    FP_ASSERT(index < trace->kind_count);
    return trace->kinds[index].event_count;
}

const struct strbuf *trace_lines(const struct trace *trace)
{
    return &trace->lines;
}

void trace_expect(struct trace *trace, const char *recorded_lines)
{
    FP_ASSERT(recorded_lines != NULL);
    FP_ASSERT(trace->event_count == 0);
    forget_difference(trace);
    trace->expected = recorded_lines;
    trace->expected_end = recorded_lines + strlen(recorded_lines);
}

const struct trace_difference *trace_diverged(const struct trace *trace)
{
    return &trace->difference;
}

void trace_expect_end(struct trace *trace)
{
    FP_ASSERT(trace->phase == PHASE_READY);
    if (trace->expected == NULL || trace->difference.found)
        return;
    if (trace->expected < trace->expected_end)
        differ(trace, NULL, 0);
}
