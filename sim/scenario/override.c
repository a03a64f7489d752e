#include "sim/scenario/override.h"

#include <string.h>

#include "sim/scenario/scalar.h"

struct change {
    struct arena *arena;
    struct diags *diags;
    const char *text; /* "limits.chaos=1h" */
};

static void refuse(const struct change *change, const char *what, const char *part)
{
    diags_add(change->diags, 0, 0, "--set %s: %s%s%s%s", change->text, what,
              part[0] != '\0' ? " `" : "", part, part[0] != '\0' ? "`" : "");
}

static struct yaml_entry *entry_of_key(const struct yaml_node *map, const char *key)
{
    for (struct yaml_entry *entry = map->first; entry != NULL; entry = entry->next)
        if (strcmp(entry->key->text, key) == 0)
            return entry;
    return NULL;
}

/* The entry of that key; a missing one is made, with nothing in it yet. */
static struct yaml_entry *step_into_map(const struct change *change, struct yaml_node *map,
                                        const char *part)
{
    struct yaml_entry *entry = entry_of_key(map, part);
    if (entry != NULL)
        return entry;
    if (map->count == YAML_KEY_COUNT_MAX) {
        refuse(change, "the mapping is full, there is no room for", part);
        return NULL;
    }
    struct yaml_node *key = yaml_new(change->arena, YAML_SCALAR, change->text);
    key->text = part;
    yaml_append(change->arena, map, key, yaml_new(change->arena, YAML_NULL, change->text));
    return map->last;
}

static struct yaml_entry *step_into_list(const struct change *change, struct yaml_node *list,
                                         const char *part)
{
    int64_t index;
    if (!scalar_integer(part, &index) || index < 0) {
        refuse(change, "a list is reached, expected the number of an entry (0 is the first), found",
               part);
        return NULL;
    }
    if ((uint64_t)index >= list->count) {
        refuse(change,
               arena_printf(change->arena, "the list has %zu entries, there is no number",
                            list->count),
               part);
        return NULL;
    }
    return yaml_item(list, (size_t)index);
}

static struct yaml_entry *step(const struct change *change, struct yaml_node *from,
                               const char *part)
{
    if (part[0] == '\0') {
        refuse(change, "the path has an empty part", "");
        return NULL;
    }
    if (from->kind == YAML_NULL)
        from->kind = YAML_MAP;
    if (from->kind == YAML_MAP)
        return step_into_map(change, from, part);
    if (from->kind == YAML_LIST)
        return step_into_list(change, from, part);
    refuse(change, "the path goes on behind a plain value, at", part);
    return NULL;
}

/* The entry the path leads to. Cuts `path` into its parts. */
static struct yaml_entry *find_entry(const struct change *change, struct yaml_node *root,
                                     char *path)
{
    struct yaml_node *node = root;
    for (int depth = 0; depth < YAML_DEPTH_MAX; depth++) {
        char *dot = strchr(path, '.');
        if (dot != NULL)
            *dot = '\0';
        struct yaml_entry *entry = step(change, node, path);
        if (entry == NULL || dot == NULL)
            return entry;
        node = entry->value;
        path = dot + 1;
    }
    refuse(change, "the path is too deep", "");
    return NULL;
}

bool override_apply(struct arena *arena, struct yaml_node *root, const char *text,
                    struct diags *diags)
{
    FP_ASSERT(root->kind == YAML_MAP);
    struct change change = {arena, diags, text};
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        refuse(&change, "expected path=value, such as limits.chaos=1h", "");
        return false;
    }
    struct yaml_node *value = yaml_parse(arena, equals + 1, strlen(equals + 1), text, diags);
    if (value == NULL)
        return false;
    char *path = arena_strdup(arena, text);
    path[equals - text] = '\0';
    struct yaml_entry *entry = find_entry(&change, root, path);
    if (entry == NULL)
        return false;
    entry->value = value;
    return true;
}
