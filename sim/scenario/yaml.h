/* The text of a scenario as a small tree in which every node knows its place.
 *
 * Built from libfyaml's events rather than its documents: those lose the places of collections and
 * of empty values, expand aliases, and recurse. What YAML has beyond mappings, lists and scalars
 * (aliases, anchors, tags, merge keys, further documents, keys that are not scalars) is refused
 * here. */
#ifndef FENCEPOST_YAML_H
#define FENCEPOST_YAML_H

#include "sim/core/arena.h"
#include "sim/core/base.h"
#include "sim/scenario/diag.h"

#define YAML_SIZE_MAX ((size_t)1 << 20)
#define YAML_DEPTH_MAX 16
#define YAML_KEY_COUNT_MAX 256
#define YAML_ITEM_COUNT_MAX 4096

enum yaml_kind {
    YAML_NULL, /* no value, ~ or null */
    YAML_SCALAR,
    YAML_LIST,
    YAML_MAP,
    YAML_BAD, /* was refused and reported already */
};

struct yaml_node {
    enum yaml_kind kind;
    int line, column;     /* 1-based */
    const char *override; /* the `path=value` this comes from; NULL: the file */
    const char *text;     /* YAML_SCALAR */
    bool quoted;          /* YAML_SCALAR: not plain, so never a number */
    struct yaml_entry *first, *last;
    size_t count;
};

struct yaml_entry {
    struct yaml_entry *next;
    struct yaml_node *key; /* NULL in a list */
    struct yaml_node *value;
};

/* Parse one document. NULL after a mistake that leaves no tree to look at (the syntax, the size,
 * the depth). Otherwise a tree in `arena`; there may be diagnostics all the same. `override` is put
 * on all nodes and into all messages; NULL for the file's own text. */
struct yaml_node *yaml_parse(struct arena *arena, const char *text, size_t size,
                             const char *override, struct diags *diags);

/* NULL when there is no such key, or `map` is NULL or no mapping. */
struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* NULL past the end. */
struct yaml_entry *yaml_item(const struct yaml_node *list, size_t index);

struct yaml_node *yaml_new(struct arena *arena, enum yaml_kind kind, const char *override);
void yaml_append(struct arena *arena, struct yaml_node *parent, struct yaml_node *key,
                 struct yaml_node *value);

/* A mistake at the place of `node`; one from an override names the override instead of a place. */
void yaml_error(struct diags *diags, const struct yaml_node *node, const char *format, ...)
    FP_PRINTF(3, 4);
/* What stands there, for "found ...": "nothing", "a list", "`abc`". Lives in `arena`. */
const char *yaml_describe(struct arena *arena, const struct yaml_node *node);

/* The index of the first byte that does not belong to valid UTF-8 or is a control character other
 * than tab and line ends; `size` when all is well. */
size_t yaml_text_check(const char *text, size_t size);

#endif
