#include "sim/world/service.h"

#include <stdlib.h>
#include <string.h>

/* The highest token seen for a subject. */
struct subject {
    char service[WORLD_NAME_SIZE_MAX];
    char name[WORLD_ID_SIZE_MAX];
    int64_t token;
};

struct service {
    int64_t now_ns;             /* of the last call */
    struct service_call *calls; /* by id */
    size_t call_count, call_capacity;
    size_t first_running; /* every call before it is done */
    int running_count;
    struct subject *subjects;
    size_t subject_count, subject_capacity;
    service_done_hook *hook;
    void *hook_self;
};

struct service *service_new(void)
{
    return fp_alloc(sizeof(struct service));
}

void service_free(struct service *service)
{
    if (service == NULL)
        return;
    free(service->calls);
    free(service->subjects);
    free(service);
}

void service_reset(struct service *service)
{
    service->now_ns = 0;
    service->call_count = 0;
    service->first_running = 0;
    service->running_count = 0;
    service->subject_count = 0;
}

void service_on_done(struct service *service, service_done_hook *hook, void *self)
{
    service->hook = hook;
    service->hook_self = self;
}

/* ---- subjects and their tokens ---- */

static struct subject *subject_of(struct service *service, const char *name, const char *subject)
{
    for (size_t i = 0; i < service->subject_count; i++)
        if (strcmp(service->subjects[i].service, name) == 0 &&
            strcmp(service->subjects[i].name, subject) == 0)
            return &service->subjects[i];
    service->subjects = world_grow(service->subjects, service->subject_count,
                                   &service->subject_capacity, sizeof *service->subjects);
    struct subject *added = &service->subjects[service->subject_count++];
    memset(added, 0, sizeof *added);
    world_copy_text(added->service, sizeof added->service, name);
    world_copy_text(added->name, sizeof added->name, subject);
    return added;
}

static bool is_overtaken(struct service *service, const struct service_call *call)
{
    return call->by.token != 0 &&
           call->by.token < subject_of(service, call->service, call->subject)->token;
}

/* ---- a call takes effect ---- */

static bool has_happened(const struct service_call *call)
{
    return call->done && call->result == ERR_OK && !call->repeated;
}

static bool is_known_key(const struct service *service, const struct service_call *call)
{
    for (size_t i = 0; call->key[0] != '\0' && i < service->call_count; i++) {
        const struct service_call *other = &service->calls[i];
        if (has_happened(other) && strcmp(other->key, call->key) == 0 &&
            strcmp(other->op, call->op) == 0 && strcmp(other->service, call->service) == 0)
            return true;
    }
    return false;
}

static void end_call(struct service *service, struct service_call *call)
{
    if (call->fault == SERVICE_FAULT_REQUEST_LOST)
        call->result = ERR_SERVICE_TIMEOUT;
    else if (is_overtaken(service, call)) /* the right counts at the moment of the effect */
        call->result = ERR_FENCED;
    else
        call->repeated = is_known_key(service, call);
    call->done = true;
    service->running_count--;
    while (service->first_running < service->call_count &&
           service->calls[service->first_running].done)
        service->first_running++;
    if (service->hook != NULL)
        service->hook(service->hook_self, call);
}

/* The running call that ends next; NULL: none runs. */
static struct service_call *next_call(const struct service *service)
{
    struct service_call *next = NULL;
    for (size_t i = service->first_running; i < service->call_count; i++) {
        struct service_call *call = &service->calls[i];
        if (!call->done && (next == NULL || call->end_ns < next->end_ns))
            next = call;
    }
    return next;
}

void service_advance(struct service *service, int64_t now_ns)
{
    FP_ASSERT(now_ns >= service->now_ns);
    service->now_ns = now_ns;
    struct service_call *next = next_call(service);
    while (next != NULL && next->end_ns <= now_ns) {
        end_call(service, next);
        next = next_call(service);
    }
}

int64_t service_next_end_ns(const struct service *service)
{
    const struct service_call *next = next_call(service);
    return next != NULL ? next->end_ns : -1;
}

int service_running_count(const struct service *service)
{
    return service->running_count;
}

static bool is_same_effect(const struct service_call *a, const struct service_call *b)
{
    return strcmp(a->subject, b->subject) == 0 && strcmp(a->op, b->op) == 0 &&
           strcmp(a->service, b->service) == 0;
}

