/* What is checked, and what must come of it. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/scenario/sections.h"

static bool applies(const struct scenario *scenario, const struct invariant *invariant)
{
    /* With an unknown strategy there is nothing to compare with. */
    if (invariant->applies == NULL || scenario->strategy == NULL)
        return true;
    return invariant->applies(scenario->strategy);
}

static void refuse_invariant(struct walk *walk, const struct yaml_node *node)
{
    const char *names[SCENARIO_INVARIANT_COUNT_MAX];
    size_t name_count = 0;
    for (; invariants[name_count] != NULL; name_count++) {
        FP_ASSERT(name_count < SCENARIO_INVARIANT_COUNT_MAX);
        names[name_count] = invariants[name_count]->name;
    }
    walk_unknown(walk, node, "invariant", "", names, name_count);
}

/* NULL when it was reported. */
static const struct invariant *find_invariant(struct walk *walk, const struct yaml_node *node,
                                              const char *where, const struct scenario *scenario)
{
    if (node->kind == YAML_BAD)
        return NULL;
    if (node->kind != YAML_SCALAR) {
        yaml_error(walk->diags, node, "%s: expected the name of an invariant, found %s", where,
                   yaml_describe(walk->arena, node));
        return NULL;
    }
    const struct invariant *invariant = invariant_find(node->text);
    if (invariant == NULL) {
        refuse_invariant(walk, node);
        return NULL;
    }
    if (!applies(scenario, invariant)) {
        yaml_error(walk->diags, node, "%s: `%s` does not apply to the strategy %s", where,
                   invariant->name, scenario->strategy->name);
        return NULL;
    }
    return invariant;
}

static bool is_checked(const struct scenario *scenario, const struct invariant *invariant)
{
    for (size_t i = 0; i < scenario->invariant_count; i++)
        if (scenario->invariants[i] == invariant)
            return true;
    return false;
}

static void check_all(struct scenario *scenario)
{
    scenario->invariant_count = 0;
    for (size_t i = 0; invariants[i] != NULL; i++) {
        FP_ASSERT(i < SCENARIO_INVARIANT_COUNT_MAX);
        if (applies(scenario, invariants[i]))
            scenario->invariants[scenario->invariant_count++] = invariants[i];
    }
}

static const struct yaml_node *find_all(const struct yaml_node *list)
{
    for (const struct yaml_entry *item = list->first; item != NULL; item = item->next)
        if (item->value->kind == YAML_SCALAR && strcmp(item->value->text, "all") == 0)
            return item->value;
    return NULL;
}

static void add_invariant(struct walk *walk, const struct yaml_node *node,
                          struct scenario *scenario)
{
    const struct invariant *invariant = find_invariant(walk, node, "invariants", scenario);
    if (invariant == NULL)
        return;
    if (is_checked(scenario, invariant)) {
        yaml_error(walk->diags, node, "invariants: `%s` is named twice", invariant->name);
        return;
    }
    FP_ASSERT(scenario->invariant_count < SCENARIO_INVARIANT_COUNT_MAX);
    scenario->invariants[scenario->invariant_count++] = invariant;
}

void read_invariants(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    const struct yaml_node *all = node != NULL ? find_all(node) : NULL;
    if (all != NULL && node->count > 1) {
        yaml_error(walk->diags, all,
                   "invariants: `all` means every one, nothing may stand beside it");
    }
    if (node == NULL || all != NULL) {
        check_all(scenario);
        return;
    }
    if (node->count == 0)
        yaml_error(walk->diags, node, "invariants: the list is empty, write [all] or names");
    for (const struct yaml_entry *item = node->first; item != NULL; item = item->next)
        add_invariant(walk, item->value, scenario);
}

/* ---- expect ---- */

/* One that is checked, or NULL when it was reported. */
static const struct invariant *find_checked(struct walk *walk, const struct yaml_node *node,
                                            const char *where, const struct scenario *scenario)
{
    const struct invariant *invariant = find_invariant(walk, node, where, scenario);
    if (invariant == NULL || scenario->invariant_count == 0 || is_checked(scenario, invariant))
        return invariant;
    yaml_error(walk->diags, node, "%s: `%s` is not among the invariants of this scenario", where,
               invariant->name);
    return NULL;
}

/* What else may break first: a design with two flaws shows now the one, now the other. */
static void read_also(struct walk *walk, const struct yaml_node *list, struct scenario *scenario)
{
    if (list->count == 0)
        yaml_error(walk->diags, list, "expect.also: the list is empty, leave it out");
    for (const struct yaml_entry *item = list->first; item != NULL; item = item->next) {
        const struct invariant *also = find_checked(walk, item->value, "expect.also", scenario);
        if (also == NULL)
            continue;
        if (scenario_expects(scenario, also)) {
            yaml_error(walk->diags, item->value, "expect.also: `%s` is named twice", also->name);
            continue;
        }
        FP_ASSERT(scenario->expect_also_count < SCENARIO_INVARIANT_COUNT_MAX);
        scenario->expect_also[scenario->expect_also_count++] = also;
    }
}

static void read_violates(struct walk *walk, const struct yaml_node *map, struct scenario *scenario)
{
    struct expect_config {
        const struct yaml_node *violates, *also;
    } config = {NULL, NULL};
    static const char *const forms[] = {"the name of an invariant", NULL};
    static const struct field fields[] = {
        {.key = "violates",
         .type = FIELD_NODE,
         .words = forms,
         .offset = offsetof(struct expect_config, violates),
         .required = true,
         .about = "the invariant that must break"},
        {.key = "also",
         .type = FIELD_LIST,
         .offset = offsetof(struct expect_config, also),
         .about = "invariants that may break first in some seeds"},
    };
    if (!walk_map(walk, map, "expect", fields, FP_COUNT(fields), &config))
        return;
    scenario->expect = EXPECT_VIOLATION;
    scenario->expect_invariant = find_checked(walk, config.violates, "expect.violates", scenario);
    if (config.also != NULL)
        read_also(walk, config.also, scenario);
}

bool scenario_expects(const struct scenario *scenario, const struct invariant *invariant)
{
    if (scenario->expect != EXPECT_VIOLATION)
        return false;
    for (size_t i = 0; i < scenario->expect_also_count; i++)
        if (scenario->expect_also[i] == invariant)
            return true;
    return scenario->expect_invariant == invariant;
}

void read_expect(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    /* Its absence was reported with the other required keys. */
    if (node == NULL || node->kind == YAML_BAD)
        return;
    if (node->kind == YAML_MAP) {
        read_violates(walk, node, scenario);
        return;
    }
    if (node->kind == YAML_SCALAR && strcmp(node->text, "pass") == 0) {
        scenario->expect = EXPECT_PASS;
        return;
    }
    yaml_error(walk->diags, node, "expect: expected pass or {violates: invariant}, found %s",
               yaml_describe(walk->arena, node));
}
