/* Transient and permanent failures, as the document tells them apart. */
#include <stddef.h>

#include "reference_impl/job_locks/job_locks.h"

static const struct {
    enum err err;
    bool is_transient;
    const char *code;
} failures[] = {
    {ERR_CLOUD_THROTTLED, true, "CLOUD_THROTTLED"},
    {ERR_CLOUD_TIMEOUT, true, "CLOUD_TIMEOUT"},
    {ERR_STORE_UNAVAILABLE, true, "ARTIFACTS_UNAVAILABLE"},
    {ERR_CLOUD_QUOTA, false, "QUOTA_EXCEEDED"},
    {ERR_CLOUD_CREDENTIALS, false, "INVALID_CREDENTIALS"},
    {ERR_STORE_ABSENT, false, "INVALID_CONFIG"},
    {ERR_CLOUD_EXISTS, false, "RESOURCES_LEFT"},
    {ERR_CLOUD_ABSENT, false, "RESOURCES_MISSING"},
};

bool failure_is_transient(enum err err)
{
    for (size_t i = 0; i < FP_COUNT(failures); i++)
        if (failures[i].err == err)
            return failures[i].is_transient;
    return false;
}

const char *failure_code(enum err err)
{
    for (size_t i = 0; i < FP_COUNT(failures); i++)
        if (failures[i].err == err)
            return failures[i].code;
    return err == ERR_OK ? NULL : err_name(err);
}
