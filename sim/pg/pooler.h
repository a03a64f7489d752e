/* A pgbouncer of the lane's own, in transaction mode, between the sessions and the server.
 *
 * A session has a connection of the server's only from the first statement of a transaction to its
 * last. It gets the one that was given back last, or a new one when all are in use: with one
 * statement in flight that follows from the run alone. */
#ifndef FENCEPOST_POOLER_H
#define FENCEPOST_POOLER_H

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"
#include "sim/pg/server.h"

struct pooler;

/* Start one beside the server, with at most `pool_size` connections to it. ERR_INFRASTRUCTURE with
 * `why`: none found (and how to get one), or it does not start. Caller stops it. */
enum err pooler_start(const struct pg_beside *server, int pool_size, struct pooler **pooler,
                      struct strbuf *why);
/* NULL is allowed. */
void pooler_stop(struct pooler *pooler);
/* The process lives; asks nobody. */
bool pooler_lives(struct pooler *pooler);
/* The process lives and answers a new connection in time. */
bool pooler_is_well(struct pooler *pooler);
/* End its connections to the server, which must not be in use; those of the clients stay.
 * ERR_INFRASTRUCTURE with `why`. */
enum err pooler_empty(struct pooler *pooler, struct strbuf *why);

/* For the session of that slot, whose name the server then knows. Caller frees. */
char *pooler_conninfo(const struct pooler *pooler, int slot);
int pooler_size(const struct pooler *pooler);
/* For tests. */
int pooler_pid(const struct pooler *pooler);

#endif
