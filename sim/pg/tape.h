/* A tape: what the sessions of a lane sent to the server, written down, so that plain libpq can
 * send it again without a harness. For measuring what the harness costs.
 *
 * A tape holds takes, one per run, each from a clean slate on. Not every take can be played:
 * without the harness nobody keeps the order of those who wait for the same lock. */
#ifndef FENCEPOST_TAPE_H
#define FENCEPOST_TAPE_H

#include "sim/pg/lane.h"
#include "sim/pg/session.h"

struct tape;

struct tape *tape_new(void);
/* NULL is allowed. */
void tape_free(struct tape *tape);

/* Write down what happens in the lane from now on, into the tape's last take; NULL: no more. The
 * tape stays the caller's and outlives its use. The statements (struct rt_sql) outlive the tape. */
void pg_lane_record(struct pg_lane *lane, struct tape *tape);

void tape_begin_take(struct tape *tape);
/* Forget the last take. */
void tape_drop_take(struct tape *tape);
size_t tape_take_count(const struct tape *tape);
/* Can the last take be played? Not when two waited for locks at once, or a statement was never
 * answered. */
bool tape_is_playable(const struct tape *tape);
/* Over all takes. */
int64_t tape_statement_count(const struct tape *tape);

/* For the lane: the clean slate that begins the last take anew, and what its sessions do. The
 * answer is that of the statement sent last; one that waited is finished later. */
void tape_slate(struct tape *tape);
void tape_open(struct tape *tape, int slot);
void tape_close(struct tape *tape, int slot);
void tape_cut(struct tape *tape, int slot);
void tape_send(struct tape *tape, int slot, const struct rt_sql *sql, const char *const *params);
void tape_answer(struct tape *tape, enum pg_answer answer, const struct pg_result *result);
void tape_finish(struct tape *tape, int slot, const struct pg_result *result);

/* Plain connections to a database of their own on the lane's server: the same tables, and nothing
 * of the harness's, neither triggers nor shadowed functions. */
struct bare;

/* `plain_sql` makes the tables that the lane has installed. Replaces the database of an earlier
 * one, which must be closed. ERR_INFRASTRUCTURE with `why`. Caller closes. */
enum err bare_open(struct pg_lane *lane, const char *plain_sql, struct bare **bare,
                   struct strbuf *why);
/* NULL is allowed. The database stays until the server is stopped. */
void bare_close(struct bare *bare);

/* Play one take, its clean slate first. ERR_DB_SQL: the server answered a statement otherwise than
 * recorded; ERR_INFRASTRUCTURE: a connection failed; both with `why`. The next play works in the
 * first case. */
enum err bare_play(struct bare *bare, const struct tape *tape, size_t take, struct strbuf *why);
/* How many connections have been used at once so far. */
int bare_connection_count(const struct bare *bare);
/* Of that database, as the superuser; owned by `bare`. */
const char *bare_admin_conninfo(const struct bare *bare);

#endif
