/* Writing failure files. Reading them is failure_read.c. */
#include "sim/hunt/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fp_version.h"
#include "sim/core/json_out.h"

/* ---- the header ---- */

static void put_scenario(struct json_out *out, const struct scenario *scenario)
{
    json_key(out, "scenario");
    json_object_begin(out);
    json_key(out, "name");
    json_string(out, scenario->name);
    json_key(out, "file");
    json_string(out, scenario->file);
    json_key(out, "source");
    json_string(out, scenario->source);
    json_key(out, "set");
    json_array_begin(out);
    for (size_t i = 0; i < scenario->override_count; i++)
        json_string(out, scenario->overrides[i]);
    json_array_end(out);
    json_object_end(out);
    json_key(out, "variant");
    json_string(out, scenario->variant);
}

static void put_verdict(struct json_out *out, const struct run_result *result)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, result->hash);
    json_key(out, "seed");
    json_uint(out, result->seed);
    json_key(out, "outcome");
    json_string(out, run_outcome_name(result->outcome));
    json_key(out, "invariant");
    json_string(out, result->invariant ? result->invariant->name : NULL);
    json_key(out, "step");
    json_int(out, result->step);
    json_key(out, "sentence");
    json_string(out, strbuf_str(&result->sentence));
    json_key(out, "hash");
    json_string(out, hash);
}

/* Streams without a value too: a stream that is not fed back draws from the seed. */
static void put_choices(struct json_out *out, const struct choices *choices)
{
    json_key(out, "choices");
    json_object_begin(out);
    for (size_t i = 0; i < choices_stream_count(choices); i++) {
        size_t value_count;
        const uint32_t *values = choices_values(choices, i, &value_count);
        json_key(out, choices_stream_name(choices, i));
        json_array_begin(out);
        for (size_t v = 0; v < value_count; v++)
            json_uint(out, values[v]);
        json_array_end(out);
    }
    json_object_end(out);
}

static void put_header(struct strbuf *text, const struct scenario *scenario,
                       const struct run_lane *lane, const struct run_result *result,
                       const char *server_version)
{
    struct json_out out;
    json_out_init(&out, text);
    json_object_begin(&out);
    json_key(&out, "fencepost");
    json_string(&out, "failure");
    json_key(&out, "format");
    json_int(&out, FAILURE_FORMAT);
    json_key(&out, "engine");
    json_int(&out, FP_ENGINE_VERSION);
    json_key(&out, "version");
    json_string(&out, FP_VERSION);
    json_key(&out, "commit");
    json_string(&out, FP_GIT_COMMIT);
    json_key(&out, "server");
    json_string(&out, server_version);
    put_scenario(&out, scenario);
    put_verdict(&out, result);
    json_key(&out, "events");
    json_int(&out, trace_event_count(run_lane_trace(lane)));
    put_choices(&out, run_lane_choices(lane));
    json_object_end(&out);
    json_out_finish(&out);
    strbuf_putc(text, '\n');
}

/* ---- the file ---- */

static bool refuse(struct strbuf *why, const char *file, const char *what)
{
    strbuf_printf(why, "%s: %s: %s", file, what, strerror(errno));
    return false;
}

static bool make_folders(const char *file, struct strbuf *why)
{
    char *path = fp_strdup(file);
    bool good = true;
    for (char *slash = strchr(path + 1, '/'); slash && good; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            good = refuse(why, path, "the folder cannot be made");
        *slash = '/';
    }
    free(path);
    return good;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static bool write_temporary(const char *file, const struct strbuf *head, const struct strbuf *body)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool good =
        write_all(fd, strbuf_str(head), head->size) && write_all(fd, strbuf_str(body), body->size);
    int error = errno;
    if (close(fd) != 0 && good)
        return false;
    errno = error;
    return good;
}

bool failure_write_lines(const char *file, const struct strbuf *head, const struct strbuf *body,
                         struct strbuf *why)
{
    if (!make_folders(file, why))
        return false;
    char *temporary = fp_format("%s.%ld.tmp", file, (long)getpid());
    bool good = write_temporary(temporary, head, body) && rename(temporary, file) == 0;
    if (!good) {
        refuse(why, file, "cannot be written");
        unlink(temporary);
    }
    free(temporary);
    return good;
}

bool failure_write(const char *file, const struct scenario *scenario, const struct run_lane *lane,
                   const struct run_result *result, const char *server_version, struct strbuf *why)
{
    FP_ASSERT(result->seed <= INT64_MAX);
    struct strbuf head = STRBUF_INIT;
    put_header(&head, scenario, lane, result, server_version);
    bool good = failure_write_lines(file, &head, trace_lines(run_lane_trace(lane)), why);
    strbuf_release(&head);
    return good;
}
