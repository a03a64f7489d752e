/* One connection that can be made anew: for every strategy. */
#ifndef FENCEPOST_LINK_H
#define FENCEPOST_LINK_H

#include "common_sql.h"
#include "sim/rt.h"

#define PARAMS(...) ((const char *const[]){__VA_ARGS__})

struct link {
    const char *label;
    struct rt_db *db; /* NULL: there is none */
    bool is_standby;  /* to a server that follows the primary */
};

/* Make sure that there is a connection. MAY SUSPEND. ERR_DB_UNREACHABLE: there is none. Only at
 * the start of something: in the middle of a transaction a new connection would be another
 * transaction. */
enum err link_ready(struct rt *rt, struct link *link);
/* As rt_db_exec. Without a connection ERR_DB_LOST. */
enum err link_exec(struct rt *rt, struct link *link, const struct rt_sql *sql,
                   const char *const *params, struct rt_rows *rows);
enum err link_commit(struct rt *rt, struct link *link);
/* Leave the transaction, whatever happened: by ROLLBACK, or by giving up the connection. MAY
 * SUSPEND. */
void link_rollback(struct rt *rt, struct link *link);
void link_close(struct rt *rt, struct link *link);
/* A cell that outlives the rows. Lives until the process ends. */
const char *keep_cell(struct rt *rt, const struct rt_rows *rows, int row, int column);

#endif
