/* A server and a lane for a test group; started once, gone afterwards. */
#ifndef FENCEPOST_PG_FIXTURE_H
#define FENCEPOST_PG_FIXTURE_H

#include "sim/pg/lane.h"
#include "sim/pg/session.h"

/* cmocka group set-up and tear-down. */
int pg_fixture_open(void **state);
int pg_fixture_close(void **state);
struct pg_lane *pg_fixture_lane(void);
/* The connection string of the lane's database, for its administrator. */
const char *pg_fixture_dsn(void);

/* Put this schema into the database, with these gates; fails the test when it does not install. */
void pg_fixture_install(const char *schema_sql, const char *const *gates, size_t gate_count);
/* The same for a schema with everything said, and from a clean slate. */
void pg_fixture_install_schema(const struct pg_schema *schema);
/* A clean slate; fails the test when there is none. */
void pg_fixture_slate(void);
/* The first cell of the first row, as text of the fixture's own. */
const char *pg_fixture_value(const char *sql);

#endif
