/* What goes wrong: the list of faults. */
#include <string.h>

#include "faults/fault.h"
#include "sim/core/duration.h"
#include "sim/scenario/sections.h"

#define FAULT_KIND_COUNT_MAX 128

struct field *fault_table(struct arena *arena, const struct fault_kind *kind, size_t *field_count)
{
    size_t count = fault_common_field_count + kind->field_count;
    struct field *table = arena_alloc(arena, count * sizeof(*table));
    memcpy(table, fault_common_fields, fault_common_field_count * sizeof(*table));
    if (kind->field_count > 0)
        memcpy(table + fault_common_field_count, kind->fields, kind->field_count * sizeof(*table));
    *field_count = count;
    return table;
}

static void refuse_kind(struct walk *walk, const struct yaml_node *node)
{
    const char *names[FAULT_KIND_COUNT_MAX];
    size_t name_count = 0;
    for (; fault_kinds[name_count] != NULL; name_count++) {
        FP_ASSERT(name_count < FAULT_KIND_COUNT_MAX);
        names[name_count] = fault_kinds[name_count]->name;
    }
    walk_unknown(walk, node, "fault", "", names, name_count);
}

/* ---- what the fields say together ---- */

static void check_window(struct walk *walk, const struct yaml_node *map, const char *where,
                         const struct fault_common *common, int64_t chaos_ns)
{
    char after[DURATION_TEXT_SIZE], other[DURATION_TEXT_SIZE];
    const struct yaml_node *after_node = yaml_get(map, "after");
    const struct yaml_node *before_node = yaml_get(map, "before");
    duration_text(common->after_ns, after);
    if (before_node != NULL && common->before_ns != 0 && common->before_ns <= common->after_ns) {
        yaml_error(walk->diags, before_node, "%s.before: %s is not later than `after`, %s", where,
                   duration_text(common->before_ns, other), after);
    }
    if (after_node != NULL && chaos_ns > 0 && common->after_ns >= chaos_ns) {
        yaml_error(walk->diags, after_node,
                   "%s.after: %s is not before the end of chaos at %s, it would never strike",
                   where, after, duration_text(chaos_ns, other));
    }
}

static void check_clock(struct walk *walk, const struct yaml_node *map, const char *where,
                        const struct fault_kind *kind, const void *config, int64_t chaos_ns)
{
    char at[DURATION_TEXT_SIZE], end[DURATION_TEXT_SIZE];
    const struct yaml_node *node = yaml_get(map, "at");
    if (node == NULL || kind->at_ns == NULL || chaos_ns <= 0 || kind->at_ns(config) < chaos_ns)
        return;
    yaml_error(walk->diags, node,
               "%s.at: %s is not before the end of chaos at %s, it would never strike", where,
               duration_text(kind->at_ns(config), at), duration_text(chaos_ns, end));
}

static void check_odds(struct walk *walk, const struct yaml_node *map, const char *where,
                       const struct fault_common *common)
{
    const struct yaml_node *probability = yaml_get(map, "probability");
    if (probability == NULL)
        return;
    if (common->nth > 0) {
        yaml_error(walk->diags, probability,
                   "%s: `probability` and `nth` exclude each other, give one of them", where);
    } else if (common->probability_per_million == 0) {
        yaml_error(walk->diags, probability, "%s.probability: with 0 it would never strike", where);
    }
}

static void check_points(struct walk *walk, const struct yaml_node *map, const char *where,
                         const struct fault_kind *kind, const void *config)
{
    const struct fault_common *common = config;
    const struct yaml_node *node = yaml_get(map, "points");
    uint64_t able = kind->points_of != NULL ? kind->points_of(config) : kind->points;
    uint64_t unable = common->points & ~able;
    for (int point = 0; point < FAULT_POINT_COUNT && node != NULL; point++) {
        if ((unable & POINT_BIT(point)) != 0) {
            yaml_error(walk->diags, node,
                       "%s.points: it cannot strike at `%s` with its other fields as they "
                       "are",
                       where, fault_point_name((enum fault_point)point));
        }
    }
    if (unable == 0 && fault_points(kind, config) == 0)
        yaml_error(walk->diags, map, "%s: there is no point where it could strike", where);
}

/* ---- one fault ---- */

static void read_config(struct walk *walk, const struct yaml_node *map, const char *where,
                        const struct fault_kind *kind, struct scenario *scenario)
{
    size_t index = scenario->fault_count++;
    struct scenario_fault *fault = &scenario->faults[index];
    size_t field_count;
    const struct field *table = fault_table(walk->arena, kind, &field_count);
    FP_ASSERT(kind->config_size >= sizeof(struct fault_common));
    fault->kind = kind;
    fault->config = arena_alloc(walk->arena, kind->config_size);
    fault->stream_name = arena_printf(walk->arena, "fault.%zu.%s", index, kind->name);
    walk->points = kind->points;
    walk->points_owner = kind->name;
    bool good = walk_map(walk, map, where, table, field_count, fault->config);
    walk->points_owner = NULL;
    if (!good)
        return;
    check_window(walk, map, where, fault->config, scenario->chaos_ns);
    check_clock(walk, map, where, kind, fault->config, scenario->chaos_ns);
    check_odds(walk, map, where, fault->config);
    check_points(walk, map, where, kind, fault->config);
}

/* `- crash:` alone takes every default. */
static const struct yaml_node *config_map(struct walk *walk, const struct yaml_node *node,
                                          const char *where)
{
    if (node->kind == YAML_NULL) {
        struct yaml_node *empty = yaml_new(walk->arena, YAML_MAP, node->override);
        empty->line = node->line;
        empty->column = node->column;
        return empty;
    }
    return walk_wants(walk, node, where, YAML_MAP) ? node : NULL;
}

static void read_fault(struct walk *walk, const struct yaml_node *item, size_t number,
                       struct scenario *scenario)
{
    const char *place = arena_printf(walk->arena, "faults[%zu]", number);
    if (item->kind == YAML_BAD)
        return;
    if (item->kind != YAML_MAP || item->count != 1) {
        const char *found = yaml_describe(walk->arena, item);
        yaml_error(walk->diags, item,
                   "%s: expected one fault such as crash: {times: 1}, found %s%s", place, found,
                   item->kind == YAML_MAP ? " that has not exactly one key" : "");
        return;
    }
    const struct yaml_node *key = item->first->key;
    const struct fault_kind *kind = fault_kind_find(key->text);
    if (kind == NULL) {
        refuse_kind(walk, key);
        return;
    }
    const char *where = arena_printf(walk->arena, "%s.%s", place, kind->name);
    const struct yaml_node *map = config_map(walk, item->first->value, where);
    if (map != NULL)
        read_config(walk, map, where, kind, scenario);
}

void read_faults(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    if (node == NULL)
        return;
    if (node->count > SCENARIO_FAULT_COUNT_MAX) {
        yaml_error(walk->diags, node, "faults: %zu entries, at most %d are allowed", node->count,
                   SCENARIO_FAULT_COUNT_MAX);
        return;
    }
    size_t number = 0;
    for (const struct yaml_entry *item = node->first; item != NULL; item = item->next)
        read_fault(walk, item->value, number++, scenario);
}
