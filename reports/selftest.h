/* What the harness found out about itself. docs/selftest.md says how to read it. */
#ifndef FENCEPOST_REPORT_SELFTEST_H
#define FENCEPOST_REPORT_SELFTEST_H

#include "sim/hunt/selftest.h"

/* A line per weakness, then what is doubtful, then what is wrong. */
void report_selftest(const struct selftest_report *report, struct strbuf *out);
/* One JSON object on one line. */
void report_selftest_json(const struct selftest_report *report, struct strbuf *out);
/* The table of one strategy's weaknesses, for a README. */
void report_selftest_markdown(const struct selftest_report *report, const struct strategy *strategy,
                              struct strbuf *out);

/* The text of a page with the table put between the two lines that are kept for it:
 *     <!-- selftest STRATEGY -->
 *     <!-- end of selftest -->
 * False with `why`: they are not there. */
bool report_selftest_page(const struct selftest_report *report, const struct strategy *strategy,
                          const char *page, struct strbuf *out, struct strbuf *why);

#endif
