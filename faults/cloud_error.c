/* A call to the cloud fails: it is throttled, it runs into a quota, the credentials are refused; or
 * it times out, and then nobody knows whether it happened. */
#include <stddef.h>

#include "faults/fault.h"

struct cloud_error_config {
    struct fault_common common;
    int kind; /* enum cloud_error */
};

static const char *const kind_words[] = {"throttled",   "request_lost", "reply_lost", "quota",
                                         "credentials", "any",          "half_done",  NULL};

_Static_assert(FP_COUNT(kind_words) == CLOUD_ERROR_COUNT + 1, "a word for each error");

static const struct field cloud_error_fields[] = {
    {.key = "kind",
     .type = FIELD_ENUM,
     .offset = offsetof(struct cloud_error_config, kind),
     .words = kind_words,
     .fallback = "any",
     .about = "throttled, quota, credentials: refused at once; request_lost: it never arrives; "
              "reply_lost: it happens and the caller never learns; any: one of these, drawn; "
              "half_done: it stops half way, and creating or destroying again completes it"},
};

static void cloud_error_strike(struct fault_host *host, const void *config,
                               const struct fault_visit *visit)
{
    const struct cloud_error_config *error = config;

    FP_ASSERT(visit->point == POINT_CLOUD_CALL);
    if (error->kind == CLOUD_ERROR_ANY)
        fault_fail_cloud(host, (enum cloud_error)fault_draw(host, CLOUD_ERROR_ANY));
    else
        fault_fail_cloud(host, (enum cloud_error)error->kind);
}

const struct fault_kind fault_kind_cloud_error = {
    .name = "cloud_error",
    .about = "a call to the cloud fails, at once or by a timeout",
    .example = "cloud_error: {kind: reply_lost, probability: 0.1, times: 3}",
    .fields = cloud_error_fields,
    .field_count = FP_COUNT(cloud_error_fields),
    .config_size = sizeof(struct cloud_error_config),
    .points = POINT_BIT(POINT_CLOUD_CALL),
    .points_default = POINT_BIT(POINT_CLOUD_CALL),
    .strike = cloud_error_strike,
};
