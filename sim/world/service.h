/* An outside service that does what cannot be taken back: it publishes, charges, sends. A model: no
 * clock, no waiting; every call gets the virtual time, which must never run backwards.
 *
 * The service does not lock: calls of different runs about one subject overlap freely, and each
 * that is accepted takes effect at its end, although its caller may have died. It refuses tokens
 * that are older than one it has seen for the subject. A call with an idempotency key that has
 * taken effect before is answered and does nothing. README.md says what is modelled and what is
 * not. */
#ifndef FENCEPOST_SERVICE_H
#define FENCEPOST_SERVICE_H

#include "sim/core/choice.h"
#include "sim/rt.h"
#include "sim/world/common.h"

#define SERVICE_CALL_COUNT_MAX 65536
#define SERVICE_TIMEOUT_NS (2 * NS_PER_MIN) /* after that a caller without an answer gives up */
#define SERVICE_NOTCH_COUNT 8               /* how finely durations are drawn */

/* What goes wrong with a call, as its caller decides. */
enum service_fault {
    SERVICE_FAULT_NONE,
    SERVICE_FAULT_THROTTLED,    /* refused at once: ERR_SERVICE_THROTTLED */
    SERVICE_FAULT_REQUEST_LOST, /* never arrives; its caller learns ERR_SERVICE_TIMEOUT */
    SERVICE_FAULT_REPLY_LOST,   /* happens; its caller learns ERR_SERVICE_TIMEOUT */
    SERVICE_FAULT_REJECTED,     /* refused at once and for good: ERR_SERVICE_REJECTED */
};

/* One accepted call. */
struct service_call {
    int64_t id;    /* 1, 2, ... */
    bool done;     /* its end has come: `result` says what it did */
    bool repeated; /* its key had taken effect before: nothing was done again */
    char service[WORLD_NAME_SIZE_MAX];
    char op[WORLD_NAME_SIZE_MAX];
    char subject[WORLD_ID_SIZE_MAX];
    char key[WORLD_ID_SIZE_MAX]; /* "": none */
    enum service_fault fault;
    struct world_owner by;
    int64_t end_ns;    /* when it takes effect */
    int64_t answer_ns; /* when its caller learns */
    enum err result; /* what the service did: ERR_OK, ERR_FENCED, or ERR_SERVICE_TIMEOUT: nothing */
};

/* Called once for each accepted call, at its end, in the order of (end_ns, id). Must not call the
 * service. */
typedef void service_done_hook(void *self, const struct service_call *call);

struct service;

struct service *service_new(void);
void service_free(struct service *service); /* NULL is allowed */
/* Empty, as new; keeps the memory and the hook. */
void service_reset(struct service *service);
void service_on_done(struct service *service, service_done_hook *hook, void *self); /* NULL: none */

/* Begin a call. On ERR_OK it was accepted and *call is a copy of its record: the caller sleeps
 * until call->answer_ns and then calls service_finish. Any other answer is final, comes at once,
 * changes nothing and leaves *call zeroed: ERR_SERVICE_THROTTLED, ERR_SERVICE_REJECTED: as
 * injected. ERR_FENCED: the token is lower than one seen for this subject. ERR_INFRASTRUCTURE: the
 * maximum above is reached. The duration is drawn from `stream`, 0 is the shortest. */
enum err service_begin(struct service *service, int64_t now_ns,
                       const struct rt_service_request *request, const char *instance,
                       struct choice_stream *stream, enum service_fault fault,
                       struct service_call *call);
/* What the caller of call `id` learns. now_ns must not be before its answer_ns. ERR_FENCED: a
 * higher token came while it ran, it had no effect. ERR_SERVICE_TIMEOUT: as injected. */
enum err service_finish(struct service *service, int64_t now_ns, int64_t id,
                        struct rt_service_reply *reply);
/* How often this was done to the subject so far. A call without a token does not fence anybody; one
 * with a token does, as any other: see world_fence. ERR_FENCED: the token is too old. */
enum err service_look(struct service *service, int64_t now_ns,
                      const struct rt_service_request *request, int32_t *done_count);

/* Let every call whose end has come take effect. The calls above do it first themselves. */
void service_advance(struct service *service, int64_t now_ns);
/* When the next running call ends; -1: none is running. */
int64_t service_next_end_ns(const struct service *service);
int service_running_count(const struct service *service);
/* How many effects there were beyond the first of the same kind on the same subject. */
int service_duplicate_count(const struct service *service);

#endif
