/* A PostgreSQL server of our own: made, started, stopped, and gone afterwards in every case. */
#ifndef FENCEPOST_SERVER_H
#define FENCEPOST_SERVER_H

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"

struct pg_server;

struct pg_server_options {
    const char *bin_dir;  /* NULL: look in PATH and in the usual places */
    const char *work_dir; /* NULL: FENCEPOST_TMPDIR, /dev/shm when it has room, else /tmp */
    int cpu;              /* pin the server to this CPU; -1: do not */
};

/* Where the server's programs are. ERR_INFRASTRUCTURE: none found; `why` says where it looked and
 * how to get them. On ERR_OK `dir` is filled. */
enum err pg_find_binaries(const char *wanted_dir, struct strbuf *dir, struct strbuf *why);

/* Make the template data directory once for this process (initdb), under a run directory that
 * belongs to this process. Call before lanes are forked. ERR_INFRASTRUCTURE with `why`. Also starts
 * the reaper, a child process that cleans up when this process and every lane forked from it are
 * dead: waitpid(-1) in this process may see it. */
enum err pg_template_make(const struct pg_server_options *options, struct strbuf *why);
/* Removes the run directory of this process with everything in it; servers that still run there are
 * killed. Does nothing when there is none, and in a forked lane. */
void pg_template_remove(void);

/* Copy the template and start a server on it: Unix socket only. ERR_INFRASTRUCTURE with `why`.
 * Caller ends it with pg_server_stop. May be called in a forked lane. What an earlier, dead user of
 * the same lane number left is removed first. The server dies with the thread that calls this. */
enum err pg_server_start(const struct pg_server_options *options, int lane,
                         struct pg_server **server, struct strbuf *why);
/* Immediate stop, directory removed, also when backends are stopped. NULL is allowed. */
void pg_server_stop(struct pg_server *server);

/* "host=... dbname=fencepost user=..."; owned by the server. The first is for the actors' sessions:
 * the role fencepost, no superuser, owner of the database, deadlock_timeout 50 ms. The second is
 * for the harness: the superuser fencepost_admin. */
const char *pg_server_conninfo(const struct pg_server *server);
const char *pg_server_admin_conninfo(const struct pg_server *server);
const char *pg_server_version(const struct pg_server *server); /* "15.18" */
/* May this process send signals to the backends? */
bool pg_server_can_signal(const struct pg_server *server);
/* The last lines of the server's log, for an infrastructure message. */
void pg_server_log_tail(const struct pg_server *server, struct strbuf *out);

/* Find what dead fenceposts left behind (servers, directories) and remove it. Never touches what
 * belongs to a living one or is not ours. Returns how many run directories were removed. */
int pg_remove_leftovers(const struct pg_server_options *options);

#endif
