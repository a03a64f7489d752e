#include "sim/scenario/workload.h"

#include <string.h>

#include "sim/scenario/scenario.h"

#define LABEL_SIZE_MAX 48

struct value {
    char *text;
    int64_t number;
    int word;
};

struct entry {
    const struct yaml_node *node;
    struct value *values; /* by index into the list's fields */
};

struct entries {
    struct entry *list;
    size_t count;
    bool good; /* every entry was read without a mistake */
};

struct workload {
    const struct strategy *strategy;
    struct entries *lists; /* by index into strategy->workload */
};

/* ---- the table ---- */

struct type_mapping {
    enum field_type type;
    size_t offset;
};

static const struct type_mapping mappings[] = {
    [VALUE_TEXT] = {FIELD_TEXT, offsetof(struct value, text)},
    [VALUE_NAME] = {FIELD_LABEL, offsetof(struct value, text)},
    [VALUE_INTEGER] = {FIELD_INTEGER, offsetof(struct value, number)},
    [VALUE_DURATION] = {FIELD_DURATION, offsetof(struct value, number)},
    [VALUE_ENUM] = {FIELD_ENUM, offsetof(struct value, word)},
};

struct field *workload_table(struct arena *arena, const struct workload_list *list)
{
    struct field *table = arena_alloc(arena, (list->field_count + 1) * sizeof(*table));
    for (size_t i = 0; i < list->field_count; i++) {
        const struct workload_field *from = &list->fields[i];
        FP_ASSERT((size_t)from->type < FP_COUNT(mappings));
        table[i] = (struct field){
            .key = from->key,
            .type = mappings[from->type].type,
            .offset = i * sizeof(struct value) + mappings[from->type].offset,
            .required = from->required,
            .low = from->low,
            .high = from->type == VALUE_NAME ? LABEL_SIZE_MAX : from->high,
            .words = from->type == VALUE_ENUM ? from->words : NULL,
            .fallback = from->fallback,
            .about = from->about,
        };
    }
    return table;
}

/* ---- reading ---- */

static size_t field_index(const struct workload_list *list, const char *key)
{
    size_t index = 0;
    while (index < list->field_count && strcmp(list->fields[index].key, key) != 0)
        index++;
    return index;
}

static size_t list_index(const struct strategy *strategy, const char *name)
{
    size_t index = 0;
    while (index < strategy->workload_count && strcmp(strategy->workload[index].name, name) != 0)
        index++;
    return index;
}

/* Enums are asked for as texts; a text that is absent is "". */
static void finish_values(struct arena *arena, const struct workload_list *list,
                          struct value *values)
{
    for (size_t i = 0; i < list->field_count; i++) {
        if (list->fields[i].type == VALUE_ENUM) {
            int word = values[i].word;
            values[i].text = arena_strdup(arena, word < 0 ? "" : list->fields[i].words[word]);
        } else if (values[i].text == NULL) {
            values[i].text = arena_strdup(arena, "");
        }
    }
}

static bool read_entry(struct walk *walk, const struct workload_list *list,
                       const struct field *table, const char *where, struct entry *entry)
{
    entry->values = arena_alloc(walk->arena, (list->field_count + 1) * sizeof(struct value));
    for (size_t i = 0; i < list->field_count; i++)
        entry->values[i].word = -1;
    bool good = walk_wants(walk, entry->node, where, YAML_MAP) &&
                walk_map(walk, entry->node, where, table, list->field_count, entry->values);
    finish_values(walk->arena, list, entry->values);
    return good;
}

static void read_list(struct walk *walk, const struct workload_list *list,
                      const struct yaml_node *node, struct entries *entries)
{
    const struct field *table = workload_table(walk->arena, list);
    const char *where = arena_printf(walk->arena, "workload.%s", list->name);
    entries->good = walk_wants(walk, node, where, YAML_LIST);
    if (!entries->good)
        return;
    if (node->count > (size_t)list->entry_count_max) {
        yaml_error(walk->diags, node, "%s: %zu entries, at most %d are allowed", where, node->count,
                   list->entry_count_max);
        entries->good = false;
        return;
    }
    entries->list = arena_alloc(walk->arena, (node->count + 1) * sizeof(*entries->list));
    for (const struct yaml_entry *item = node->first; item != NULL; item = item->next) {
        struct entry *entry = &entries->list[entries->count];
        entry->node = item->value;
        const char *place = arena_printf(walk->arena, "%s[%zu]", where, entries->count);
        entries->good = read_entry(walk, list, table, place, entry) && entries->good;
        entries->count++;
    }
}

/* ---- across entries ---- */

static struct entry *entry_named(const struct entries *entries, size_t name_index, const char *name,
                                 size_t limit)
{
    for (size_t i = 0; i < entries->count && i < limit; i++)
        if (strcmp(entries->list[i].values[name_index].text, name) == 0)
            return &entries->list[i];
    return NULL;
}

