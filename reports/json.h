/* The report of a campaign as one JSON object, for machines. reports/README.md lists its fields. */
#ifndef FENCEPOST_REPORT_JSON_H
#define FENCEPOST_REPORT_JSON_H

#include "sim/hunt/campaign.h"

/* Appends one line. */
void report_json(const struct campaign_report *report, struct strbuf *out);

#endif
