/* Reading failure files. They come from other machines and other versions: nothing in them is
 * believed before it was looked at. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/hunt/failure.h"

#define HASH_DIGIT_COUNT 16

struct reading {
    const char *file;
    struct strbuf *why;
};

static bool refuse(const struct reading *reading, int64_t line, const char *format, ...)
    FP_PRINTF(3, 4);

static bool refuse(const struct reading *reading, int64_t line, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line > 0)
        strbuf_printf(reading->why, "%s:%" PRId64 ": %s", reading->file, line, text);
    else
        strbuf_printf(reading->why, "%s: %s", reading->file, text);
    return false;
}

/* ---- the bytes ---- */

static bool check_kind(const struct reading *reading, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return refuse(reading, 0, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(status.st_mode))
        return refuse(reading, 0, "is a directory, expected a failure file");
    if (S_ISREG(status.st_mode) && status.st_size > FAILURE_FILE_SIZE_MAX)
        return refuse(reading, 0, "larger than %d MiB, no failure file is",
                      FAILURE_FILE_SIZE_MAX / 1024 / 1024);
    return true;
}

static bool read_bytes(const struct reading *reading, int fd, struct strbuf *text)
{
    static const size_t chunk_size = 65536;
    while (text->size <= FAILURE_FILE_SIZE_MAX) {
        strbuf_reserve(text, chunk_size + 1);
        ssize_t got = read(fd, text->text + text->size, chunk_size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(reading, 0, "cannot be read: %s", strerror(errno));
        if (got == 0)
            break;
        text->size += (size_t)got;
        text->text[text->size] = '\0';
    }
    if (text->size > FAILURE_FILE_SIZE_MAX)
        return refuse(reading, 0, "larger than %d MiB, no failure file is",
                      FAILURE_FILE_SIZE_MAX / 1024 / 1024);
    return text->size > 0 || refuse(reading, 0, "the file is empty");
}

static bool read_file(const struct reading *reading, struct strbuf *text)
{
    int fd = open(reading->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return refuse(reading, 0, "there is no such file");
    if (fd < 0)
        return refuse(reading, 0, "cannot be opened: %s", strerror(errno));
    bool good = check_kind(reading, fd) && read_bytes(reading, fd, text);
    close(fd);
    return good;
}

/* ---- the header's values ---- */

static bool get_text(const struct reading *reading, const json_t *object, const char *key,
                     char **text)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return refuse(reading, 1, "damaged: `%s` must be a text", key);
    *text = fp_strdup(json_string_value(value));
    return true;
}

static bool get_text_or_null(const struct reading *reading, const json_t *object, const char *key,
                             char **text)
{
    if (json_is_null(json_object_get(object, key)))
        return true;
    return get_text(reading, object, key, text);
}

static bool get_number(const struct reading *reading, const json_t *object, const char *key,
                       int64_t high, int64_t *number)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > high)
        return refuse(reading, 1, "damaged: `%s` must be an integer, 0..%" PRId64, key, high);
    *number = json_integer_value(value);
    return true;
}

static bool get_hash(const struct reading *reading, const json_t *root, uint64_t *hash)
{
    const char *text = json_string_value(json_object_get(root, "hash"));
    size_t size = text ? strlen(text) : 0;
    bool good = size == HASH_DIGIT_COUNT;
    for (size_t i = 0; good && i < size; i++)
        good = isxdigit((unsigned char)text[i]) != 0;
    if (!good)
        return refuse(reading, 1, "damaged: `hash` must be %d hexadecimal digits",
                      HASH_DIGIT_COUNT);
    *hash = strtoull(text, NULL, 16);
    return true;
}

static bool get_overrides(const struct reading *reading, const json_t *scenario,
                          struct failure *failure)
{
    const json_t *list = json_object_get(scenario, "set");
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > SCENARIO_OVERRIDE_COUNT_MAX)
        return refuse(reading, 1, "damaged: `set` must be a list of at most %d texts",
                      SCENARIO_OVERRIDE_COUNT_MAX);
    failure->overrides = fp_alloc(count * sizeof failure->overrides[0]);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            return refuse(reading, 1, "damaged: entry %zu of `set` must be a text", i);
        failure->overrides[failure->override_count++] = fp_strdup(text);
    }
    return true;
}

