/* Dead letters: messages that were delivered too often. Most belong to jobs that had to wait. */
#include <stdlib.h>

#include "reference_impl/job_locks/job_locks.h"

#define ROUND_LETTER_COUNT_MAX 32
/* A job that had so many chances, more than a day of them, has something that waiting does not
 * cure. */
#define REDRIVE_COUNT_MAX 48

/* The alert ends when the letter is gone, not before: a call to the queue may fail. */
static enum err throw_away(struct rt *rt, const struct rt_message *letter, const char *subject)
{
    if (rt_dead_delete(rt, letter->receipt) == ERR_OK)
        rt_alert_clear(rt, ALERT_DEAD_LETTER, subject);
    return ERR_OK;
}

static enum err put_back(struct rt *rt, const struct rt_message *letter, const char *subject)
{
    if (rt_dead_redrive(rt, letter->receipt) == ERR_OK)
        rt_alert_clear(rt, ALERT_DEAD_LETTER, subject);
    return ERR_OK;
}

/* *ended: the job has FAILED, or was not PENDING any more. The cluster's row first, as everybody.
 */
static enum err give_up(struct rt *rt, struct link *link, const struct job *job, bool *ended)
{
    bool begun = false;

    *ended = false;
    enum err err = link_try_begin_on(rt, link, job->cluster_id, &begun);
    if (err != ERR_OK || !begun)
        return err;
    err = link_exec(rt, link, &job_locks_end_pending_job, PARAMS(job->id, "DEAD_LETTER"), NULL);
    if (err == ERR_OK)
        err = link_commit(rt, link);
    if (err == ERR_DB_SQL)
        link_rollback(rt, link);
    *ended = err == ERR_OK;
    if (*ended)
        rt_emit(rt, "job.given_up", "job", job->id, "cluster", job->cluster_id, NULL);
    return err;
}

/* What is to become of a letter. */
enum fate {
    FATE_USELESS, /* its job is not PENDING */
    FATE_LATER,   /* somebody is just taking its job: look again when the letter is visible again */
    FATE_BACK,
    FATE_TOO_OFTEN,
};

static enum err judge(struct rt *rt, struct link *link, const struct job *job, enum fate *fate)
{
    struct rt_rows rows = {0};

    *fate = FATE_LATER;
    enum err err = link_exec(rt, link, &job_locks_redrive_job, PARAMS(job->id), &rows);
    if (err != ERR_OK)
        return err;
    const char *count = rows.row_count == 1 ? rt_cell(&rows, 0, 0) : NULL;
    if (rows.row_count == 0)
        *fate = FATE_USELESS;
    else if (count != NULL)
        *fate = strtol(count, NULL, 10) > REDRIVE_COUNT_MAX ? FATE_TOO_OFTEN : FATE_BACK;
    return ERR_OK;
}

static enum err settle(struct rt *rt, struct link *link, const struct job *job,
                       const struct rt_message *letter)
{
    enum fate fate;
    bool ended = true;

    enum err err = judge(rt, link, job, &fate);
    if (err != ERR_OK || fate == FATE_LATER)
        return err;
    if (fate == FATE_BACK) {
        rt_emit(rt, "letter.redriven", "job", job->id, "cluster", job->cluster_id, NULL);
        return put_back(rt, letter, job->id);
    }
    if (fate == FATE_TOO_OFTEN)
        err = give_up(rt, link, job, &ended);
    return err == ERR_OK && ended ? throw_away(rt, letter, job->id) : err;
}

static enum err process(struct rt *rt, struct link *link, const struct rt_message *letter)
{
    const struct job *job = job_parse(rt, letter->body);

    if (job == NULL)
        return throw_away(rt, letter, letter->body);
    if (letter->age_ns > STUCK_LETTER_NS)
        rt_alert(rt, ALERT_DEAD_LETTER, "critical", job->id);
    if (rt_weak(rt, JOB_LOCKS_WEAK_DEAD_LETTERS_LEFT))
        return ERR_OK;
    return settle(rt, link, job, letter);
}

enum err letters_process(struct rt *rt, struct link *link)
{
    struct rt_message letter;
    enum err err = ERR_OK;

    for (int i = 0; i < ROUND_LETTER_COUNT_MAX && err == ERR_OK; i++) {
        if (rt_dead_receive(rt, &letter) != ERR_OK)
            break;
        err = process(rt, link, &letter);
    }
    return err;
}
