/* Giving a lock back, together with what became of the cluster and the job. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define RELEASE_TRY_COUNT_MAX 1000

enum release_end {
    RELEASE_DONE,
    RELEASE_LOST,    /* the lock is not ours any more */
    RELEASE_UNKNOWN, /* try again */
};

struct release {
    struct rt *rt;
    struct link *link;
    struct job *job;
    const char *cluster_status;
    const char *job_status;
};

static enum err delete_lock(struct release *release, int *deleted_count)
{
    struct rt *rt = release->rt;
    struct job *job = release->job;
    struct rt_rows rows = {0};
    enum err err;

    if (rt_weak(rt, JOB_LOCKS_WEAK_RELEASE_BY_CLUSTER_ONLY)) {
        err = link_exec(rt, release->link, &job_locks_delete_lock_of_cluster,
                        PARAMS(job->cluster_id), &rows);
    } else {
        err = link_exec(rt, release->link, &job_locks_delete_lock,
                        PARAMS(job->cluster_id, job->id, rt_instance(rt), job_token_text(rt, job)),
                        &rows);
    }
    *deleted_count = rows.affected_count;
    return err;
}

static enum err write_end(struct release *release)
{
    struct job *job = release->job;

    enum err err = link_exec(release->rt, release->link, &job_locks_finish_cluster,
                             PARAMS(job->cluster_id, release->cluster_status), NULL);
    if (err != ERR_OK)
        return err;
    return link_exec(release->rt, release->link, &job_locks_finish_job,
                     PARAMS(job->id, release->job_status, job->error_code), NULL);
}

/* As the document has it: three statements, nobody looks at what the first one found. */
static void release_as_written(struct release *release)
{
    int deleted_count = 0;

    enum err err = link_ready(release->rt, release->link);
    if (err == ERR_OK)
        err = delete_lock(release, &deleted_count);
    if (err == ERR_OK)
        err = write_end(release);
    if (err != ERR_OK) {
        rt_emit(release->rt, "release.failed", "cluster", release->job->cluster_id, "job",
                release->job->id, "error", err_name(err), NULL);
    }
}

/* The lock is not there. Was it we who removed it, in a try whose answer was lost? */
static enum err was_ours(struct release *release, enum release_end *end)
{
    struct job *job = release->job;
    struct rt_rows rows = {0};
    const char *code = job->error_code != NULL ? job->error_code : "";

    enum err err = link_exec(release->rt, release->link, &job_locks_select_job_outcome,
                             PARAMS(job->id), &rows);
    if (err != ERR_OK)
        return err;
    bool is_same = rows.row_count == 1 && strcmp(rt_cell(&rows, 0, 0), release->job_status) == 0 &&
                   strcmp(rt_cell(&rows, 0, 1), code) == 0;
    *end = is_same ? RELEASE_DONE : RELEASE_LOST;
    link_rollback(release->rt, release->link);
    return ERR_OK;
}

static enum err release_steps(struct release *release, enum release_end *end)
{
    struct rt *rt = release->rt;
    struct link *link = release->link;
    int deleted_count = 0;

    enum err err = link_ready(rt, link);
    if (err == ERR_OK)
        err = link_exec(rt, link, &job_locks_begin, NULL, NULL);
    if (err == ERR_OK && !rt_weak(rt, JOB_LOCKS_WEAK_RELEASE_LOCK_FIRST))
        err = link_exec(rt, link, &job_locks_lock_cluster, PARAMS(release->job->cluster_id), NULL);
    if (err == ERR_OK)
        err = delete_lock(release, &deleted_count);
    if (err != ERR_OK)
        return err;
    if (deleted_count == 0)
        return was_ours(release, end);
    err = write_end(release);
    if (err == ERR_OK)
        err = link_exec(rt, link, &job_locks_commit, NULL, NULL);
    if (err == ERR_OK)
        *end = RELEASE_DONE;
    return err;
}

/* Until it is certain. The heartbeat goes on meanwhile, so a short outage does not cost the
 * lock. */
static enum release_end release_surely(struct release *release)
{
    for (int i = 0; i < RELEASE_TRY_COUNT_MAX; i++) {
        enum release_end end = RELEASE_UNKNOWN;
        enum err err = release_steps(release, &end);
        if (err == ERR_OK) {
            FP_ASSERT(end != RELEASE_UNKNOWN);
            return end;
        }
        rt_emit(release->rt, "release.failed", "cluster", release->job->cluster_id, "job",
                release->job->id, "error", err_name(err), NULL);
        if (err == ERR_DB_SQL)
            link_rollback(release->rt, release->link);
        rt_sleep(release->rt, RECONNECT_NS);
    }
    return RELEASE_LOST; /* the janitor will have it */
}

bool job_release(struct rt *rt, struct link *link, struct job *job, bool succeeded)
{
    struct release release = {
        .rt = rt,
        .link = link,
        .job = job,
        .cluster_status = succeeded ? job->rule->done : "FAILED",
        .job_status = succeeded ? "SUCCEEDED" : "FAILED",
    };

    FP_ASSERT(succeeded == (job->error_code == NULL));
    job->releasing = true;
    if (rt_weak(rt, JOB_LOCKS_WEAK_RELEASE_NOT_ATOMIC)) {
        release_as_written(&release);
    } else if (release_surely(&release) == RELEASE_LOST) {
        job_set_lost(rt, job, "release");
        return false;
    }
    rt_emit(rt, "lock.released", "cluster", job->cluster_id, "job", job->id, NULL);
    return true;
}
