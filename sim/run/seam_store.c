/* The artifact store's part of the seam. */
#include <stdio.h>
#include <string.h>

#include "sim/run/internal.h"

_Static_assert(STORE_CONTENT_SIZE_MAX == RT_OBJECT_SIZE_MAX, "an object fits its reader");

static void put_claim(struct rt *rt, const struct rt_claim *claim)
{
    struct trace *trace = rt->run->trace;
    trace_text(trace, "instance", proc_name(rt->proc));
    trace_text(trace, "cluster", claim->cluster_id);
    trace_text(trace, "job", claim->job_id);
    trace_number(trace, "run", claim->run);
    trace_number(trace, "token", claim->token);
}

/* `claim` is NULL when it was read by nobody's right. */
static void report_get(struct rt *rt, const char *key, const struct rt_claim *claim,
                       const struct store_version *version, enum err err)
{
    struct trace *trace = rt->run->trace;
    if (rt->run->setting_up)
        return;
    trace_begin(trace, "store.get", fiber_name(rt->fiber));
    trace_text(trace, "key", key);
    trace_number(trace, "version", version ? version->number : 0);
    if (claim)
        put_claim(rt, claim);
    else
        trace_text(trace, "instance", proc_name(rt->proc));
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
}

static enum err get_latest(struct rt *rt, const char *key, const struct rt_claim *claim,
                           const struct store_version **version)
{
    struct store *store = rt->run->lane->store;
    enum err err = claim ? store_show_token(store, key, claim->token) : ERR_OK;
    if (err == ERR_INFRASTRUCTURE)
        run_trouble(rt->run, "the artifact store is full");
    return err == ERR_OK ? store_get(store, key, STORE_LATEST, version) : err;
}

static enum err get(struct rt *rt, const char *key, const struct rt_claim *claim,
                    struct rt_object *object)
{
    const struct store_version *version = NULL;
    memset(object, 0, sizeof *object);
    fiber_yield(rt->run->sched);
    struct struck struck = visit_point(rt, POINT_STORE_CALL, "get");
    enum err err = struck.store ? ERR_STORE_UNAVAILABLE : get_latest(rt, key, claim, &version);
    report_get(rt, key, claim, version, err);
    if (err == ERR_OK) {
        object->version = version->number;
        memcpy(object->content, version->content, sizeof object->content);
    }
    visit_point(rt, POINT_STORE_DONE, "get");
    return err;
}

enum err rt_store_get(struct rt *rt, const char *key, struct rt_object *object)
{
    return get(rt, key, NULL, object);
}

enum err rt_store_read(struct rt *rt, const char *key, const struct rt_claim *claim,
                       struct rt_object *object)
{
    return get(rt, key, claim, object);
}

/* An object is a resource of its own: two owners that write it in turns spoil each other's work. */
static void report_effect(struct rt *rt, const char *key, const struct rt_claim *claim,
                          int64_t effect, enum err err)
{
    struct trace *trace = rt->run->trace;
    char resource[STORE_KEY_SIZE_MAX + sizeof "store:"];
    snprintf(resource, sizeof resource, "store:%s", key);
    trace_begin(trace, "effect.start", fiber_name(rt->fiber));
    trace_number(trace, "effect", effect);
    trace_text(trace, "resource", resource);
    trace_text(trace, "op", "put");
    trace_text(trace, "part", key);
    put_claim(rt, claim);
    trace_text(trace, "accepted", err == ERR_OK ? "yes" : "no");
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
    if (err != ERR_OK)
        return;
    trace_begin(trace, "effect.end", "store");
    trace_number(trace, "effect", effect);
    trace_text(trace, "result", err_name(err));
    trace_end(trace);
}

static void report_put(struct rt *rt, const char *key, const struct rt_claim *claim,
                       int64_t version, enum err err)
{
    struct run *run = rt->run;
    if (run->setting_up)
        return;
    /* After the cloud's own numbers, which are below its maximum. */
    int64_t effect = CLOUD_CALL_COUNT_MAX + store_version_count(run->lane->store);
    report_effect(rt, key, claim, err == ERR_OK ? effect : 0, err);
    trace_begin(run->trace, "store.put", fiber_name(rt->fiber));
    trace_text(run->trace, "key", key);
    trace_number(run->trace, "version", version);
    put_claim(rt, claim);
    trace_text(run->trace, "result", err_name(err));
    trace_end(run->trace);
}

enum err rt_store_put(struct rt *rt, const char *key, const char *content,
                      const struct rt_claim *claim)
{
    struct run *run = rt->run;
    int64_t version = 0;
    fiber_yield(run->sched);
    struct struck struck = visit_point(rt, POINT_STORE_CALL, "put");
    enum err err = ERR_STORE_UNAVAILABLE;
    if (!struck.store)
        err = store_put(run->lane->store, sched_now_ns(run->sched), key, content, claim,
                        proc_name(rt->proc), &version);
    if (err == ERR_INFRASTRUCTURE)
        run_trouble(run, "the artifact store is full");
    report_put(rt, key, claim, version, err);
    visit_point(rt, POINT_STORE_DONE, "put");
    return err;
}
