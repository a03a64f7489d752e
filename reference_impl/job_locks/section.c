/* The critical section of a job, from the download of its artifacts to the release of its lock: an
 * advisory lock, held by a transaction on a connection of its own. When the connection goes, or a
 * statement of the transaction fails, the lock goes, without a word to the one who believes that he
 * holds it. So it is asked after before each effect. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

#define ENTER_TRY_COUNT_MAX 1000

/* The document's lock of the session outlives a statement that failed: whoever asks again has it
 * twice and gives it back once, and behind a pooler it is left with somebody else. */
static bool is_of_session(struct rt *rt)
{
    return rt_weak(rt, JOB_LOCKS_WEAK_SECTION_OF_SESSION);
}

static enum err enter_once(struct rt *rt, struct job *job)
{
    const char *const *params = PARAMS(job->cluster_id);

    enum err err = link_ready(rt, job->section);
    if (err != ERR_OK)
        return err;
    if (is_of_session(rt))
        return link_exec(rt, job->section, &job_locks_enter_section_of_session, params, NULL);
    err = link_exec(rt, job->section, &common_begin, NULL, NULL);
    if (err != ERR_OK)
        return err;
    return link_exec(rt, job->section, &job_locks_enter_section, params, NULL);
}

/* Whatever the transaction still holds goes with its connection. */
static void let_go(struct rt *rt, struct job *job)
{
    if (!is_of_session(rt))
        link_close(rt, job->section);
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
        let_go(rt, job);
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
    let_go(rt, job);
    return section_enter(rt, job);
}

/* A connection that will not say that it let go is closed, and then it has. */
void section_leave(struct rt *rt, struct job *job)
{
    enum err err = is_of_session(rt)
                       ? link_exec(rt, job->section, &job_locks_leave_section_of_session,
                                   PARAMS(job->cluster_id), NULL)
                       : link_commit(rt, job->section);
    if (err != ERR_OK)
        link_close(rt, job->section);
}
