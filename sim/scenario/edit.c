#include "sim/scenario/edit.h"

#include <stdlib.h>
#include <string.h>

#include "sim/scenario/override.h"
#include "sim/scenario/yaml_write.h"

/* A text under change. */
struct edit {
    struct arena *arena;
    struct diags *diags;
    struct yaml_node *root; /* NULL: it is not a scenario's */
};

static struct edit edit_begin(const char *text)
{
    struct edit edit = {.arena = arena_new(), .diags = fp_alloc(sizeof *edit.diags)};
    diags_init(edit.diags, "");
    edit.root = yaml_parse(edit.arena, text, strlen(text), NULL, edit.diags);
    if (edit.root != NULL && edit.root->kind != YAML_MAP)
        edit.root = NULL;
    return edit;
}

/* Writes the text when all went well. */
static bool edit_end(struct edit *edit, bool good, struct strbuf *out)
{
    if (good)
        yaml_write(edit->root, out);
    diags_release(edit->diags);
    free(edit->diags);
    arena_free(edit->arena);
    return good;
}

bool edit_set(const char *text, const char *assignment, struct strbuf *out)
{
    struct edit edit = edit_begin(text);
    bool good =
        edit.root != NULL &&
        override_apply(edit.arena, edit.root, arena_strdup(edit.arena, assignment), edit.diags);
    return edit_end(&edit, good, out);
}

/* NULL: there is no such list. */
static struct yaml_node *find_list(const struct edit *edit, const char *path)
{
    struct yaml_node *node = edit->root;
    char *rest = arena_strdup(edit->arena, path);
    for (char *part = strsep(&rest, "."); part != NULL && node != NULL; part = strsep(&rest, "."))
        node = yaml_get(node, part);
    return node != NULL && node->kind == YAML_LIST ? node : NULL;
}

size_t edit_count(const char *text, const char *list)
{
    struct edit edit = edit_begin(text);
    const struct yaml_node *node = find_list(&edit, list);
    size_t count = node != NULL ? node->count : 0;
    edit_end(&edit, false, NULL);
    return count;
}

static bool remove_entry(struct yaml_node *list, size_t index)
{
    struct yaml_entry *before = NULL;
    struct yaml_entry *at = list->first;
    for (size_t i = 0; i < index && at != NULL; i++) {
        before = at;
        at = at->next;
    }
    if (at == NULL)
        return false;
    if (before != NULL)
        before->next = at->next;
    else
        list->first = at->next;
    if (list->last == at)
        list->last = before;
    list->count--;
    return true;
}

bool edit_remove(const char *text, const char *list, size_t index, struct strbuf *out)
{
    struct edit edit = edit_begin(text);
    struct yaml_node *node = find_list(&edit, list);
    return edit_end(&edit, node != NULL && remove_entry(node, index), out);
}

static struct yaml_node *new_scalar(const struct edit *edit, const char *text)
{
    struct yaml_node *node = yaml_new(edit->arena, YAML_SCALAR, NULL);
    node->text = text;
    return node;
}

static struct yaml_node *stream_node(const struct edit *edit, const struct scenario_stream *stream)
{
    struct yaml_node *map = yaml_new(edit->arena, YAML_MAP, NULL);
    for (size_t i = 0; i < stream->value_count; i++)
        if (stream->values[i] != 0)
            yaml_append(edit->arena, map, new_scalar(edit, arena_printf(edit->arena, "%zu", i)),
                        new_scalar(edit, arena_printf(edit->arena, "%u", stream->values[i])));
    return map;
}

bool edit_choices(const char *text, const struct scenario_stream *streams, size_t stream_count,
                  struct strbuf *out)
{
    struct edit edit = edit_begin(text);
    if (edit.root == NULL || !override_apply(edit.arena, edit.root, "choices={}", edit.diags))
        return edit_end(&edit, false, out);
    struct yaml_node *choices = yaml_get(edit.root, "choices");
    for (size_t i = 0; i < stream_count; i++) {
        struct yaml_node *map = stream_node(&edit, &streams[i]);
        if (map->count > 0)
            yaml_append(edit.arena, choices, new_scalar(&edit, streams[i].name), map);
    }
    return edit_end(&edit, true, out);
}
