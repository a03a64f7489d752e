/* For tests of what stands between the sessions and the server: statements, and the end of it. */
#ifndef FENCEPOST_BETWEEN_H
#define FENCEPOST_BETWEEN_H

#include "tests/lib/pg_fixture.h"

extern const struct rt_sql begin_sql, commit_sql, rollback_sql;

enum pg_answer between_send(struct pg_session *session, const struct rt_sql *sql,
                            const char *param);
/* Fails the test when the statement does; gives its first cell, or "". */
const char *between_ask(struct pg_session *session, const struct rt_sql *sql, const char *param);

/* Send the signal to our child, and wait until it is dead or has stopped. */
void between_signal(int pid, int number);
/* What is between has failed: nothing is believed, and the next clean slate works again. */
void between_is_spoilt_and_heals(void);

/* For main(): 77 with a reason when no program of the names is there, else the tests' own. */
int between_main(const char *const *names, const char *how_to_get_it, int (*run)(void));

#endif
