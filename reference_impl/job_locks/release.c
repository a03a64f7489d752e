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

/* Does this release look at what it finds? */
static bool is_guarded(struct rt *rt)
{
    return !rt_weak(rt, JOB_LOCKS_WEAK_RELEASE_NOT_ATOMIC) &&
           !rt_weak(rt, JOB_LOCKS_WEAK_RELEASE_BY_CLUSTER_ONLY);
}

static enum err finish_cluster(struct release *release, struct rt_rows *rows)
{
    struct rt *rt = release->rt;
    struct job *job = release->job;

    if (!is_guarded(rt)) {
        return link_exec(rt, release->link, &job_locks_finish_cluster_anyway,
                         PARAMS(job->cluster_id, release->cluster_status), rows);
    }
    return link_exec(rt, release->link, &job_locks_finish_cluster,
                     PARAMS(job->cluster_id, release->cluster_status, job->rule->during,
                            job_token_text(rt, job)),
                     rows);
}

static enum err finish_job(struct release *release, struct rt_rows *rows)
{
    const struct rt_sql *sql =
        is_guarded(release->rt) ? &job_locks_finish_job : &job_locks_finish_job_anyway;

    return link_exec(release->rt, release->link, sql,
                     PARAMS(release->job->id, release->job_status, release->job->error_code), rows);
}

static enum err audit(struct release *release)
{
    struct rt *rt = release->rt;
    struct job *job = release->job;

    return link_exec(rt, release->link, &job_locks_audit_released,
                     PARAMS(job->cluster_id, job->id, rt_instance(rt), job_token_text(rt, job),
                            job->correlation_id),
                     NULL);
}

/* *is_whole: both were as the job had left them. */
static enum err write_end(struct release *release, bool *is_whole)
{
    struct rt_rows cluster = {0}, job = {0};

    enum err err = finish_cluster(release, &cluster);
    int cluster_count = cluster.affected_count;
    if (err == ERR_OK)
        err = finish_job(release, &job);
    *is_whole = err == ERR_OK && cluster_count == 1 && job.affected_count == 1;
    return err == ERR_OK ? audit(release) : err;
}

/* As the document has it: three statements, nobody looks at what the first one found. */
static void release_as_written(struct release *release)
{
    int deleted_count = 0;

    enum err err = link_ready(release->rt, release->link);
    if (err == ERR_OK)
        err = delete_lock(release, &deleted_count);
    bool is_whole = false;
    if (err == ERR_OK)
        err = write_end(release, &is_whole);
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

static enum err begin(struct release *release)
{
    struct rt *rt = release->rt;

    enum err err = link_ready(rt, release->link);
    if (err != ERR_OK)
        return err;
    if (rt_weak(rt, JOB_LOCKS_WEAK_RELEASE_LOCK_FIRST))
        return link_exec(rt, release->link, &common_begin, NULL, NULL);
    return link_begin_on(rt, release->link, release->job->cluster_id);
}

static enum err release_steps(struct release *release, enum release_end *end)
{
    int deleted_count = 0;
    bool is_whole = false;

    enum err err = begin(release);
    if (err == ERR_OK)
        err = delete_lock(release, &deleted_count);
    if (err != ERR_OK)
        return err;
    if (deleted_count == 0)
        return was_ours(release, end);
    err = write_end(release, &is_whole);
    if (err != ERR_OK)
        return err;
    if (!is_whole && is_guarded(release->rt)) {
        link_rollback(release->rt, release->link);
        *end = RELEASE_LOST;
        return ERR_OK;
    }
    err = link_commit(release->rt, release->link);
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
    rt_metric_observe(rt, METRIC_LOCK_HELD, "job_type", job->rule->type,
                      mono_since_ns(rt_mono_now(rt), job->started));
    rt_emit(rt, "lock.released", "cluster", job->cluster_id, "job", job->id, "correlation",
            job->correlation_id, NULL);
    return true;
}
