#include "sim/world/cloud.h"

#include <stdlib.h>
#include <string.h>

/* A look, and a change of the number of workers. */
#define LOOK_LOW_NS (1 * NS_PER_S)
#define LOOK_HIGH_NS (10 * NS_PER_S)
#define SCALE_LOW_NS (3 * NS_PER_MIN)
#define SCALE_HIGH_NS (15 * NS_PER_MIN)

struct cloud {
    struct cloud_config config;
    int64_t now_ns; /* of the last call */

    struct cloud_resource *resources;
    size_t resource_count, resource_capacity;
    struct cloud_call *calls; /* by id */
    size_t call_count, call_capacity;
    size_t *running; /* indices into calls, ordered by (end_ns, id) */
    size_t running_count, running_capacity;

    cloud_done_hook *hook;
    void *hook_self;
    bool instant; /* calls take no time */
};

struct range {
    int64_t low_ns, high_ns;
};

static const struct {
    const char *name;
    struct range create, destroy;
} parts[CLOUD_PART_COUNT] = {
#define X(id, text, create_low, create_high, destroy_low, destroy_high)                            \
    [id] = {                                                                                       \
        .name = text,                                                                              \
        .create = {(create_low)*NS_PER_MIN, (create_high)*NS_PER_MIN},                             \
        .destroy = {(destroy_low)*NS_PER_MIN, (destroy_high)*NS_PER_MIN},                          \
    },
    CLOUD_PARTS(X)
#undef X
};

const char *cloud_part_name(int index)
{
    FP_ASSERT(index >= 0);
    FP_ASSERT(index < CLOUD_PART_COUNT);
    return parts[index].name;
}

int cloud_part_find(const char *name)
{
    if (!name)
        return -1;
    for (int index = 0; index < CLOUD_PART_COUNT; index++)
        if (strcmp(parts[index].name, name) == 0)
            return index;
    return -1;
}

const char *cloud_op_name(enum rt_cloud_op op)
{
    switch (op) {
    case RT_CLOUD_LOOK:
        return "look";
    case RT_CLOUD_CREATE:
        return "create";
    case RT_CLOUD_DESTROY:
        return "destroy";
    case RT_CLOUD_SCALE:
        return "scale";
    }
    FP_ASSERT(!"known operation");
    return "";
}

struct cloud_config cloud_config_default(void)
{
    return (struct cloud_config){
        .resource_count_max = 0,
        .timeout_ns = 5 * NS_PER_MIN,
        .duration_notch_count = 8,
    };
}

struct cloud *cloud_new(const struct cloud_config *config)
{
    struct cloud *cloud = fp_alloc(sizeof(*cloud));

    cloud_reset(cloud, config);
    return cloud;
}

void cloud_free(struct cloud *cloud)
{
    if (!cloud)
        return;
    free(cloud->resources);
    free(cloud->calls);
    free(cloud->running);
    free(cloud);
}

void cloud_reset(struct cloud *cloud, const struct cloud_config *config)
{
    FP_ASSERT(config->resource_count_max >= 0);
    FP_ASSERT(config->timeout_ns >= 0);
    FP_ASSERT(config->duration_notch_count >= 1);
    cloud->config = *config;
    cloud->now_ns = 0;
    cloud->resource_count = 0;
    cloud->call_count = 0;
    cloud->running_count = 0;
}

void cloud_on_done(struct cloud *cloud, cloud_done_hook *hook, void *self)
{
    cloud->hook = hook;
    cloud->hook_self = self;
}

/* ---- resources ---- */

static bool same_text(const char *stored, const char *asked)
{
    return strcmp(stored, asked ? asked : "") == 0;
}

/* The index of the resource; -1: the cloud has never heard of it. */
static int find_resource(const struct cloud *cloud, const char *name, const char *platform,
                         const char *base_domain)
{
    for (size_t index = 0; index < cloud->resource_count; index++) {
        const struct cloud_resource *resource = &cloud->resources[index];

        if (same_text(resource->name, name) && same_text(resource->platform, platform) &&
            same_text(resource->base_domain, base_domain))
            return (int)index;
    }
    return -1;
}