int service_duplicate_count(const struct service *service)
{
    int count = 0;
    for (size_t i = 0; i < service->call_count; i++) {
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = !has_happened(&service->calls[j]) ||
                       !is_same_effect(&service->calls[j], &service->calls[i]);
        count += has_happened(&service->calls[i]) && !is_first;
    }
    return count;
}

/* ---- a call begins ---- */

static enum err refusal_of(enum service_fault fault)
{
    switch (fault) {
    case SERVICE_FAULT_THROTTLED:
        return ERR_SERVICE_THROTTLED;
    case SERVICE_FAULT_REJECTED:
        return ERR_SERVICE_REJECTED;
    case SERVICE_FAULT_NONE:
    case SERVICE_FAULT_REQUEST_LOST:
    case SERVICE_FAULT_REPLY_LOST:
        return ERR_OK;
    }
    FP_ASSERT(!"known fault");
    return ERR_INFRASTRUCTURE;
}

static void plan(struct service_call *call, int64_t now_ns,
                 const struct rt_service_request *request, struct choice_stream *stream)
{
    int64_t timeout_at_ns = world_later_ns(now_ns, SERVICE_TIMEOUT_NS);
    FP_ASSERT(request->lasts_low_ns >= 0 && request->lasts_low_ns <= request->lasts_high_ns);
    call->end_ns =
        world_later_ns(now_ns, choice_range(stream, request->lasts_low_ns, request->lasts_high_ns,
                                            SERVICE_NOTCH_COUNT));
    if (call->fault == SERVICE_FAULT_REQUEST_LOST)
        call->end_ns = timeout_at_ns;
    bool silent = call->fault == SERVICE_FAULT_REPLY_LOST;
    call->answer_ns = silent && timeout_at_ns > call->end_ns ? timeout_at_ns : call->end_ns;
}

static void fill(struct service_call *call, const struct rt_service_request *request,
                 const char *instance)
{
    world_copy_text(call->service, sizeof call->service, request->service);
    world_copy_text(call->op, sizeof call->op, request->op);
    world_copy_text(call->subject, sizeof call->subject, request->subject);
    world_copy_text(call->key, sizeof call->key, request->key);
    world_owner_set(&call->by, &request->claim, instance);
}

enum err service_begin(struct service *service, int64_t now_ns,
                       const struct rt_service_request *request, const char *instance,
                       struct choice_stream *stream, enum service_fault fault,
                       struct service_call *call)
{
    memset(call, 0, sizeof *call);
    service_advance(service, now_ns);
    enum err err = refusal_of(fault);
    if (err != ERR_OK)
        return err;
    if (service->call_count >= SERVICE_CALL_COUNT_MAX)
        return ERR_INFRASTRUCTURE;
    if (fault != SERVICE_FAULT_REQUEST_LOST &&
        !world_fence(&subject_of(service, request->service, request->subject)->token,
                     request->claim.token))
        return ERR_FENCED;

    service->calls = world_grow(service->calls, service->call_count, &service->call_capacity,
                                sizeof *service->calls);
    struct service_call *added = &service->calls[service->call_count++];
    memset(added, 0, sizeof *added);
    added->id = (int64_t)service->call_count;
    added->fault = fault;
    fill(added, request, instance);
    plan(added, now_ns, request, stream);
    service->running_count++;
    *call = *added;
    return ERR_OK;
}

enum err service_finish(struct service *service, int64_t now_ns, int64_t id,
                        struct rt_service_reply *reply)
{
    service_advance(service, now_ns);
    FP_ASSERT(id >= 1 && id <= (int64_t)service->call_count);
    const struct service_call *call = &service->calls[id - 1];
    FP_ASSERT(call->done && call->answer_ns <= now_ns);
    memset(reply, 0, sizeof *reply);
    if (call->fault == SERVICE_FAULT_REPLY_LOST)
        return ERR_SERVICE_TIMEOUT;
    reply->repeated = call->repeated;
    return call->result;
}

enum err service_look(struct service *service, int64_t now_ns,
                      const struct rt_service_request *request, int32_t *done_count)
{
    *done_count = 0;
    service_advance(service, now_ns);
    if (request->claim.token != 0 &&
        !world_fence(&subject_of(service, request->service, request->subject)->token,
                     request->claim.token))
        return ERR_FENCED;
    for (size_t i = 0; i < service->call_count; i++) {
        const struct service_call *call = &service->calls[i];
        if (has_happened(call) && strcmp(call->service, request->service) == 0 &&
            strcmp(call->op, request->op) == 0 && strcmp(call->subject, request->subject) == 0)
            ++*done_count;
    }
    return ERR_OK;
}
