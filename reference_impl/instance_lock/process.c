/* The process that every instance follows. */
#include <string.h>

#include "reference_impl/instance_lock/instance_lock.h"

static const struct transition transitions[] = {
    {"FORM", "SIGNING", {"create_pdf", "archive", "notify_signers"}},
    {"SIGNING", "PAYMENT", {"send_message", "seal"}},
    {"PAYMENT", "ENDED", {"charge", "send_receipt"}},
};

const struct transition *transition_from(const char *task)
{
    for (size_t i = 0; i < FP_COUNT(transitions); i++)
        if (strcmp(transitions[i].from, task) == 0)
            return &transitions[i];
    return NULL;
}
