/* The cloud: resources that are made of parts, and calls that take minutes. A model: no clock, no
 * waiting; every call gets the virtual time, which must never run backwards.
 *
 * Resources are keyed by name, platform and base domain, as real clouds key them, not by the id
 * that a database gives them. The cloud does not lock: calls of different runs on one resource
 * overlap freely. It only refuses what cannot be done, and tokens that are older than one it has
 * seen. A call that was accepted goes on although its caller died. README.md says what is modelled
 * and what is not. */
#ifndef FENCEPOST_CLOUD_H
#define FENCEPOST_CLOUD_H

#include "sim/core/choice.h"
#include "sim/rt.h"
#include "sim/world/common.h"

#define CLOUD_RESOURCE_COUNT_MAX 256
#define CLOUD_CALL_COUNT_MAX 65536
#define CLOUD_WORKER_COUNT_DEFAULT 3 /* when "workers" is created without a count */

/* The parts of a cluster, in the order in which they are built: name, then the shortest and the
 * longest time, in minutes, to create it and to destroy it. */
#define CLOUD_PARTS(X)                                                                             \
    X(CLOUD_NETWORK, "network", 2, 6, 2, 5)                                                        \
    X(CLOUD_DNS, "dns", 1, 3, 1, 2)                                                                \
    X(CLOUD_CONTROL_PLANE, "control-plane", 8, 20, 3, 10)                                          \
    X(CLOUD_WORKERS, "workers", 5, 15, 3, 8)                                                       \
    X(CLOUD_INGRESS, "ingress", 2, 5, 1, 3)

enum cloud_part_id {
#define X(id, name, create_low, create_high, destroy_low, destroy_high) id,
    CLOUD_PARTS(X)
#undef X
        CLOUD_PART_COUNT
};

/* "control-plane"; static. index < CLOUD_PART_COUNT. */
const char *cloud_part_name(int index);
/* The index of that part; -1: there is no such part. NULL is allowed. */
int cloud_part_find(const char *name);
const char *cloud_op_name(enum rt_cloud_op op); /* "create"; static */

/* What goes wrong with a call, as its caller decides. */
enum cloud_fault {
    CLOUD_FAULT_NONE,
    CLOUD_FAULT_THROTTLED,    /* refused at once: ERR_CLOUD_THROTTLED */
    CLOUD_FAULT_QUOTA,        /* refused at once: ERR_CLOUD_QUOTA */
    CLOUD_FAULT_CREDENTIALS,  /* refused at once: ERR_CLOUD_CREDENTIALS */
    CLOUD_FAULT_REQUEST_LOST, /* never reaches the cloud; its caller learns ERR_CLOUD_TIMEOUT */
    CLOUD_FAULT_REPLY_LOST,   /* happens, now or later; its caller learns ERR_CLOUD_TIMEOUT */
    CLOUD_FAULT_HALF_DONE,    /* stops half way; its caller learns ERR_CLOUD_TIMEOUT at its end */
};

struct cloud_config {
    int resource_count_max; /* the quota: clusters that exist or are being made; 0: none */
    int64_t timeout_ns;     /* after that a caller gives up when the answer is lost; 5 minutes */
    uint32_t duration_notch_count; /* how finely durations are drawn; 8 */
};
struct cloud_config cloud_config_default(void);

struct cloud_part {
    bool present;
    bool half;             /* of it there is only a part: it can be created, and destroyed */
    int64_t since_ns;      /* when it came, or went; 0: it never was there */
    struct world_owner by; /* who made it; kept when it goes */
};

/* A resource that was ever asked to be changed. It stays in the list when its last part is gone:
 * the cloud remembers the highest token that it has seen for it. */
struct cloud_resource {
    char name[WORLD_NAME_SIZE_MAX];
    char platform[WORLD_NAME_SIZE_MAX];
    char base_domain[WORLD_NAME_SIZE_MAX];
    int64_t token; /* highest seen; 0: none */
    int32_t worker_count;
    struct cloud_part parts[CLOUD_PART_COUNT];
};

enum cloud_phase {
    CLOUD_RUNNING, /* accepted, its end has not come */
    CLOUD_DONE,    /* its end has come: `result` says what it did */
};

