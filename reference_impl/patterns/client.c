/* Pattern 1: a client of the API. It asks for each of the workload's resources, as often as told,
 * and asks again when it gets no answer. */
#include <string.h>

#include "reference_impl/patterns/patterns.h"

/* The columns of resources. */
enum { RESOURCE_ID = 0, RESOURCE_CONTENT = 2 };

struct order {
    const char *key, *content;
};

/* The row that answers, if there is one. A row that was made for something else is no answer: the
 * key was used twice. */
static bool answer(struct rt *rt, const struct order *order, const struct rt_rows *rows)
{
    if (rows->row_count == 0)
        return false;
    bool is_same = strcmp(rt_cell(rows, 0, RESOURCE_CONTENT), order->content) == 0;
    if (!is_same && !rt_weak(rt, PATTERNS_WEAK_KEY_WITHOUT_CONTENT)) {
        rt_emit(rt, "create.conflict", "key", order->key, "content", order->content, NULL);
        return true;
    }
    rt_emit(rt, "create.answered", "key", order->key, "content", order->content, "id",
            rt_cell(rows, 0, RESOURCE_ID), NULL);
    return true;
}

static enum err find(struct rt *rt, struct link *link, const struct order *order, bool *answered)
{
    struct rt_rows rows = {0};

    enum err err = link_exec(rt, link, &patterns_find_resource, PARAMS(order->key), &rows);
    *answered = err == ERR_OK && answer(rt, order, &rows);
    return err;
}

static bool is_unique_violation(const struct link *link)
{
    return strcmp(rt_db_sqlstate(link->db), "23505") == 0;
}

/* The document's create_resource. False: it raised an error, or found nothing. */
static bool create_resource(struct rt *rt, struct link *link, const struct order *order)
{
    struct rt_rows rows = {0};
    bool answered = false;

    if (link_ready(rt, link) != ERR_OK || find(rt, link, order, &answered) != ERR_OK)
        return false;
    if (answered)
        return true;
    enum err err =
        link_exec(rt, link, &patterns_insert_resource, PARAMS(order->key, order->content), &rows);
    if (err == ERR_OK)
        return answer(rt, order, &rows);
    if (err == ERR_DB_SQL && is_unique_violation(link))
        find(rt, link, order, &answered);
    return answered;
}

static void ask(struct rt *rt, struct link *link, const struct order *order)
{
    for (int i = 0; i < DB_TRY_COUNT_MAX; i++) {
        if (create_resource(rt, link, order))
            return;
        rt_emit(rt, "create.failed", "key", order->key, NULL);
        rt_sleep(rt, RETRY_NS);
    }
}

void patterns_client(struct rt *rt)
{
    struct link link = {.label = "api"};
    int count = rt_workload_count(rt, "requests");
    mono_time start = rt_mono_now(rt);

    for (int i = 0; i < count; i++) {
        struct order order = {rt_workload_text(rt, "requests", i, "key"),
                              rt_workload_text(rt, "requests", i, "content")};
        int64_t times = rt_workload_number(rt, "requests", i, "times");
        int64_t wait_ns =
            rt_workload_number(rt, "requests", i, "at") - mono_since_ns(rt_mono_now(rt), start);
        if (wait_ns > 0)
            rt_sleep(rt, wait_ns);
        for (int64_t asked = 0; asked < times; asked++)
            ask(rt, &link, &order);
    }
    link_close(rt, &link);
}
