/* The report of a campaign for people. */
#ifndef FENCEPOST_REPORT_TERMINAL_H
#define FENCEPOST_REPORT_TERMINAL_H

#include "sim/hunt/campaign.h"

#define TERMINAL_FINDING_COUNT_MAX 10

/* A table with one line per scenario, what was tried, what the database went through, which broken
 * designs were caught; last, everything that was not expected, each with the command that shows it.
 * Nothing when nothing was run. */
void report_terminal(const struct campaign_report *report, bool colour, struct strbuf *out);
/* How often each kind of event happened, and of jobs, faults and alerts each class, by scenario.
 * For whoever asks whether something was reached at all. */
void report_terminal_reached(const struct campaign_report *report, struct strbuf *out);
/* What was measured, by scenario: effects that were done twice, and durations. */
void report_terminal_measured(const struct campaign_report *report, struct strbuf *out);
/* The last part alone; nothing when all is as expected. */
void report_terminal_findings(const struct campaign_report *report, bool colour,
                              struct strbuf *out);

/* The command that runs the seed again. */
void report_replay_command(const struct scenario *scenario, uint64_t seed, const char *failure_file,
                           struct strbuf *out);

#endif
