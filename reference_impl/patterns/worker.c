/* Pattern 2: the worker of the queue. */
#include "reference_impl/patterns/patterns.h"

enum claim { CLAIM_GOT, CLAIM_NONE, CLAIM_ERROR };

struct worker {
    struct link link;
    int64_t run_count;
};

/* The columns of queue_items. */
enum { ITEM_ID = 0, ITEM_PARENT_ID = 1, ITEM_ATTEMPT = 3, ITEM_TAKES_MS = 4 };

static struct work *item_of(struct rt *rt, struct worker *worker, const struct rt_rows *rows)
{
    const char *parent_id = rt_cell(rows, 0, ITEM_PARENT_ID);
    struct work *work = rt_alloc(rt, sizeof *work);

    work->kind = &item_kind;
    work->link = &worker->link;
    work->id = keep_cell(rt, rows, 0, ITEM_ID);
    work->parent_id = parent_id != NULL ? rt_printf(rt, "%s", parent_id) : "";
    work->run = ++worker->run_count;
    work->takes_ns = work_takes_ns(rt_cell(rows, 0, ITEM_TAKES_MS));
    work_set_attempt(rt, work, rt_cell(rows, 0, ITEM_ATTEMPT));
    return work;
}

/* The statement that finds one: as written it finds, and does not take. */
static enum claim find(struct rt *rt, struct worker *worker, const struct rt_sql *sql,
                       struct work **work)
{
    struct rt_rows rows = {0};

    enum err err = link_ready(rt, &worker->link);
    if (err == ERR_OK)
        err = link_exec(rt, &worker->link, sql, NULL, &rows);
    if (err != ERR_OK)
        return CLAIM_ERROR;
    if (rows.row_count == 0)
        return CLAIM_NONE;
    *work = item_of(rt, worker, &rows);
    return CLAIM_GOT;
}

/* The UPDATE is within the try block: as written its failure is the item's. */
static bool start_as_written(struct rt *rt, struct worker *worker, struct work *work)
{
    bool is_ours = false;

    if (link_exec(rt, &worker->link, &patterns_start_item, PARAMS(work->id), NULL) == ERR_OK)
        return work_run(rt, work);
    if (!rt_weak(rt, PATTERNS_WEAK_FAILURE_WITHOUT_KNOWING))
        return true;
    return work_finish(rt, work, false, "an exception", &is_ours) == ERR_OK ||
           !rt_weak(rt, PATTERNS_WEAK_LOOP_ENDS_ON_ERROR);
}

/* The other reading: the row lock lasts as long as the work, and so does the transaction. */
static enum claim process_in_transaction(struct rt *rt, struct worker *worker)
{
    struct link *link = &worker->link;
    struct work *work = NULL;

    enum err err = link_ready(rt, link);
    if (err == ERR_OK)
        err = link_exec(rt, link, &common_begin, NULL, NULL);
    enum claim claim = err == ERR_OK ? find(rt, worker, &patterns_pick_item, &work) : CLAIM_ERROR;
    if (claim == CLAIM_GOT) {
        err = link_exec(rt, link, &patterns_start_item, PARAMS(work->id), NULL);
        bool is_done = err == ERR_OK && work_call(rt, work) == WORK_DONE;
        const struct rt_sql *last =
            is_done ? &patterns_complete_item_by_id : &patterns_fail_item_by_id;
        if (err == ERR_OK)
            err = link_exec(rt, link, last, PARAMS("", work->id), NULL);
        if (err == ERR_OK)
            err = aggregate_begin(rt, link, work->parent_id);
        if (err == ERR_OK)
            err = aggregate_update(rt, link, work->parent_id, is_done);
        if (err == ERR_OK)
            err = link_commit(rt, link);
    }
    if (claim != CLAIM_GOT || err != ERR_OK)
        link_rollback(rt, link);
    return claim;
}

/* False: the loop has ended. */
static bool process_one(struct rt *rt, struct worker *worker)
{
    bool finds_only = rt_weak(rt, PATTERNS_WEAK_SKIP_LOCKED_WITHOUT_TRANSACTION);
    bool is_well = true;
    struct work *work = NULL;
    enum claim claim;

    if (rt_weak(rt, PATTERNS_WEAK_ITEM_HELD_BY_TRANSACTION)) {
        claim = process_in_transaction(rt, worker);
    } else {
        claim = find(rt, worker, finds_only ? &patterns_pick_item : &patterns_claim_item, &work);
        if (claim == CLAIM_GOT)
            is_well = finds_only ? start_as_written(rt, worker, work) : work_run(rt, work);
    }
    if (claim == CLAIM_ERROR)
        is_well = !rt_weak(rt, PATTERNS_WEAK_LOOP_ENDS_ON_ERROR);
    if (claim != CLAIM_GOT && is_well)
        rt_idle(rt, ITEM_POLL_NS);
    return is_well;
}

void patterns_worker(struct rt *rt)
{
    struct worker *worker = rt_alloc(rt, sizeof *worker);

    worker->link.label = "queue";
    while (process_one(rt, worker))
        continue;
    rt_emit(rt, "loop.ended", NULL);
    link_close(rt, &worker->link);
}
