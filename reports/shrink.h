/* What shrinking says: a line while it works, and what came of it. */
#ifndef FENCEPOST_REPORT_SHRINK_H
#define FENCEPOST_REPORT_SHRINK_H

#include <stdio.h>

#include "sim/hunt/shrink.h"

struct shrink_report {
    bool found;
    struct shrunk shrunk; /* only then */
    char *failure_file, *scenario_file;
};

void report_shrink(const struct shrink_report *report, struct strbuf *out);
void report_shrink_json(const struct shrink_report *report, struct strbuf *out);

/* The line: rewritten on a terminal, now and then elsewhere. */
struct shrink_watcher {
    FILE *file;
    bool is_terminal, is_drawn;
    int64_t shown_ns; /* elapsed time of the last line */
};
void shrink_watcher_init(struct shrink_watcher *watcher, FILE *file, bool is_terminal);
/* A shrink_watch; `self` is a struct shrink_watcher. */
void shrink_watcher_tell(void *self, const struct shrink_progress *progress);
/* Takes the line away again. */
void shrink_watcher_end(struct shrink_watcher *watcher);

#endif