/* One accepted call. */
struct cloud_call {
    int64_t id; /* 1, 2, ... */
    enum cloud_phase phase;
    enum rt_cloud_op op;
    int resource; /* index; -1: it never arrived, or looks at what nobody ever asked for */
    int part;     /* index; -1: none */
    int32_t count;
    enum cloud_fault fault;
    struct world_owner by;
    int64_t begin_ns;
    int64_t end_ns;    /* when it takes effect */
    int64_t answer_ns; /* when its caller learns; not end_ns when the answer is lost */
    enum err result;   /* what the cloud did: ERR_OK, or the reason of its refusal at the end */
    struct rt_cloud_reply reply;
};

/* Called once for each accepted call, at its end, in the order of (end_ns, id). `caller_err` is
 * what the caller will learn. Must not call the cloud. */
typedef void cloud_done_hook(void *self, const struct cloud_call *call, enum err caller_err);

struct cloud;

struct cloud *cloud_new(const struct cloud_config *config);
void cloud_free(struct cloud *cloud); /* NULL is allowed */
/* Empty, as new, with this config; keeps the memory and the hook. */
void cloud_reset(struct cloud *cloud, const struct cloud_config *config);
void cloud_on_done(struct cloud *cloud, cloud_done_hook *hook, void *self); /* NULL: none */

/* While set, calls take no time and draw nothing: for filling the world before a run. A reset keeps
 * it. */
void cloud_set_instant(struct cloud *cloud, bool instant);

/* Begin a call. On ERR_OK it was accepted and *call is a copy of its record: the caller sleeps
 * until call->answer_ns and then calls cloud_finish. Any other answer is final, comes at once,
 * changes nothing and leaves *call zeroed:
 * ERR_CLOUD_THROTTLED, ERR_CLOUD_CREDENTIALS: as injected. The cloud has not looked at the token.
 * ERR_FENCED: the token is lower than one seen for this resource.
 * ERR_CLOUD_QUOTA: injected, or it would be one cluster too many.
 * ERR_CLOUD_EXISTS: the part to create is there, all of it, or is being created by a call that may
 * succeed. ERR_CLOUD_ABSENT: the part to destroy, or the workers to scale, are not there.
 * ERR_INFRASTRUCTURE: one of the maxima above is reached.
 * Every call that arrives with a token raises the highest one seen, a look too: so whoever takes
 * over stops the calls of its predecessor before it reads. The duration is drawn from `stream`,
 * 0 is the shortest. request->part must name a part for create and destroy. */
enum err cloud_begin(struct cloud *cloud, int64_t now_ns, const struct rt_cloud_request *request,
                     const char *instance, struct choice_stream *stream, enum cloud_fault fault,
                     struct cloud_call *call);
/* What the caller of call `id` learns. now_ns must not be before its answer_ns. May be asked again.
 * ERR_FENCED: a higher token came while it ran, it had no effect.
 * ERR_CLOUD_EXISTS, ERR_CLOUD_ABSENT: somebody else was quicker, it had no effect.
 * ERR_CLOUD_TIMEOUT: as injected; *reply is zeroed. */
enum err cloud_finish(struct cloud *cloud, int64_t now_ns, int64_t id,
                      struct rt_cloud_reply *reply);

/* Let every call whose end has come take effect. cloud_begin and cloud_finish do it first
 * themselves. */
void cloud_advance(struct cloud *cloud, int64_t now_ns);
/* When the next running call ends; -1: none is running. */
int64_t cloud_next_end_ns(const struct cloud *cloud);

/* ---- what reports and checks use; as of the last advance ---- */

/* In the order in which they were first asked for. */
int cloud_resource_count(const struct cloud *cloud);
const struct cloud_resource *cloud_resource(const struct cloud *cloud, int index);
/* NULL: the cloud has never heard of it. */
const struct cloud_resource *cloud_resource_find(const struct cloud *cloud, const char *name,
                                                 const char *platform, const char *base_domain);
int cloud_present_count(const struct cloud_resource *resource); /* parts that are there */
/* All accepted calls since the cloud was new, by id. index = id - 1. */
int cloud_call_count(const struct cloud *cloud);
const struct cloud_call *cloud_call(const struct cloud *cloud, int index);
int cloud_running_count(const struct cloud *cloud);

#endif
