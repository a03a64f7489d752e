/* The artifact store: objects with versions, after S3 with versioning switched on. A model: calls
 * happen at once, at the virtual time given.
 *
 * Nothing is ever overwritten: a put adds a version, a delete adds a marker. So afterwards it can
 * be told who wrote what, when, and by which right. README.md says what is modelled and what is
 * not. */
#ifndef FENCEPOST_STORE_H
#define FENCEPOST_STORE_H

#include "sim/rt.h"
#include "sim/world/common.h"

#define STORE_OBJECT_COUNT_MAX 1024
#define STORE_VERSION_COUNT_MAX 65536 /* over all objects */
#define STORE_KEY_SIZE_MAX 128
#define STORE_CONTENT_SIZE_MAX 512

#define STORE_LATEST 0 /* in place of a version */

struct store_version {
    int object;     /* index */
    int64_t number; /* 1, 2, ... within the object */
    bool deleted;   /* a marker: from here on the object is not there */
    int64_t written_ns;
    struct world_owner by;
    char content[STORE_CONTENT_SIZE_MAX]; /* "" with a marker */
};

struct store;

struct store *store_new(void);
void store_free(struct store *store);  /* NULL is allowed */
void store_reset(struct store *store); /* as new; keeps the memory */

/* Add a version. All texts are copied and must fit; the key must not be empty. `number` may be
 * NULL.
 * ERR_FENCED: the claim's token is lower than one seen for this key, nothing was written; token 0
 * is not checked. ERR_INFRASTRUCTURE: one of the maxima above is reached. */
enum err store_put(struct store *store, int64_t now_ns, const char *key, const char *content,
                   const struct rt_claim *claim, const char *instance, int64_t *number);
/* Add a marker. ERR_STORE_ABSENT: the object is not there, or was deleted. Else as store_put. */
enum err store_delete(struct store *store, int64_t now_ns, const char *key,
                      const struct rt_claim *claim, const char *instance);
/* The version of that number, or STORE_LATEST. *version belongs to the store, valid until its next
 * put, delete or reset. ERR_STORE_ABSENT: no such object or version, or it is a marker; *version
 * is NULL. */
enum err store_get(const struct store *store, const char *key, int64_t number,
                   const struct store_version **version);

/* A reader shows its token, whether or not the object is there. ERR_FENCED: it is lower than one
 * seen for this key; token 0 is not checked. ERR_INFRASTRUCTURE: too many objects. */
enum err store_show_token(struct store *store, const char *key, int64_t token);

/* Objects that are there (their latest version is no marker), in the order of their keys, as the
 * real service lists them. Fills up to `capacity` keys, gives back how many there are. The keys
 * belong to the store. `prefix` may be "". */
int store_list(const struct store *store, const char *prefix, const char **keys, int capacity);

/* ---- what reports and checks use ---- */

/* All objects that ever were, in the order of their first put. */
int store_object_count(const struct store *store);
const char *store_object_key(const struct store *store, int index);
int64_t store_object_token(const struct store *store, int index); /* highest seen; 0: none */
int64_t store_object_version_count(const struct store *store, int index);
/* All versions of all objects, in the order of writing. */
int store_version_count(const struct store *store);
const struct store_version *store_version(const struct store *store, int index);

#endif
