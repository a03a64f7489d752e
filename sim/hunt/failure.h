/* Failure files: everything that is needed to see a run again, exactly.
 *
 * One JSON object in the first line (scenario with its text, seed, choices, engine version, hash,
 * verdict), then the events, one a line. */
#ifndef FENCEPOST_FAILURE_H
#define FENCEPOST_FAILURE_H

#include "sim/run/run.h"
#include "sim/scenario/scenario.h"

#define FAILURE_FILE_SIZE_MAX (256 * 1024 * 1024)
#define FAILURE_FORMAT 1

/* Write the last run of `lane`, by rename, so that a file is there whole or not at all. `file` is
 * created with its folders. False with `why`: disk full, no permission. The seed is below 2^63,
 * which is what other readers of JSON can take. */
bool failure_write(const char *file, const struct scenario *scenario, const struct run_lane *lane,
                   const struct run_result *result, const char *server_version, struct strbuf *why);

/* The same care for other files of lines: `head`, then `body`. */
bool failure_write_lines(const char *file, const struct strbuf *head, const struct strbuf *body,
                         struct strbuf *why);

struct failure {
    char *file;
    char *scenario_file, *scenario_source;
    char **overrides; /* --set, as given */
    size_t override_count;
    uint64_t seed;
    int engine_version;
    char *server_version;
    char *outcome, *invariant, *sentence; /* invariant: NULL when none failed */
    int64_t step;
    uint64_t hash;
    int64_t event_count;
    struct replay_stream *streams;
    size_t stream_count;
    char *lines; /* the events */
};

/* NULL with `why` ("FILE:LINE: ..."): missing, not a failure file, damaged, unknown version. */
struct failure *failure_read(const char *file, struct strbuf *why);
void failure_free(struct failure *failure);

#endif
