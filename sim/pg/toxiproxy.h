/* A toxiproxy process of the lane's own, and the few calls of its API that a cut needs.
 *
 * Every connection gets a proxy of its own, and a cut ends both: a toxic is never removed, which
 * is known to hang the whole API. Every call has a deadline. */
#ifndef FENCEPOST_TOXIPROXY_H
#define FENCEPOST_TOXIPROXY_H

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"
#include "sim/pg/server.h"

#define TOXIPROXY_NAME_SIZE 32

struct toxiproxy;

/* Once a process, before lanes are forked: when the options name a container ("docker", or
 * "docker:IMAGE"), the engine is asked and the image fetched. ERR_INFRASTRUCTURE with `why`. */
enum err toxiproxy_prepare(const struct pg_server_options *options, struct strbuf *why);
void toxiproxy_release(void);
bool toxiproxy_is_container(const struct pg_server_options *options);

/* Start one beside the server, and wait until its API answers. ERR_INFRASTRUCTURE with `why`: none
 * found (and how to get one), not a toxiproxy, or it does not start. Caller stops it. */
enum err toxiproxy_start(const struct pg_beside *server, struct toxiproxy **toxiproxy,
                         struct strbuf *why);
/* NULL is allowed. */
void toxiproxy_stop(struct toxiproxy *toxiproxy);
/* The process lives and its API answers a new connection in time. */
bool toxiproxy_is_well(struct toxiproxy *toxiproxy);
/* The process lives; asks nobody. */
bool toxiproxy_lives(struct toxiproxy *toxiproxy);

/* A proxy to 127.0.0.1:`upstream_port`. Fills its name; `host` is owned by the toxiproxy.
 * ERR_INFRASTRUCTURE with `why`. */
enum err toxiproxy_add(struct toxiproxy *toxiproxy, int upstream_port,
                       char name[static TOXIPROXY_NAME_SIZE], const char **host, int *port,
                       struct strbuf *why);
/* From the next byte in that direction on nothing passes, and both ends are closed. Returns when
 * the open connection has switched. ERR_INFRASTRUCTURE with `why`. */
enum err toxiproxy_limit(struct toxiproxy *toxiproxy, const char *name, bool upstream,
                         struct strbuf *why);
/* Its connection is closed at both ends, and it is gone. ERR_INFRASTRUCTURE with `why`. */
enum err toxiproxy_remove(struct toxiproxy *toxiproxy, const char *name, struct strbuf *why);

/* For tests. */
int toxiproxy_pid(const struct toxiproxy *toxiproxy);

#endif
