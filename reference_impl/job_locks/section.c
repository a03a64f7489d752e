/* The critical section of a job, from the download of its artifacts to the release of its lock: the
 * document's pg_advisory_lock, on a connection of its own. The lock belongs to the session and goes
 * with it, without a word to the one who believes that he holds it. So it is asked after before
 * each effect. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define ENTER_TRY_COUNT_MAX 1000

static enum err enter_once(struct rt *rt, struct job *job)
{
    enum err err = link_ready(rt, job->section);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, job->section, &job_locks_enter_section, PARAMS(job->cluster_id), NULL);
}

/* The heartbeat has a connection of its own, so the lease does not end while this waits. Whether it
 * ended all the same is asked when the wait is over. */
bool section_enter(struct rt *rt, struct job *job)
{
    for (int i = 0; i < ENTER_TRY_COUNT_MAX && job_may_act(rt, job); i++) {
        enum err err = enter_once(rt, job);
        if (err == ERR_OK)
            return job_may_act(rt, job);
        rt_emit(rt, "section.failed", "cluster", job->cluster_id, "job", job->id, "error",
                err_name(err), NULL);
        rt_sleep(rt, RECONNECT_NS);
    }
    return false;
}

bool section_check(struct rt *rt, struct job *job)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, job->section, &job_locks_check_section,
                             PARAMS(rt_instance(rt), job->id), &rows);
    if (err == ERR_OK && strcmp(rt_cell(&rows, 0, 0), "t") == 0) {
        job_set_stopped(rt, job);
        return false;
    }
    if (err == ERR_OK)
        return job_may_act(rt, job);
    if (rt_weak(rt, JOB_LOCKS_WEAK_ADVISORY_LOCK_LOSS_IGNORED))
        return job_may_act(rt, job);
    rt_emit(rt, "section.lost", "cluster", job->cluster_id, "job", job->id, NULL);
    return section_enter(rt, job);
}

/* A connection that will not say that it let go is closed, and then it has. */
void section_leave(struct rt *rt, struct job *job)
{
    if (link_exec(rt, job->section, &job_locks_leave_section, PARAMS(job->cluster_id), NULL) !=
        ERR_OK)
        link_close(rt, job->section);
}
