/* What the models of the world share: who did it, text of a fixed size, growing arrays, time. */
#ifndef FENCEPOST_WORLD_COMMON_H
#define FENCEPOST_WORLD_COMMON_H

#include "sim/rt.h"

#define WORLD_ID_SIZE_MAX 80       /* cluster and job ids; the documents give them 64 characters */
#define WORLD_NAME_SIZE_MAX 80     /* names of resources, platforms, domains */
#define WORLD_INSTANCE_SIZE_MAX 80 /* "worker-1.2" */

/* Who has done something, for which run of which job, by which right: a claim that owns its
 * text. */
struct world_owner {
    char cluster_id[WORLD_ID_SIZE_MAX];
    char job_id[WORLD_ID_SIZE_MAX];
    char instance[WORLD_INSTANCE_SIZE_MAX];
    int64_t run;
    int64_t token;
};

/* Copies the texts; NULL counts as "". Every text must fit. */
void world_owner_set(struct world_owner *owner, const struct rt_claim *claim, const char *instance);
/* The same job in the same run by the same instance? The token does not count. */
bool world_owner_same_run(const struct world_owner *a, const struct world_owner *b);

/* Copy `text` into `size` bytes; NULL counts as "". A text that does not fit is a programmer's
 * error: a truncated name would silently be another name. */
void world_copy_text(char *to, size_t size, const char *text);

/* now_ns + duration_ns, or INT64_MAX when that is past the end of time. duration_ns >= 0. */
int64_t world_later_ns(int64_t now_ns, int64_t duration_ns);

/* Make room for one element more in an array of `count` elements of `element_size` bytes. Gives
 * back the array, perhaps elsewhere, and keeps *capacity. Caller frees it. */
void *world_grow(void *array, size_t count, size_t *capacity, size_t element_size);

/* One rule of fencing for everything that checks tokens. Token 0 is not checked. A token below
 * *seen is refused (false); any other is accepted and remembered. */
bool world_fence(int64_t *seen, int64_t token);

#endif
