/* The state machine of the document, as data. */
#include <string.h>

#include "reference_impl/job_locks/job_locks.h"

static const struct job_rule rules[] = {
    {"CREATE", {"PENDING", NULL}, "CREATING", "READY", "PENDING"},
    {"DESTROY", {"READY", "FAILED"}, "DESTROYING", "DESTROYED", "FAILED"},
    {"JANITOR_DESTROY", {"READY", "FAILED"}, "DESTROYING", "DESTROYED", "FAILED"},
    {"SCALE_WORKERS", {"READY", NULL}, "SCALING", "READY", "READY"},
};

const struct job_rule *job_rule_find(const char *type)
{
    for (size_t i = 0; i < FP_COUNT(rules); i++)
        if (strcmp(rules[i].type, type) == 0)
            return &rules[i];
    return NULL;
}

bool job_rule_allows(const struct job_rule *rule, const char *status)
{
    for (size_t i = 0; i < FP_COUNT(rule->from); i++)
        if (rule->from[i] != NULL && strcmp(rule->from[i], status) == 0)
            return true;
    return false;
}

bool status_is_in_progress(const char *status)
{
    for (size_t i = 0; i < FP_COUNT(rules); i++)
        if (strcmp(rules[i].during, status) == 0)
            return true;
    return false;
}
