/* One connection that can be made anew. */
#include "reference_impl/common/link.h"

enum err link_ready(struct rt *rt, struct link *link)
{
    FP_ASSERT(link->label != NULL);
    if (link->db != NULL && !rt_db_is_lost(link->db))
        return ERR_OK;
    link_close(rt, link);
    if (link->is_standby)
        return rt_db_open_standby(rt, link->label, &link->db);
    return rt_db_open(rt, link->label, &link->db);
}

enum err link_exec(struct rt *rt, struct link *link, const struct rt_sql *sql,
                   const char *const *params, struct rt_rows *rows)
{
    if (link->db == NULL || rt_db_is_lost(link->db))
        return ERR_DB_LOST;
    return rt_db_exec(rt, link->db, sql, params, rows);
}

enum err link_commit(struct rt *rt, struct link *link)
{
    return link_exec(rt, link, &common_commit, NULL, NULL);
}

void link_rollback(struct rt *rt, struct link *link)
{
    if (link_exec(rt, link, &common_rollback, NULL, NULL) != ERR_OK)
        link_close(rt, link);
}

void link_close(struct rt *rt, struct link *link)
{
    rt_db_close(rt, link->db);
    link->db = NULL;
}

const char *keep_cell(struct rt *rt, const struct rt_rows *rows, int row, int column)
{
    return rt_printf(rt, "%s", rt_cell(rows, row, column));
}
