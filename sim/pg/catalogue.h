/* What a database has, as SQL that would make it: for those who read SQL. */
#ifndef FENCEPOST_CATALOGUE_H
#define FENCEPOST_CATALOGUE_H

#include "sim/core/err.h"
#include "sim/core/strbuf.h"

/* Is this a connection string, as --pg takes one? */
bool pg_catalogue_is_dsn(const char *text);

/* Can it be read as one? False with one line in `why`. Connects to nobody. */
bool pg_catalogue_check(const char *dsn, struct strbuf *why);

/* Connect, and give every type, table, constraint, index, trigger and function of the user's
 * schemas to `visit`, with its name and the statement. Both texts live only during the call. Only
 * reads. ERR_INFRASTRUCTURE: there is no answer, or it is an error; `why` has one line about it. */
enum err pg_catalogue_read(const char *dsn,
                           void (*visit)(void *self, const char *object, const char *sql),
                           void *self, struct strbuf *why);

#endif
