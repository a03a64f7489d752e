/* The way of a lane's sessions to its server: straight, through a toxiproxy, or through a pooler.
 *
 * What stands between may die or hang. That says nothing about a design: the run is spoilt, the
 * program is started anew, and the seed is repeated. */
#ifndef FENCEPOST_ROUTE_H
#define FENCEPOST_ROUTE_H

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"
#include "sim/pg/lane.h"
#include "sim/pg/session.h"

/* What the schema asks for, from now on. No session may be connected. ERR_INFRASTRUCTURE with
 * `why`. */
enum err route_install(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why);
/* For a clean slate, with no session in use: what is between lives, and a pooler has no connection
 * left. ERR_INFRASTRUCTURE with `why`. */
enum err route_ready(struct pg_lane *lane, struct strbuf *why);
void route_close(struct pg_lane *lane);

/* How this session is to connect; NULL: what is between fails, the run is spoilt. Caller frees. */
char *route_conninfo(struct pg_session *session);
/* Its connection is gone, or was never made. */
void route_forget(struct pg_session *session);

/* What is between cannot be trusted any more: it is stopped, and the run is spoilt. Does nothing
 * when there is nothing between. */
void route_spoil(struct pg_lane *lane);
/* The same, with the reason as the lane's trouble. Always ERR_INFRASTRUCTURE. */
enum err route_trouble(struct pg_lane *lane, const char *why);
/* A connection has ended and nobody asked for it. PG_LOST: the server did it; PG_TROUBLE: what is
 * between is dead or dumb, the run is spoilt. */
enum pg_answer route_lost(struct pg_session *session);
/* No answer for a while: has what is between gone dumb? Asks it now and then. */
bool route_is_dumb(struct pg_lane *lane, int64_t *asked_ns);

/* ---- with a pooler ---- */

/* Learn which backend serves which session just now; pid 0: none. Nothing to learn without one. */
enum err route_locate(struct pg_lane *lane);
/* Every connection to the server is in use by others, and this session needs one. */
bool route_is_exhausted(const struct pg_session *session);
/* The session was cut: wait until the server has noticed. */
enum err route_wait_gone(struct pg_session *session, int pid);

#endif
