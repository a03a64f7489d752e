#include "reports/events.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/duration.h"

#define TAIL_COUNT_MAX 256
#define VALUE_SIZE_MAX 72
#define STEP_PREFIX "{\"step\":"

struct line {
    const char *text;
    size_t size;
};

/* How an event of a kind reads: {key} is the value of a field, [a part in brackets] is left out
 * when a field of it is absent. What is not here is listed key by key. */
static const struct {
    const char *kind, *phrase;
} phrases[] = {
    {"effect.start", "{op} {part} of {resource}, accepted: {accepted} (job {job}, run {run}, "
                     "token {token})"},
    {"db.exec", "{sql}[ ({params})][ -> {result}][: {rows}][ -> {sqlstate} {message}]"},
    {"effect.end", "effect {effect} is over: {result}"},
    {"queue.sent", "{body} to group {group}"},
    {"fault.crash", "at {point} {operation}, back after {restart_after_ns}"},
    {"fault.pause", "at {point} {operation}, for {duration_ns}"},
};

/* ---- values ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static void put_text(struct strbuf *out, const char *text)
{
    size_t size = strlen(text);
    bool is_long = size > VALUE_SIZE_MAX;
    size_t end = is_long ? VALUE_SIZE_MAX : size;
    while (is_long && end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    for (size_t i = 0; i < end; i++)
        strbuf_putc(out, (unsigned char)text[i] < ' ' ? ' ' : text[i]);
    if (is_long)
        strbuf_puts(out, "...");
}

static void put_value(struct strbuf *out, const char *key, const json_t *value)
{
    char duration[DURATION_TEXT_SIZE];
    if (json_is_integer(value) && ends_with(key, "_ns")) {
        int64_t ns = json_integer_value(value);
        strbuf_puts(out, ns < 0 ? "never" : duration_text(ns, duration));
    } else if (json_is_integer(value)) {
        strbuf_int(out, json_integer_value(value));
    } else if (json_is_string(value)) {
        put_text(out, json_string_value(value));
    } else {
        strbuf_puts(out, "null");
    }
}

static bool is_frame(const char *key)
{
    return strcmp(key, "step") == 0 || strcmp(key, "t") == 0 || strcmp(key, "ev") == 0 ||
           strcmp(key, "who") == 0;
}

static void put_list(struct strbuf *out, json_t *event)
{
    const char *comma = "";
    for (void *at = json_object_iter(event); at; at = json_object_iter_next(event, at)) {
        const char *key = json_object_iter_key(at);
        if (is_frame(key))
            continue;
        strbuf_printf(out, "%s%s ", comma, key);
        put_value(out, key, json_object_iter_value(at));
        comma = ", ";
    }
}

/* The value for "{key}..."; returns what comes after the brace. */
static const char *put_place(struct strbuf *out, const json_t *event, const char *place)
{
    const char *end = strchr(place, '}');
    char key[32];
    FP_ASSERT(end);
    size_t size = (size_t)(end - place) - 1;
    FP_ASSERT(size < sizeof key);
    memcpy(key, place + 1, size);
    key[size] = '\0';
    const json_t *value = json_object_get(event, key);
    if (!value)
        return NULL;
    put_value(out, key, value);
    return end + 1;
}

static void put_phrase(struct strbuf *out, const json_t *event, const char *phrase)
{
    size_t part_start = out->size;
    while (phrase && *phrase != '\0') {
        if (*phrase == '[' || *phrase == ']') {
            part_start = out->size;
            phrase++;
            continue;
        }
        if (*phrase != '{') {
            strbuf_putc(out, *phrase++);
            continue;
        }
        const char *next = put_place(out, event, phrase);
        if (!next) {
            out->size = part_start;
            out->text[out->size] = '\0';
            next = strchr(phrase, ']');
        }
        phrase = next;
    }
}

static const char *phrase_of(const char *kind)
{
    for (size_t i = 0; i < FP_COUNT(phrases); i++)
        if (strcmp(phrases[i].kind, kind) == 0)
            return phrases[i].phrase;
    return NULL;
}

/* ---- lines ---- */

static bool put_event(struct strbuf *out, json_t *event)
{
    char time[DURATION_TEXT_SIZE];
    const json_t *t = json_object_get(event, "t");
    const char *kind = json_string_value(json_object_get(event, "ev"));
    const char *who = json_string_value(json_object_get(event, "who"));
    if (!json_is_integer(t) || !kind || !who)
        return false;
    strbuf_printf(out, "  %-10s  %-18s  %-15s ", duration_text(json_integer_value(t), time), who,
                  kind);
    const char *phrase = phrase_of(kind);
    if (phrase)
        put_phrase(out, event, phrase);
    else
        put_list(out, event);
    while (out->size > 0 && out->text[out->size - 1] == ' ')
        out->text[--out->size] = '\0';
    strbuf_putc(out, '\n');
    return true;
}

static void put_line(struct strbuf *out, const struct line *line)
{
    json_error_t error;
    json_t *event = json_loadb(line->text, line->size, 0, &error);
    if (!json_is_object(event) || !put_event(out, event)) {
        strbuf_puts(out, "  ");
        strbuf_add(out, line->text, line->size);
        strbuf_putc(out, '\n');
    }
    json_decref(event);
}

/* The step stands at the front of the line, so most lines need not be parsed. */
static int64_t step_of(const struct line *line)
{
    size_t prefix_size = strlen(STEP_PREFIX);
    if (line->size <= prefix_size || memcmp(line->text, STEP_PREFIX, prefix_size) != 0)
        return 0;
    return strtoll(line->text + prefix_size, NULL, 10);
}

static struct line next_line(const char **at)
{
    const char *newline = strchr(*at, '\n');
    struct line line = {*at, newline ? (size_t)(newline - *at) : strlen(*at)};
    *at += newline ? line.size + 1 : line.size;
    return line;
}

void report_events(const char *lines, int64_t step, size_t count, struct strbuf *out)
{
    struct line tail[TAIL_COUNT_MAX];
    size_t seen = 0;
    FP_ASSERT(count > 0 && count <= TAIL_COUNT_MAX);
    while (*lines != '\0') {
        struct line line = next_line(&lines);
        if (step >= 0 && step_of(&line) > step)
            break;
        tail[seen++ % count] = line;
    }
    for (size_t i = seen > count ? seen - count : 0; i < seen; i++)
        put_line(out, &tail[i % count]);
}
