/* The one template of this process, as the servers need it. */
#ifndef FENCEPOST_TEMPLATE_H
#define FENCEPOST_TEMPLATE_H

#include "sim/core/base.h"
#include "sim/pg/rundir.h"
#include "sim/pg/spawn.h"

struct pg_template {
    struct rundir rundir;
    struct server_user user;
    char *bin_dir;
    char *data_dir;
    char version[32];
};

/* Asserts that pg_template_make was called. */
const struct pg_template *pg_template_get(void);

/* The last lines of a file, for a message. Adds nothing when there are none. */
void log_tail(const char *path, struct strbuf *out);

#endif
