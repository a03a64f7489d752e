/* One line that says how far a campaign is: rewritten on a terminal, now and then elsewhere. */
#ifndef FENCEPOST_PROGRESS_H
#define FENCEPOST_PROGRESS_H

#include <stdio.h>

#include "sim/hunt/campaign.h"

#define PROGRESS_INTERVAL_NS (100 * NS_PER_MS)
#define PROGRESS_PLAIN_INTERVAL_NS (5 * NS_PER_S)

struct progress {
    FILE *file;
    bool is_terminal;
    bool is_drawn;
    int64_t shown_ns; /* elapsed time of the last line */
};

void progress_init(struct progress *progress, FILE *file, bool is_terminal);
/* A campaign_watch; `self` is a struct progress. */
void progress_watch(void *self, const struct campaign_progress *now);
/* Takes the line away again. */
void progress_end(struct progress *progress);

/* "  412/2000 seeds  183/s  2 violations  0:09 left  zombie-worker" */
void progress_line(const struct campaign_progress *now, struct strbuf *out);

#endif
