/* One connection that can be made anew. */
#include "reference_impl/job_locks/job_locks.h"

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

enum err link_begin_on(struct rt *rt, struct link *link, const char *cluster_id)
{
    enum err err = link_exec(rt, link, &job_locks_begin, NULL, NULL);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, link, &job_locks_lock_cluster, PARAMS(cluster_id), NULL);
}

enum err link_try_begin_on(struct rt *rt, struct link *link, const char *cluster_id, bool *begun)
{
    struct rt_rows rows = {0};

    *begun = false;
    enum err err = link_exec(rt, link, &job_locks_begin, NULL, NULL);
    if (err == ERR_OK)
        err = link_exec(rt, link, &job_locks_try_lock_cluster, PARAMS(cluster_id), &rows);
    *begun = err == ERR_OK && rows.row_count == 1;
    if ((err == ERR_OK && !*begun) || err == ERR_DB_SQL)
        link_rollback(rt, link);
    return err;
}

enum err link_commit(struct rt *rt, struct link *link)
{
    return link_exec(rt, link, &job_locks_commit, NULL, NULL);
}

void link_rollback(struct rt *rt, struct link *link)
{
    if (link_exec(rt, link, &job_locks_rollback, NULL, NULL) != ERR_OK)
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