static int add_resource(struct cloud *cloud, const struct rt_cloud_request *request)
{
    struct cloud_resource *resource;

    FP_ASSERT(cloud->resource_count < CLOUD_RESOURCE_COUNT_MAX);
    cloud->resources = world_grow(cloud->resources, cloud->resource_count,
                                  &cloud->resource_capacity, sizeof(*cloud->resources));
    resource = &cloud->resources[cloud->resource_count];
    memset(resource, 0, sizeof(*resource));
    world_copy_text(resource->name, sizeof(resource->name), request->name);
    world_copy_text(resource->platform, sizeof(resource->platform), request->platform);
    world_copy_text(resource->base_domain, sizeof(resource->base_domain), request->base_domain);
    return (int)cloud->resource_count++;
}

int cloud_present_count(const struct cloud_resource *resource)
{
    int count = 0;

    for (int part = 0; part < CLOUD_PART_COUNT; part++)
        count += resource->parts[part].present ? 1 : 0;
    return count;
}

/* ---- a call takes effect ---- */

static bool is_overtaken(const struct cloud *cloud, const struct cloud_call *call)
{
    if (call->resource < 0 || call->by.token == 0)
        return false;
    return call->by.token < cloud->resources[call->resource].token;
}

static enum err apply_create(struct cloud_resource *resource, const struct cloud_call *call)
{
    struct cloud_part *part = &resource->parts[call->part];

    if (part->present && !part->half)
        return ERR_CLOUD_EXISTS;
    part->present = true;
    part->half = false;
    part->since_ns = call->end_ns;
    part->by = call->by;
    if (call->part == CLOUD_WORKERS)
        resource->worker_count = call->count > 0 ? call->count : CLOUD_WORKER_COUNT_DEFAULT;
    return ERR_OK;
}

static enum err apply_destroy(struct cloud_resource *resource, const struct cloud_call *call)
{
    struct cloud_part *part = &resource->parts[call->part];

    if (!part->present)
        return ERR_CLOUD_ABSENT;
    part->present = false;
    part->half = false;
    part->since_ns = call->end_ns;
    if (call->part == CLOUD_WORKERS)
        resource->worker_count = 0;
    return ERR_OK;
}

static enum err apply_scale(struct cloud_resource *resource, const struct cloud_call *call)
{
    if (!resource->parts[CLOUD_WORKERS].present)
        return ERR_CLOUD_ABSENT;
    resource->worker_count = call->count;
    return ERR_OK;
}

/* What it would have done is done in part, and whether it went well nobody says. */
static enum err apply_half(struct cloud_resource *resource, const struct cloud_call *call)
{
    int32_t worker_count = resource->worker_count;
    enum err err = call->op == RT_CLOUD_CREATE    ? apply_create(resource, call)
                   : call->op == RT_CLOUD_DESTROY ? apply_destroy(resource, call)
                                                  : apply_scale(resource, call);

    if (err != ERR_OK)
        return err;
    resource->worker_count = (worker_count + resource->worker_count) / 2;
    if (call->part >= 0) {
        resource->parts[call->part].present = true;
        resource->parts[call->part].half = true;
    }
    return ERR_CLOUD_TIMEOUT;
}

static enum err apply(struct cloud *cloud, const struct cloud_call *call)
{
    struct cloud_resource *resource;

    if (call->fault == CLOUD_FAULT_REQUEST_LOST)
        return ERR_CLOUD_TIMEOUT;
    /* The right to do it counts at the moment of the effect, not of the request. */
    if (is_overtaken(cloud, call))
        return ERR_FENCED;
    if (call->op == RT_CLOUD_LOOK)
        return ERR_OK;
    FP_ASSERT(call->resource >= 0);
    resource = &cloud->resources[call->resource];
    if (call->fault == CLOUD_FAULT_HALF_DONE)
        return apply_half(resource, call);
    if (call->op == RT_CLOUD_CREATE)
        return apply_create(resource, call);
    if (call->op == RT_CLOUD_DESTROY)
        return apply_destroy(resource, call);
    FP_ASSERT(call->op == RT_CLOUD_SCALE);
    return apply_scale(resource, call);
}

static enum err caller_err(const struct cloud_call *call)
{
    return call->fault == CLOUD_FAULT_REPLY_LOST ? ERR_CLOUD_TIMEOUT : call->result;
}

