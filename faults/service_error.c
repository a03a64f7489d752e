/* A call to an outside service fails: it is throttled, refused for good; or it times out, and then
 * nobody knows whether it happened. */
#include <stddef.h>

#include "faults/fault.h"

struct service_error_config {
    struct fault_common common;
    int kind; /* enum service_error */
};

static const char *const kind_words[] = {"throttled", "request_lost", "reply_lost",
                                         "rejected",  "any",          NULL};

_Static_assert(FP_COUNT(kind_words) == SERVICE_ERROR_COUNT + 1, "a word for each error");

static const struct field service_error_fields[] = {
    {.key = "kind",
     .type = FIELD_ENUM,
     .offset = offsetof(struct service_error_config, kind),
     .words = kind_words,
     .fallback = "any",
     .about = "throttled: refused at once, try again later; request_lost: it never arrives; "
              "reply_lost: it happens and the caller never learns; rejected: refused for good; "
              "any: one of these, drawn"},
};

static void service_error_strike(struct fault_host *host, const void *config,
                                 const struct fault_visit *visit)
{
    const struct service_error_config *error = config;

    FP_ASSERT(visit->point == POINT_SERVICE_CALL);
    if (error->kind == SERVICE_ERROR_ANY)
        fault_fail_service(host, (enum service_error)fault_draw(host, SERVICE_ERROR_ANY));
    else
        fault_fail_service(host, (enum service_error)error->kind);
}

const struct fault_kind fault_kind_service_error = {
    .name = "service_error",
    .about = "a call to an outside service fails, at once or by a timeout",
    .example = "service_error: {kind: reply_lost, probability: 0.1, times: 3}",
    .fields = service_error_fields,
    .field_count = FP_COUNT(service_error_fields),
    .config_size = sizeof(struct service_error_config),
    .points = POINT_BIT(POINT_SERVICE_CALL),
    .points_default = POINT_BIT(POINT_SERVICE_CALL),
    .strike = service_error_strike,
};
