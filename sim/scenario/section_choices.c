/* A run that is written down: what was chosen, by stream and number. */
#include <string.h>

#include "sim/core/choice.h"
#include "sim/scenario/scalar.h"
#include "sim/scenario/sections.h"

#define CHOICE_NUMBER_MAX 1000000

static bool read_number(struct walk *walk, const struct yaml_node *node, const char *where,
                        int64_t most, int64_t *number)
{
    if (node->kind == YAML_BAD)
        return false;
    if (node->kind == YAML_SCALAR && !node->quoted && scalar_integer(node->text, number) &&
        *number >= 0 && *number <= most)
        return true;
    yaml_error(walk->diags, node, "%s: expected an integer, 0..%lld, found %s", where,
               (long long)most, yaml_describe(walk->arena, node));
    return false;
}

static void read_stream(struct walk *walk, const struct yaml_entry *entry,
                        struct scenario_stream *stream)
{
    const char *where = arena_printf(walk->arena, "choices.%s", entry->key->text);
    stream->name = arena_strdup(walk->arena, entry->key->text);
    if (strlen(stream->name) >= CHOICE_NAME_SIZE_MAX) {
        yaml_error(walk->diags, entry->key, "%s: no stream has so long a name", where);
        return;
    }
    if (!walk_wants(walk, entry->value, where, YAML_MAP))
        return;
    for (const struct yaml_entry *at = entry->value->first; at != NULL; at = at->next) {
        int64_t number, value;
        if (!read_number(walk, at->key, where, CHOICE_NUMBER_MAX, &number) ||
            !read_number(walk, at->value, where, UINT32_MAX, &value))
            continue;
        if ((size_t)number >= stream->value_count) {
            uint32_t *grown = arena_alloc(walk->arena, ((size_t)number + 1) * sizeof *grown);
            if (stream->value_count > 0)
                memcpy(grown, stream->values, stream->value_count * sizeof *grown);
            stream->values = grown;
            stream->value_count = (size_t)number + 1;
        }
        stream->values[number] = (uint32_t)value;
    }
}

void read_choices(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    if (node == NULL)
        return;
    scenario->is_explicit = true;
    if (node->count > CHOICE_STREAM_COUNT_MAX) {
        yaml_error(walk->diags, node, "choices: %zu streams, at most %d are allowed", node->count,
                   CHOICE_STREAM_COUNT_MAX);
        return;
    }
    scenario->streams = arena_alloc(walk->arena, (node->count + 1) * sizeof *scenario->streams);
    for (const struct yaml_entry *entry = node->first; entry != NULL; entry = entry->next)
        read_stream(walk, entry, &scenario->streams[scenario->stream_count++]);
}
