/* What a run ran on, and what cannot be promised there. */
#ifndef FENCEPOST_REPORT_ENVIRONMENT_H
#define FENCEPOST_REPORT_ENVIRONMENT_H

#include "sim/core/json_out.h"
#include "sim/hunt/campaign.h"

/* "2 servers of PostgreSQL 15.18 in docker (postgres:15)". */
void report_environment(const struct pg_environment *environment, int lane_count,
                        struct strbuf *out);
/* The key "environment" and its object. */
void report_environment_json(const struct pg_environment *environment, struct json_out *out);

#endif