static void check_names(struct walk *walk, const struct workload_list *list,
                        const struct entries *entries)
{
    size_t name_index = field_index(list, "name");
    if (name_index == list->field_count)
        return;
    for (size_t i = 0; i < entries->count; i++) {
        const char *name = entries->list[i].values[name_index].text;
        const struct entry *first = entry_named(entries, name_index, name, i);
        const struct yaml_node *node = yaml_get(entries->list[i].node, "name");
        if (first != NULL && name[0] != '\0' && node != NULL) {
            yaml_error(walk->diags, node,
                       "workload.%s[%zu].name: duplicate name `%s`, it stands in "
                       "line %d already",
                       list->name, i, name, first->node->line);
        }
    }
}

static void refuse_reference(struct walk *walk, const struct yaml_node *node, const char *where,
                             const struct workload_field *field, const struct entries *targets,
                             size_t name_index)
{
    const char **names = arena_alloc(walk->arena, (targets->count + 1) * sizeof(*names));
    for (size_t i = 0; i < targets->count; i++)
        names[i] = targets->list[i].values[name_index].text;
    const char *place = arena_printf(walk->arena, " in %s.%s (a name of workload.%s)", where,
                                     field->key, field->refers_to);
    walk_unknown(walk, node, "name", place, names, targets->count);
}

static void check_references(struct walk *walk, const struct workload *workload, size_t list_number,
                             size_t field_number)
{
    const struct workload_list *list = &walk->strategy->workload[list_number];
    const struct workload_field *field = &list->fields[field_number];
    const struct entries *entries = &workload->lists[list_number];
    size_t target_number = list_index(walk->strategy, field->refers_to);
    FP_ASSERT(target_number < walk->strategy->workload_count);
    const struct entries *targets = &workload->lists[target_number];
    size_t name_index = field_index(&walk->strategy->workload[target_number], "name");
    /* A list with mistakes may lack the name for that reason alone. */
    if (!targets->good)
        return;
    for (size_t i = 0; i < entries->count; i++) {
        const char *name = entries->list[i].values[field_number].text;
        const struct yaml_node *node = yaml_get(entries->list[i].node, field->key);
        if (name[0] == '\0' || node == NULL ||
            entry_named(targets, name_index, name, SIZE_MAX) != NULL)
            continue;
        const char *where = arena_printf(walk->arena, "workload.%s[%zu]", list->name, i);
        refuse_reference(walk, node, where, field, targets, name_index);
    }
}

static void check_across(struct walk *walk, const struct workload *workload)
{
    for (size_t i = 0; i < walk->strategy->workload_count; i++) {
        const struct workload_list *list = &walk->strategy->workload[i];
        check_names(walk, list, &workload->lists[i]);
        for (size_t j = 0; j < list->field_count; j++)
            if (list->fields[j].refers_to != NULL)
                check_references(walk, workload, i, j);
    }
}

static void report_unknown_lists(struct walk *walk, const struct yaml_node *map)
{
    const struct strategy *strategy = walk->strategy;
    const char **names = arena_alloc(walk->arena, (strategy->workload_count + 1) * sizeof(*names));
    for (size_t i = 0; i < strategy->workload_count; i++)
        names[i] = strategy->workload[i].name;
    for (const struct yaml_entry *entry = map->first; entry != NULL; entry = entry->next)
        if (list_index(strategy, entry->key->text) == strategy->workload_count)
            walk_unknown(walk, entry->key, "key", " in workload", names, strategy->workload_count);
}

struct workload *workload_read(struct walk *walk, const struct yaml_node *map)
{
    const struct strategy *strategy = walk->strategy;
    FP_ASSERT(strategy != NULL);
    struct workload *workload = arena_alloc(walk->arena, sizeof(*workload));
    workload->strategy = strategy;
    workload->lists =
        arena_alloc(walk->arena, (strategy->workload_count + 1) * sizeof(*workload->lists));
    if (map != NULL)
        report_unknown_lists(walk, map);
    for (size_t i = 0; i < strategy->workload_count; i++) {
        const struct yaml_node *node = yaml_get(map, strategy->workload[i].name);
        workload->lists[i].good = true;
        if (node != NULL)
            read_list(walk, &strategy->workload[i], node, &workload->lists[i]);
    }
    check_across(walk, workload);
    return workload;
}

/* ---- access ---- */

int workload_count(const struct workload *workload, const char *list)
{
    size_t index = list_index(workload->strategy, list);
    FP_ASSERT(index < workload->strategy->workload_count);
    return (int)workload->lists[index].count;
}

static const struct value *value_of(const struct workload *workload, const char *list, int index,
                                    const char *key)
{
    size_t list_number = list_index(workload->strategy, list);
    FP_ASSERT(list_number < workload->strategy->workload_count);
    size_t field_number = field_index(&workload->strategy->workload[list_number], key);
    FP_ASSERT(field_number < workload->strategy->workload[list_number].field_count);
    const struct entries *entries = &workload->lists[list_number];
    FP_ASSERT(index >= 0 && (size_t)index < entries->count);
    return &entries->list[index].values[field_number];
}

const char *workload_text(const struct workload *workload, const char *list, int index,
                          const char *key)
{
    const char *text = value_of(workload, list, index, key)->text;
    FP_ASSERT(text != NULL);
    return text;
}

int64_t workload_number(const struct workload *workload, const char *list, int index,
                        const char *key)
{
    return value_of(workload, list, index, key)->number;
}