static bool get_scenario(const struct reading *reading, const json_t *root, struct failure *failure)
{
    const json_t *scenario = json_object_get(root, "scenario");
    if (!json_is_object(scenario))
        return refuse(reading, 1, "damaged: `scenario` must be an object");
    return get_text(reading, scenario, "file", &failure->scenario_file) &&
           get_text(reading, scenario, "source", &failure->scenario_source) &&
           get_overrides(reading, scenario, failure);
}

static bool get_outcome(const struct reading *reading, const json_t *root, struct failure *failure)
{
    if (!get_text(reading, root, "outcome", &failure->outcome))
        return false;
    for (int i = 0; i < RUN_OUTCOME_COUNT; i++)
        if (strcmp(failure->outcome, run_outcome_name((enum run_outcome)i)) == 0)
            return true;
    return refuse(reading, 1, "damaged: there is no outcome `%s`", failure->outcome);
}

/* ---- the choices ---- */

static bool get_values(const struct reading *reading, const char *name, const json_t *list,
                       struct replay_stream *stream)
{
    size_t count = json_array_size(list);
    size_t name_size = strlen(name) + 1;
    if (name_size == 1 || name_size > CHOICE_NAME_SIZE_MAX)
        return refuse(reading, 1, "damaged: a stream of choices has the name `%.64s`", name);
    if (!json_is_array(list))
        return refuse(reading, 1, "damaged: the choices of `%s` must be a list", name);
    uint32_t *values = fp_alloc(count * sizeof values[0]);
    stream->name = fp_strdup(name);
    stream->values = values;
    stream->value_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        json_int_t number = json_integer_value(value);
        if (!json_is_integer(value) || number < 0 || number > UINT32_MAX)
            return refuse(reading, 1, "damaged: choice %zu of `%s` must be an integer, 0..%" PRIu32,
                          i, name, UINT32_MAX);
        values[i] = (uint32_t)number;
    }
    return true;
}

static bool get_choices(const struct reading *reading, json_t *root, struct failure *failure)
{
    json_t *choices = json_object_get(root, "choices");
    size_t count = json_object_size(choices);
    if (!json_is_object(choices) || count > CHOICE_STREAM_COUNT_MAX)
        return refuse(reading, 1, "damaged: `choices` must be an object of at most %d lists",
                      CHOICE_STREAM_COUNT_MAX);
    failure->streams = fp_alloc(count * sizeof failure->streams[0]);
    for (void *at = json_object_iter(choices); at; at = json_object_iter_next(choices, at)) {
        struct replay_stream *stream = &failure->streams[failure->stream_count++];
        if (!get_values(reading, json_object_iter_key(at), json_object_iter_value(at), stream))
            return false;
    }
    return true;
}

/* ---- the header ---- */

static bool check_format(const struct reading *reading, const json_t *root)
{
    const char *what = json_string_value(json_object_get(root, "fencepost"));
    const json_t *format = json_object_get(root, "format");
    if (!what || strcmp(what, "failure") != 0)
        return refuse(reading, 1, "not a failure file of fencepost");
    if (!json_is_integer(format))
        return refuse(reading, 1, "damaged: `format` must be an integer");
    if (json_integer_value(format) != FAILURE_FORMAT)
        return refuse(reading, 1,
                      "format %" JSON_INTEGER_FORMAT " is unknown, this fencepost reads %d",
                      json_integer_value(format), FAILURE_FORMAT);
    return true;
}

