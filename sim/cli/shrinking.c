#include "sim/cli/shrinking.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cli/interrupt.h"
#include "sim/cli/output.h"

/* "out/failures/x-1.jsonl" becomes "out/failures/x-1-small" and the ending. */
static char *small_file(const char *file, const char *ending)
{
    size_t size = strlen(file);
    if (size > 6 && strcmp(file + size - 6, ".jsonl") == 0)
        size -= 6;
    return fp_format("%.*s-small%s", (int)size, file, ending);
}

static bool write_files(const struct shrunk *shrunk, const struct single *single,
                        const struct shrink_report *report, struct strbuf *why)
{
    struct strbuf text = STRBUF_INIT, nothing = STRBUF_INIT;
    shrunk_write(shrunk, &text);
    bool good = failure_write(report->failure_file, shrunk->scenario, single->runs, &shrunk->result,
                              pg_lane_server_version(single->pg), why) &&
                failure_write_lines(report->scenario_file, &text, &nothing, why);
    strbuf_release(&text);
    return good;
}

int shrinking_run(struct single *single, const struct failure *failure, int64_t time_ns, bool quiet,
                  struct shrink_report *report, struct strbuf *why)
{
    struct shrink_watcher watcher;
    shrink_watcher_init(&watcher, stderr, output_is_terminal(stderr));
    struct shrink_options options = {.time_ns = time_ns,
                                     .watch = quiet ? NULL : shrink_watcher_tell,
                                     .watch_self = &watcher,
                                     .interrupted = interrupt_flag()};
    memset(report, 0, sizeof *report);
    report->found = shrink(single, failure, &options, &report->shrunk, why);
    shrink_watcher_end(&watcher);
    if (!report->found)
        return EXIT_UNKNOWN;
    report->failure_file = small_file(failure->file, ".jsonl");
    report->scenario_file = small_file(failure->file, ".yaml");
    return write_files(&report->shrunk, single, report, why) ? EXIT_PASS : EXIT_INFRASTRUCTURE;
}

void shrinking_release(struct shrink_report *report)
{
    free(report->failure_file);
    free(report->scenario_file);
    if (report->found)
        shrunk_release(&report->shrunk);
}