/* Calls that may change the resource, so far as the cloud can tell before their end: an overtaken
 * one is only found out then. */
static int32_t count_busy(const struct cloud *cloud, int resource)
{
    int32_t count = 0;

    for (size_t index = 0; index < cloud->running_count; index++) {
        const struct cloud_call *call = &cloud->calls[cloud->running[index]];

        count += call->resource == resource && call->op != RT_CLOUD_LOOK ? 1 : 0;
    }
    return count;
}

static void fill_reply(const struct cloud *cloud, struct cloud_call *call)
{
    const struct cloud_resource *resource;

    memset(&call->reply, 0, sizeof(call->reply));
    if (call->resource < 0 || caller_err(call) == ERR_CLOUD_TIMEOUT)
        return;
    resource = &cloud->resources[call->resource];
    call->reply.part_count = cloud_present_count(resource);
    call->reply.worker_count = resource->worker_count;
    call->reply.busy_count = count_busy(cloud, call->resource);
}

/* The first of the running calls ends. */
static void end_first(struct cloud *cloud)
{
    struct cloud_call *call = &cloud->calls[cloud->running[0]];

    FP_ASSERT(call->phase == CLOUD_RUNNING);
    cloud->running_count--;
    memmove(cloud->running, cloud->running + 1, cloud->running_count * sizeof(*cloud->running));
    call->result = apply(cloud, call);
    call->phase = CLOUD_DONE;
    fill_reply(cloud, call);
    if (cloud->hook)
        cloud->hook(cloud->hook_self, call, caller_err(call));
}

int64_t cloud_next_end_ns(const struct cloud *cloud)
{
    if (cloud->running_count == 0)
        return -1;
    return cloud->calls[cloud->running[0]].end_ns;
}

void cloud_advance(struct cloud *cloud, int64_t now_ns)
{
    FP_ASSERT(now_ns >= cloud->now_ns);
    cloud->now_ns = now_ns;
    while (cloud->running_count > 0 && cloud_next_end_ns(cloud) <= now_ns)
        end_first(cloud);
}

/* ---- a call begins ---- */

/* Is somebody making this part, with a chance to succeed? A call that was overtaken does not count:
 * whoever was told "exists" because of it would find nothing in the end. */
static bool is_being_created(const struct cloud *cloud, int resource, int part)
{
    for (size_t index = 0; index < cloud->running_count; index++) {
        const struct cloud_call *call = &cloud->calls[cloud->running[index]];

        if (call->op != RT_CLOUD_CREATE || call->resource != resource || call->part != part)
            continue;
        if (!is_overtaken(cloud, call))
            return true;
    }
    return false;
}

/* Does it take a place of the quota? */
static bool is_in_use(const struct cloud *cloud, int resource)
{
    if (cloud_present_count(&cloud->resources[resource]) > 0)
        return true;
    for (int part = 0; part < CLOUD_PART_COUNT; part++)
        if (is_being_created(cloud, resource, part))
            return true;
    return false;
}

static bool is_quota_exhausted(const struct cloud *cloud, int resource)
{
    int in_use_count = 0;

    if (cloud->config.resource_count_max == 0 || is_in_use(cloud, resource))
        return false;
    for (int index = 0; index < (int)cloud->resource_count; index++)
        in_use_count += is_in_use(cloud, index) ? 1 : 0;
    return in_use_count >= cloud->config.resource_count_max;
}

/* Can this be done to the resource as it is now? */
static enum err check_possible(const struct cloud *cloud, const struct cloud_call *call)
{
    const struct cloud_resource *resource = &cloud->resources[call->resource];

    switch (call->op) {
    case RT_CLOUD_LOOK:
        return ERR_OK;
    case RT_CLOUD_CREATE:
        if ((resource->parts[call->part].present && !resource->parts[call->part].half) ||
            is_being_created(cloud, call->resource, call->part))
            return ERR_CLOUD_EXISTS;
        return is_quota_exhausted(cloud, call->resource) ? ERR_CLOUD_QUOTA : ERR_OK;
    case RT_CLOUD_DESTROY:
        return resource->parts[call->part].present ? ERR_OK : ERR_CLOUD_ABSENT;
    case RT_CLOUD_SCALE:
        return resource->parts[CLOUD_WORKERS].present ? ERR_OK : ERR_CLOUD_ABSENT;
    }
    FP_ASSERT(!"known operation");
    return ERR_INFRASTRUCTURE;
}

