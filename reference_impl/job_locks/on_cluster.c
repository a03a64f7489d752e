/* Transactions about one cluster: its row is taken first. */
#include "reference_impl/job_locks/job_locks.h"

enum err link_begin_on(struct rt *rt, struct link *link, const char *cluster_id)
{
    enum err err = link_exec(rt, link, &common_begin, NULL, NULL);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, link, &job_locks_lock_cluster, PARAMS(cluster_id), NULL);
}

enum err link_try_begin_on(struct rt *rt, struct link *link, const char *cluster_id, bool *begun)
{
    struct rt_rows rows = {0};

    *begun = false;
    enum err err = link_exec(rt, link, &common_begin, NULL, NULL);
    if (err == ERR_OK)
        err = link_exec(rt, link, &job_locks_try_lock_cluster, PARAMS(cluster_id), &rows);
    *begun = err == ERR_OK && rows.row_count == 1;
    if ((err == ERR_OK && !*begun) || err == ERR_DB_SQL)
        link_rollback(rt, link);
    return err;
}
