#include "sim/world/common.h"

#include <string.h>

#define CAPACITY_FIRST 16

void world_copy_text(char *to, size_t size, const char *text)
{
    const char *from = text ? text : "";
    size_t length = strlen(from);

    FP_ASSERT(length < size);
    memcpy(to, from, length + 1);
}

void world_owner_set(struct world_owner *owner, const struct rt_claim *claim, const char *instance)
{
    FP_ASSERT(claim->token >= 0);
    world_copy_text(owner->cluster_id, sizeof(owner->cluster_id), claim->cluster_id);
    world_copy_text(owner->job_id, sizeof(owner->job_id), claim->job_id);
    world_copy_text(owner->instance, sizeof(owner->instance), instance);
    owner->run = claim->run;
    owner->token = claim->token;
}

bool world_owner_same_run(const struct world_owner *a, const struct world_owner *b)
{
    if (a->run != b->run)
        return false;
    return strcmp(a->job_id, b->job_id) == 0 && strcmp(a->instance, b->instance) == 0;
}

int64_t world_later_ns(int64_t now_ns, int64_t duration_ns)
{
    FP_ASSERT(now_ns >= 0);
    FP_ASSERT(duration_ns >= 0);
    if (duration_ns > INT64_MAX - now_ns)
        return INT64_MAX;
    return now_ns + duration_ns;
}

void *world_grow(void *array, size_t count, size_t *capacity, size_t element_size)
{
    FP_ASSERT(count <= *capacity);
    if (count < *capacity)
        return array;
    *capacity = count == 0 ? CAPACITY_FIRST : 2 * count;
    return fp_realloc(array, *capacity * element_size);
}

bool world_fence(int64_t *seen, int64_t token)
{
    FP_ASSERT(token >= 0);
    if (token == 0)
        return true;
    if (token < *seen)
        return false;
    *seen = token;
    return true;
}