/* The resource of the request. A token or a change makes the cloud remember it, a mere look does
 * not. False: no room for another. */
static bool know_resource(struct cloud *cloud, const struct rt_cloud_request *request,
                          int *resource)
{
    *resource = find_resource(cloud, request->name, request->platform, request->base_domain);
    if (*resource >= 0)
        return true;
    if (request->op == RT_CLOUD_LOOK && request->claim.token == 0)
        return true;
    if (cloud->resource_count >= CLOUD_RESOURCE_COUNT_MAX)
        return false;
    *resource = add_resource(cloud, request);
    return true;
}

/* What arrives at the cloud: is it accepted? */
static enum err check_arrival(struct cloud *cloud, const struct rt_cloud_request *request,
                              struct cloud_call *call)
{
    if (!know_resource(cloud, request, &call->resource))
        return ERR_INFRASTRUCTURE;
    if (call->resource < 0)
        return ERR_OK;
    if (!world_fence(&cloud->resources[call->resource].token, request->claim.token))
        return ERR_FENCED;
    return check_possible(cloud, call);
}

static enum err refusal_of(enum cloud_fault fault)
{
    switch (fault) {
    case CLOUD_FAULT_THROTTLED:
        return ERR_CLOUD_THROTTLED;
    case CLOUD_FAULT_QUOTA:
        return ERR_CLOUD_QUOTA;
    case CLOUD_FAULT_CREDENTIALS:
        return ERR_CLOUD_CREDENTIALS;
    case CLOUD_FAULT_NONE:
    case CLOUD_FAULT_REQUEST_LOST:
    case CLOUD_FAULT_REPLY_LOST:
    case CLOUD_FAULT_HALF_DONE:
        return ERR_OK;
    }
    FP_ASSERT(!"known fault");
    return ERR_INFRASTRUCTURE;
}

static struct range range_of(const struct cloud_call *call)
{
    switch (call->op) {
    case RT_CLOUD_LOOK:
        return (struct range){LOOK_LOW_NS, LOOK_HIGH_NS};
    case RT_CLOUD_CREATE:
        return parts[call->part].create;
    case RT_CLOUD_DESTROY:
        return parts[call->part].destroy;
    case RT_CLOUD_SCALE:
        return (struct range){SCALE_LOW_NS, SCALE_HIGH_NS};
    }
    FP_ASSERT(!"known operation");
    return (struct range){0, 0};
}

static void plan(const struct cloud *cloud, struct cloud_call *call, struct choice_stream *stream)
{
    struct range range = range_of(call);
    int64_t timeout_at_ns = world_later_ns(call->begin_ns, cloud->config.timeout_ns);

    if (cloud->instant) {
        call->end_ns = call->begin_ns;
        call->answer_ns = call->begin_ns;
        return;
    }
    if (call->fault == CLOUD_FAULT_REQUEST_LOST) {
        call->end_ns = timeout_at_ns;
        call->answer_ns = timeout_at_ns;
        return;
    }
    call->end_ns = world_later_ns(call->begin_ns, choice_range(stream, range.low_ns, range.high_ns,
                                                               cloud->config.duration_notch_count));
    call->answer_ns = call->fault == CLOUD_FAULT_REPLY_LOST ? timeout_at_ns : call->end_ns;
}

/* Keep the running calls ordered by their end; the ids of equal ends already are. */
static void run(struct cloud *cloud, size_t call_index)
{
    int64_t end_ns = cloud->calls[call_index].end_ns;
    size_t place = cloud->running_count;

    cloud->running = world_grow(cloud->running, cloud->running_count, &cloud->running_capacity,
                                sizeof(*cloud->running));
    while (place > 0 && cloud->calls[cloud->running[place - 1]].end_ns > end_ns) {
        cloud->running[place] = cloud->running[place - 1];
        place--;
    }
    cloud->running[place] = call_index;
    cloud->running_count++;
}

