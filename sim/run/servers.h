/* The servers of a run beside its sessions: standbys, outages, failovers. */
#ifndef FENCEPOST_SERVERS_H
#define FENCEPOST_SERVERS_H

#include "sim/core/base.h"

struct fault_host;
struct run;
struct servers;

struct servers *servers_new(void);
void servers_free(struct servers *servers);

/* Something was committed just now. */
void servers_committed(struct run *run);
/* Before a statement on a standby: it shows what it shows at this time. False: trouble. */
bool servers_feed(struct run *run);
/* Is there nobody to connect to? */
bool servers_are_down(const struct run *run, bool standby);

/* The primary was struck: nobody can connect to it while that lasts. */
void servers_go_down(struct fault_host *host, const char *target);
/* Before that: at db.sent the server gets the statement and dies before it has answered. */
void servers_take_what_comes(const struct fault_host *host);

/* watched_rows.c: the watched tables before and after commits were taken back. */
struct table_rows;
/* As the primary has them now; caller frees. */
struct table_rows *watched_rows_read(struct run *run);
/* What is different now becomes row events by "failover". */
void watched_rows_report_lost(struct run *run, const struct table_rows *before);
void watched_rows_free(struct table_rows *rows);

#endif