static bool take_header(const struct reading *reading, json_t *root, struct failure *failure)
{
    int64_t seed, engine;
    if (!check_format(reading, root) || !get_number(reading, root, "engine", INT32_MAX, &engine) ||
        !get_number(reading, root, "seed", INT64_MAX, &seed))
        return false;
    failure->engine_version = (int)engine;
    failure->seed = (uint64_t)seed;
    return get_text_or_null(reading, root, "server", &failure->server_version) &&
           get_scenario(reading, root, failure) && get_outcome(reading, root, failure) &&
           get_text_or_null(reading, root, "invariant", &failure->invariant) &&
           get_number(reading, root, "step", INT64_MAX, &failure->step) &&
           get_text(reading, root, "sentence", &failure->sentence) &&
           get_hash(reading, root, &failure->hash) &&
           get_number(reading, root, "events", INT64_MAX, &failure->event_count) &&
           get_choices(reading, root, failure);
}

static bool read_header(const struct reading *reading, const char *line, size_t size,
                        struct failure *failure)
{
    json_error_t error;
    json_t *root = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return refuse(reading, 1, "not a failure file: column %d: %s", error.column, error.text);
    bool good = json_is_object(root) ? take_header(reading, root, failure)
                                     : refuse(reading, 1, "not a failure file of fencepost");
    json_decref(root);
    return good;
}

/* ---- the events ---- */

static bool check_line(const struct reading *reading, int64_t number, const char *line, size_t size)
{
    if (memchr(line, '\0', size))
        return refuse(reading, number, "damaged: a NUL byte");
    if (size < 2 || line[0] != '{' || line[size - 1] != '}')
        return refuse(reading, number, "damaged: not an event");
    return true;
}

static bool check_events(const struct reading *reading, const char *lines, size_t size,
                         int64_t event_count)
{
    const char *end = lines + size;
    int64_t count = 0;
    while (lines < end) {
        const char *newline = memchr(lines, '\n', (size_t)(end - lines));
        if (!newline)
            return refuse(reading, count + 2, "the file is cut off here");
        if (!check_line(reading, count + 2, lines, (size_t)(newline - lines)))
            return false;
        lines = newline + 1;
        count++;
    }
    if (count < event_count)
        return refuse(reading, count + 2,
                      "the file is cut off here: %" PRId64 " of %" PRId64 " events", count,
                      event_count);
    return count == event_count || refuse(reading, count + 1,
                                          "damaged: more events than the header "
                                          "says (%" PRId64 ")",
                                          event_count);
}

static bool take_text(const struct reading *reading, const struct strbuf *text,
                      struct failure *failure)
{
    const char *newline = memchr(text->text, '\n', text->size);
    size_t head_size = newline ? (size_t)(newline - text->text) : text->size;
    if (!read_header(reading, text->text, head_size, failure))
        return false;
    if (!newline)
        return refuse(reading, 1, "the file is cut off here");
    const char *lines = newline + 1;
    if (!check_events(reading, lines, text->size - head_size - 1, failure->event_count))
        return false;
    failure->lines = fp_strdup(lines);
    return true;
}

struct failure *failure_read(const char *file, struct strbuf *why)
{
    struct reading reading = {file, why};
    struct strbuf text = STRBUF_INIT;
    struct failure *failure = fp_alloc(sizeof *failure);
    failure->file = fp_strdup(file);
    if (!read_file(&reading, &text) || !take_text(&reading, &text, failure)) {
        failure_free(failure);
        failure = NULL;
    }
    strbuf_release(&text);
    return failure;
}

void failure_free(struct failure *failure)
{
    if (!failure)
        return;
    for (size_t i = 0; i < failure->override_count; i++)
        free(failure->overrides[i]);
    for (size_t i = 0; i < failure->stream_count; i++) {
        free((char *)failure->streams[i].name);
        free((uint32_t *)failure->streams[i].values);
    }
    free(failure->overrides);
    free(failure->streams);
    free(failure->file);
    free(failure->scenario_file);
    free(failure->scenario_source);
    free(failure->server_version);
    free(failure->outcome);
    free(failure->invariant);
    free(failure->sentence);
    free(failure->lines);
    free(failure);
}