static void record(struct cloud *cloud, struct cloud_call *call)
{
    FP_ASSERT(cloud->call_count < CLOUD_CALL_COUNT_MAX);
    cloud->calls =
        world_grow(cloud->calls, cloud->call_count, &cloud->call_capacity, sizeof(*cloud->calls));
    call->id = (int64_t)cloud->call_count + 1;
    cloud->calls[cloud->call_count] = *call;
    run(cloud, cloud->call_count);
    cloud->call_count++;
}

static void fill_call(struct cloud_call *call, int64_t now_ns,
                      const struct rt_cloud_request *request, const char *instance,
                      enum cloud_fault fault)
{
    bool wants_part = request->op == RT_CLOUD_CREATE || request->op == RT_CLOUD_DESTROY;

    memset(call, 0, sizeof(*call));
    call->op = request->op;
    call->resource = -1;
    call->part = wants_part ? cloud_part_find(request->part) : -1;
    FP_ASSERT(!wants_part || call->part >= 0);
    FP_ASSERT(request->count >= 0);
    call->count = request->count;
    call->fault = fault;
    call->begin_ns = now_ns;
    world_owner_set(&call->by, &request->claim, instance);
}

static enum err accept(struct cloud *cloud, const struct rt_cloud_request *request,
                       struct cloud_call *call)
{
    enum err refusal = refusal_of(call->fault);

    if (refusal != ERR_OK)
        return refusal;
    if (cloud->call_count >= CLOUD_CALL_COUNT_MAX)
        return ERR_INFRASTRUCTURE;
    if (call->fault == CLOUD_FAULT_REQUEST_LOST)
        return ERR_OK;
    return check_arrival(cloud, request, call);
}

void cloud_set_instant(struct cloud *cloud, bool instant)
{
    cloud->instant = instant;
}

enum err cloud_begin(struct cloud *cloud, int64_t now_ns, const struct rt_cloud_request *request,
                     const char *instance, struct choice_stream *stream, enum cloud_fault fault,
                     struct cloud_call *call)
{
    enum err err;

    FP_ASSERT(request->name != NULL);
    cloud_advance(cloud, now_ns);
    fill_call(call, now_ns, request, instance, fault);
    err = accept(cloud, request, call);
    if (err != ERR_OK) {
        memset(call, 0, sizeof(*call));
        return err;
    }
    plan(cloud, call, stream);
    record(cloud, call);
    return ERR_OK;
}

enum err cloud_finish(struct cloud *cloud, int64_t now_ns, int64_t id, struct rt_cloud_reply *reply)
{
    const struct cloud_call *call;

    FP_ASSERT(id >= 1);
    FP_ASSERT((size_t)id <= cloud->call_count);
    cloud_advance(cloud, now_ns);
    call = &cloud->calls[id - 1];
    FP_ASSERT(now_ns >= call->answer_ns);
    /* Still running: the caller has given up earlier than the cloud. */
    if (call->phase == CLOUD_RUNNING) {
        FP_ASSERT(call->fault == CLOUD_FAULT_REPLY_LOST);
        memset(reply, 0, sizeof(*reply));
        return ERR_CLOUD_TIMEOUT;
    }
    *reply = call->reply;
    return caller_err(call);
}

/* ---- reports ---- */

int cloud_resource_count(const struct cloud *cloud)
{
    return (int)cloud->resource_count;
}

const struct cloud_resource *cloud_resource(const struct cloud *cloud, int index)
{
    FP_ASSERT(index >= 0);
    FP_ASSERT((size_t)index < cloud->resource_count);
    return &cloud->resources[index];
}

const struct cloud_resource *cloud_resource_find(const struct cloud *cloud, const char *name,
                                                 const char *platform, const char *base_domain)
{
    int index = find_resource(cloud, name, platform, base_domain);

    return index < 0 ? NULL : &cloud->resources[index];
}

int cloud_call_count(const struct cloud *cloud)
{
    return (int)cloud->call_count;
}

const struct cloud_call *cloud_call(const struct cloud *cloud, int index)
{
    FP_ASSERT(index >= 0);
    FP_ASSERT((size_t)index < cloud->call_count);
    return &cloud->calls[index];
}

int cloud_running_count(const struct cloud *cloud)
{
    return (int)cloud->running_count;
}
