#include "sim/world/store.h"

#include <stdlib.h>
#include <string.h>

struct object {
    char key[STORE_KEY_SIZE_MAX];
    int64_t token;
    int64_t version_count;
    size_t latest; /* index of its last version, when it has any */
};

struct store {
    int64_t now_ns; /* of the last change */
    struct object *objects;
    size_t object_count, object_capacity;
    struct store_version *versions;
    size_t version_count, version_capacity;
};

struct store *store_new(void)
{
    return fp_alloc(sizeof(struct store));
}

void store_free(struct store *store)
{
    if (!store)
        return;
    free(store->objects);
    free(store->versions);
    free(store);
}

void store_reset(struct store *store)
{
    store->now_ns = 0;
    store->object_count = 0;
    store->version_count = 0;
}

static struct object *find(const struct store *store, const char *key)
{
    for (size_t index = 0; index < store->object_count; index++)
        if (strcmp(store->objects[index].key, key) == 0)
            return &store->objects[index];
    return NULL;
}

static struct object *add_object(struct store *store, const char *key)
{
    struct object *object;

    FP_ASSERT(key[0] != '\0');
    if (store->object_count >= STORE_OBJECT_COUNT_MAX)
        return NULL;
    store->objects = world_grow(store->objects, store->object_count, &store->object_capacity,
                                sizeof(*store->objects));
    object = &store->objects[store->object_count++];
    memset(object, 0, sizeof(*object));
    world_copy_text(object->key, sizeof(object->key), key);
    return object;
}

static bool is_there(const struct store *store, const struct object *object)
{
    return object->version_count > 0 && !store->versions[object->latest].deleted;
}

/* A new version of the object, all filled but its content and marker. */
static struct store_version *add_version(struct store *store, struct object *object,
                                         const struct rt_claim *claim, const char *instance)
{
    struct store_version *version;

    FP_ASSERT(store->version_count < STORE_VERSION_COUNT_MAX);
    store->versions = world_grow(store->versions, store->version_count, &store->version_capacity,
                                 sizeof(*store->versions));
    object->latest = store->version_count++;
    version = &store->versions[object->latest];
    memset(version, 0, sizeof(*version));
    version->object = (int)(object - store->objects);
    version->number = ++object->version_count;
    version->written_ns = store->now_ns;
    world_owner_set(&version->by, claim, instance);
    return version;
}

static void enter(struct store *store, int64_t now_ns)
{
    FP_ASSERT(now_ns >= store->now_ns);
    store->now_ns = now_ns;
}

enum err store_put(struct store *store, int64_t now_ns, const char *key, const char *content,
                   const struct rt_claim *claim, const char *instance, int64_t *number)
{
    struct object *object;
    struct store_version *version;

    enter(store, now_ns);
    object = find(store, key);
    if (!object)
        object = add_object(store, key);
    if (!object || store->version_count >= STORE_VERSION_COUNT_MAX)
        return ERR_INFRASTRUCTURE;
    if (!world_fence(&object->token, claim->token))
        return ERR_FENCED;
    version = add_version(store, object, claim, instance);
    world_copy_text(version->content, sizeof(version->content), content);
    if (number)
        *number = version->number;
    return ERR_OK;
}

enum err store_delete(struct store *store, int64_t now_ns, const char *key,
                      const struct rt_claim *claim, const char *instance)
{
    struct object *object;

    enter(store, now_ns);
    object = find(store, key);
    if (!object)
        return ERR_STORE_ABSENT;
    if (!world_fence(&object->token, claim->token))
        return ERR_FENCED;
    if (!is_there(store, object))
        return ERR_STORE_ABSENT;
    if (store->version_count >= STORE_VERSION_COUNT_MAX)
        return ERR_INFRASTRUCTURE;
    add_version(store, object, claim, instance)->deleted = true;
    return ERR_OK;
}

static const struct store_version *find_version(const struct store *store,
                                                const struct object *object, int64_t number)
{
    int object_index = (int)(object - store->objects);

    for (size_t index = 0; index < store->version_count; index++) {
        const struct store_version *version = &store->versions[index];

        if (version->object == object_index && version->number == number)
            return version;
    }
    return NULL;
}

enum err store_get(const struct store *store, const char *key, int64_t number,
                   const struct store_version **version)
{
    const struct object *object = find(store, key);
    const struct store_version *found;

    FP_ASSERT(number >= 0);
    *version = NULL;
    if (!object || object->version_count == 0)
        return ERR_STORE_ABSENT;
    found = number == STORE_LATEST ? &store->versions[object->latest]
                                   : find_version(store, object, number);
    if (!found || found->deleted)
        return ERR_STORE_ABSENT;
    *version = found;
    return ERR_OK;
}

enum err store_show_token(struct store *store, const char *key, int64_t token)
{
    struct object *object = find(store, key);

    if (!object)
        object = add_object(store, key);
    if (!object)
        return ERR_INFRASTRUCTURE;
    return world_fence(&object->token, token) ? ERR_OK : ERR_FENCED;
}

/* The smallest listed key after `after`, or NULL. NULL is before all keys. */
static const char *next_key(const struct store *store, const char *prefix, const char *after)
{
    const char *next = NULL;

    for (size_t index = 0; index < store->object_count; index++) {
        const struct object *object = &store->objects[index];

        if (!is_there(store, object) || strncmp(object->key, prefix, strlen(prefix)) != 0)
            continue;
        if (after && strcmp(object->key, after) <= 0)
            continue;
        if (!next || strcmp(object->key, next) < 0)
            next = object->key;
    }
    return next;
}

int store_list(const struct store *store, const char *prefix, const char **keys, int capacity)
{
    int count = 0;

    FP_ASSERT(capacity >= 0);
    for (const char *key = next_key(store, prefix, NULL); key; key = next_key(store, prefix, key)) {
        if (count < capacity)
            keys[count] = key;
        count++;
    }
    return count;
}

int store_object_count(const struct store *store)
{
    return (int)store->object_count;
}

static const struct object *object_at(const struct store *store, int index)
{
    FP_ASSERT(index >= 0);
    FP_ASSERT((size_t)index < store->object_count);
    return &store->objects[index];
}

const char *store_object_key(const struct store *store, int index)
{
    return object_at(store, index)->key;
}

int64_t store_object_token(const struct store *store, int index)
{
    return object_at(store, index)->token;
}

int64_t store_object_version_count(const struct store *store, int index)
{
    return object_at(store, index)->version_count;
}

int store_version_count(const struct store *store)
{
    return (int)store->version_count;
}

const struct store_version *store_version(const struct store *store, int index)
{
    FP_ASSERT(index >= 0);
    FP_ASSERT((size_t)index < store->version_count);
    return &store->versions[index];
}
