/* Between actors and the database: partitions, and how many connections there may be. */
#ifndef FENCEPOST_NETWORK_H
#define FENCEPOST_NETWORK_H

#include "sim/core/base.h"

struct actor;
struct rt;
struct rt_db;
struct run;

enum network { NETWORK_UP, NETWORK_REFUSED, NETWORK_HANGING };

/* Until the database can be reached. False: it refuses, or the client's patience has run out.
 * Suspends only when nothing comes through. */
bool network_reach(struct rt *rt, int64_t patience_ns);
bool network_hangs(const struct rt_db *db);
/* From now on this actor can reach the database, or not. */
void network_set(struct run *run, struct actor *actor, enum network network);

/* Until there is a place for one more connection. False: there was none for too long. Suspends only
 * when there is none. */
bool pool_admits(struct rt *rt, const char *label);
/* A connection has ended: those who wait for a place look again. */
void pool_wake(struct run *run);

#endif
