/* Pattern 3: the worker of the tasks. */
#include "reference_impl/patterns/patterns.h"

struct executor {
    struct link link;
    int64_t run_count;
    int found_count;
    struct work *found[TASK_BATCH_COUNT_MAX];
};

/* The columns of tasks. */
enum { TASK_ID = 0, TASK_TAKES_MS = 3 };

static enum err find_batch(struct rt *rt, struct executor *executor)
{
    struct rt_rows rows = {0};

    executor->found_count = 0;
    enum err err = link_ready(rt, &executor->link);
    if (err == ERR_OK)
        err = link_exec(rt, &executor->link, &patterns_find_tasks, NULL, &rows);
    if (err != ERR_OK)
        return err;
    FP_ASSERT(rows.row_count <= TASK_BATCH_COUNT_MAX);
    for (int i = 0; i < rows.row_count; i++) {
        struct work *work = rt_alloc(rt, sizeof *work);
        work->kind = &task_kind;
        work->link = &executor->link;
        work->id = keep_cell(rt, &rows, i, TASK_ID);
        work->parent_id = "";
        work->takes_ns = work_takes_ns(rt_cell(&rows, i, TASK_TAKES_MS));
        executor->found[executor->found_count++] = work;
    }
    return ERR_OK;
}

/* The batch may be old by now: the condition asks again. *won is false when another was faster. */
static enum err claim(struct rt *rt, struct executor *executor, struct work *work, bool *won)
{
    const struct rt_sql *sql = rt_weak(rt, PATTERNS_WEAK_CLAIM_WITHOUT_CONDITION)
                                   ? &patterns_claim_task_unconditionally
                                   : &patterns_claim_task;
    struct rt_rows rows = {0};

    *won = false;
    enum err err = link_ready(rt, &executor->link);
    if (err == ERR_OK)
        err = link_exec(rt, &executor->link, sql, PARAMS(work->id), &rows);
    if (err != ERR_OK || rows.affected_count == 0)
        return err;
    *won = true;
    work->run = ++executor->run_count;
    work_set_attempt(rt, work, rt_cell(&rows, 0, 0));
    return ERR_OK;
}

/* Errors as rt_db_exec: of a statement outside the document's try block. */
static enum err execute_batch(struct rt *rt, struct executor *executor)
{
    enum err err = find_batch(rt, executor);

    for (int i = 0; i < executor->found_count && err == ERR_OK; i++) {
        bool won = false;
        err = claim(rt, executor, executor->found[i], &won);
        if (won && !work_run(rt, executor->found[i]))
            return ERR_DB_LOST;
    }
    return err;
}

void patterns_executor(struct rt *rt)
{
    struct executor *executor = rt_alloc(rt, sizeof *executor);

    executor->link.label = "tasks";
    for (;;) {
        enum err err = execute_batch(rt, executor);
        if (err != ERR_OK && rt_weak(rt, PATTERNS_WEAK_LOOP_ENDS_ON_ERROR))
            break;
        rt_idle(rt, TASK_POLL_NS);
    }
    rt_emit(rt, "loop.ended", NULL);
    link_close(rt, &executor->link);
}
