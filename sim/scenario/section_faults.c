/* What goes wrong: the list of faults. */
#include <string.h>

#include "faults/fault.h"
#include "sim/core/duration.h"
#include "sim/scenario/sections.h"

#define FAULT_KIND_COUNT_MAX 128
#define OPERATION_COUNT_MAX 512

static bool has_own(const struct fault_kind *kind, const char *key)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (strcmp(kind->fields[i].key, key) == 0)
            return true;
    return false;
}

struct field *fault_table(struct arena *arena, const struct fault_kind *kind, size_t *field_count)
{
    struct field *table =
        arena_alloc(arena, (fault_common_field_count + kind->field_count) * sizeof(*table));
    size_t count = 0;
    for (size_t i = 0; i < fault_common_field_count; i++)
        if (!has_own(kind, fault_common_fields[i].key))
            table[count++] = fault_common_fields[i];
    for (size_t i = 0; i < kind->field_count; i++)
        table[count++] = kind->fields[i];
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

/* What says where or how often a fault strikes has no meaning when it strikes by the clock. */
static const char *const point_keys[] = {
    "points", "probability", "times", "after", "before", "nth", "step", "operation", "transaction"};

/* A fault that would be there from the start strikes at points when the scenario speaks of them. */
static void prefer_points(const struct yaml_node *map, struct fault_common *common)
{
    for (size_t i = 0; i < FP_COUNT(point_keys) && yaml_get(map, "at") == NULL; i++)
        if (yaml_get(map, point_keys[i]) != NULL)
            common->at_ns = -1;
}

static void check_beside_at(struct walk *walk, const struct yaml_node *map, const char *where)
{
    for (size_t i = 0; i < FP_COUNT(point_keys); i++) {
        const struct yaml_node *node = yaml_get(map, point_keys[i]);
        if (node != NULL)
            yaml_error(walk->diags, node,
                       "%s: `%s` says nothing beside `at`: it strikes at that time, once", where,
                       point_keys[i]);
    }
}

static void check_clock(struct walk *walk, const struct yaml_node *map, const char *where,
                        const struct fault_kind *kind, const struct fault_common *common,
                        int64_t chaos_ns)
{
    char at[DURATION_TEXT_SIZE], end[DURATION_TEXT_SIZE];
    const struct yaml_node *node = yaml_get(map, "at");
    uint64_t able = kind->points_of != NULL ? kind->points_of(common) : kind->points;
    if (node == NULL || common->at_ns < 0)
        return;
    if ((able & POINT_BIT(POINT_CLOCK)) == 0) {
        yaml_error(walk->diags, node,
                   "%s.at: it cannot strike by the clock with its other fields as they are", where);
        return;
    }
    if (chaos_ns > 0 && common->at_ns >= chaos_ns)
        yaml_error(walk->diags, node,
                   "%s.at: %s is not before the end of chaos at %s, it would never strike", where,
                   duration_text(common->at_ns, at), duration_text(chaos_ns, end));
    check_beside_at(walk, map, where);
}

static void check_odds(struct walk *walk, const struct yaml_node *map, const char *where,
                       const struct fault_common *common)
{
    const struct yaml_node *probability = yaml_get(map, "probability");
    if (common->nth != 0 && common->step > 0)
        yaml_error(walk->diags, yaml_get(map, "step"),
                   "%s: `nth` and `step` exclude each other, give one of them", where);
    if (probability == NULL)
        return;
    if (common->nth != 0 || common->step > 0) {
        yaml_error(walk->diags, probability,
                   "%s: `probability` and `%s` exclude each other, give one of them", where,
                   common->nth != 0 ? "nth" : "step");
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

/* ---- operations ---- */

/* Those of the seam that are no statements, and the statements that every strategy has. */
static const char *const common_operations[] = {
    "look",     "create", "destroy",           "scale", "get",        "put",  "receive",
    "delete",   "send",   "redrive",           "sleep", "visibility", "wait", "commit",
    "rollback", "begin",  "begin_serializable"};

static size_t add_names(const char **names, size_t count, const char *const *added)
{
    for (size_t i = 0; added != NULL && added[i] != NULL; i++) {
        FP_ASSERT(count < OPERATION_COUNT_MAX);
        names[count++] = added[i];
    }
    return count;
}

static size_t known_operations(const struct strategy *strategy, const char **names)
{
    size_t count = 0;
    FP_ASSERT(strategy->statements != NULL);
    for (size_t i = 0; strategy->statements[i] != NULL; i++) {
        FP_ASSERT(count + FP_COUNT(common_operations) < OPERATION_COUNT_MAX);
        names[count++] = strategy->statements[i]->name;
    }
    for (size_t i = 0; i < FP_COUNT(common_operations); i++)
        names[count++] = common_operations[i];
    return add_names(names, count, strategy->service_ops);
}

static const struct yaml_node *entry_named(const struct yaml_node *node, const char *name)
{
    for (const struct yaml_entry *item = node->first; item != NULL; item = item->next)
        if (item->value->kind == YAML_SCALAR && strcmp(item->value->text, name) == 0)
            return item->value;
    return node;
}

/* Connections have names that only the strategy's code knows. */
static void check_operations(struct walk *walk, const struct yaml_node *map, const char *where,
                             const struct fault_kind *kind, const struct fault_common *common)
{
    const struct strategy *strategy = walk->strategy;
    const struct yaml_node *node = yaml_get(map, "operation");
    uint64_t names_connections = POINT_BIT(POINT_DB_OPEN) | POINT_BIT(POINT_DB_OPENED);
    if (node == NULL || strategy == NULL || strategy->statements == NULL ||
        ((common->points & names_connections) != 0 && fault_points(kind, common) != 0))
        return;
    const char *names[OPERATION_COUNT_MAX];
    size_t name_count = known_operations(strategy, names);
    for (size_t i = 0; i < common->operation.count; i++) {
        const char *name = common->operation.names[i];
        size_t at = 0;
        while (at < name_count && strcmp(names[at], name) != 0)
            at++;
        if (at == name_count)
            walk_unknown(walk, entry_named(node, name), "operation",
                         arena_printf(walk->arena, " in %s", where), names, name_count);
    }
}

static void check_via(struct walk *walk, const struct yaml_node *map, const char *where,
                      const struct scenario_fault *fault, const struct scenario *scenario)
{
    const struct yaml_node *node = yaml_get(map, "via");
    if (node == NULL || fault->kind->via == NULL || scenario->pool_size == 0)
        return;
    if (*fault->kind->via(fault->config) == VIA_TOXIPROXY)
        yaml_error(walk->diags, node, "%s.via: toxiproxy cannot be used together with a pooler",
                   where);
}

/* ---- one fault ---- */

static void note_sweep(struct walk *walk, const struct yaml_node *map, const char *where,
                       struct scenario *scenario, size_t index)
{
    const struct fault_common *common = scenario->faults[index].config;
    if (common->nth != NTH_SWEEP)
        return;
    if (scenario->sweeps)
        yaml_error(walk->diags, yaml_get(map, "nth"),
                   "%s.nth: only one fault can sweep, faults[%zu] does", where,
                   scenario->sweep_index);
    scenario->sweeps = true;
    scenario->sweep_index = index;
}

static void check_standby(struct walk *walk, const struct yaml_node *map, const char *where,
                          const struct fault_kind *kind, const struct scenario *scenario)
{
    if (kind->needs_standby && scenario->standby_count == 0)
        yaml_error(walk->diags, map,
                   "%s: there is no standby, give topology.postgres.standbys at least 1", where);
}

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
    walk->takes_database = kind->takes_database;
    bool good = walk_map(walk, map, where, table, field_count, fault->config);
    walk->points_owner = NULL;
    walk->takes_database = false;
    if (!good)
        return;
    prefer_points(map, fault->config);
    check_window(walk, map, where, fault->config, scenario->chaos_ns);
    check_clock(walk, map, where, kind, fault->config, scenario->chaos_ns);
    check_odds(walk, map, where, fault->config);
    check_points(walk, map, where, kind, fault->config);
    check_operations(walk, map, where, kind, fault->config);
    note_sweep(walk, map, where, scenario, index);
    check_standby(walk, map, where, kind, scenario);
    check_via(walk, map, where, fault, scenario);
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

bool scenario_uses_toxiproxy(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->fault_count; i++) {
        const struct scenario_fault *fault = &scenario->faults[i];
        if (fault->kind->via && *fault->kind->via(fault->config) == VIA_TOXIPROXY)
            return true;
    }
    return false;
}

bool scenario_set_via(struct scenario *scenario, int via)
{
    bool done = true;
    for (size_t i = 0; i < scenario->fault_count; i++) {
        const struct scenario_fault *fault = &scenario->faults[i];
        if (fault->kind->via == NULL)
            continue;
        if (scenario->pool_size == 0)
            *fault->kind->via(fault->config) = via;
        else
            done &= *fault->kind->via(fault->config) == via;
    }
    return done;
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
