/* The top of a scenario file, and the parts that are plain tables. */
#include "sim/scenario/scenario.h"

#include <string.h>

#include "sim/core/pct.h"
#include "sim/scenario/override.h"
#include "sim/scenario/scalar.h"
#include "sim/scenario/sections.h"
#include "sim/scenario/workload.h"

#define STRATEGY_COUNT_MAX 32
#define LIMIT_LONGEST_NS (30 * NS_PER_DAY)
#define STEP_COUNT_LEAST 100
#define STEP_COUNT_MOST 1000000

static const char *const variant_forms[] = {"hardened", "as_written", "{weaknesses: [names]}",
                                            NULL};
static const char *const expect_forms[] = {"pass", "{violates: invariant}", NULL};

const struct field top_fields[] = {
    {.key = "scenario",
     .type = FIELD_LABEL,
     .offset = offsetof(struct top, name),
     .required = true,
     .about = "its name, which reports and failure files carry"},
    {.key = "about",
     .type = FIELD_TEXT,
     .offset = offsetof(struct top, about),
     .required = true,
     .about = "what happens in it and what should come of it, in a sentence"},
    {.key = "strategy",
     .type = FIELD_NAME,
     .offset = offsetof(struct top, strategy),
     .required = true,
     .about = "the locking design that runs"},
    {.key = "variant",
     .type = FIELD_NODE,
     .offset = offsetof(struct top, variant),
     .words = variant_forms,
     .about =
         "the strategy without weaknesses (the default), as its document has it, or with those "
         "named"},
    {.key = "topology",
     .type = FIELD_MAP,
     .offset = offsetof(struct top, topology),
     .about = "how many of what run"},
    {.key = "workload",
     .type = FIELD_MAP,
     .offset = offsetof(struct top, workload),
     .about = "what there is to do; its lists are the strategy's"},
    {.key = "faults",
     .type = FIELD_LIST,
     .offset = offsetof(struct top, faults),
     .about = "what goes wrong: `- kind: {fields}`, none when absent"},
    {.key = "invariants",
     .type = FIELD_LIST,
     .offset = offsetof(struct top, invariants),
     .about =
         "what must hold: names, or `[all]` (the default) for those that apply to the strategy"},
    {.key = "gates",
     .type = FIELD_LIST,
     .offset = offsetof(struct top, gates),
     .about = "SQL functions before which a statement can be suspended"},
    {.key = "scheduling",
     .type = FIELD_MAP,
     .offset = offsetof(struct top, scheduling),
     .about = "how the scheduler picks"},
    {.key = "limits",
     .type = FIELD_MAP,
     .offset = offsetof(struct top, limits),
     .about = "how long a run may take"},
    {.key = "expect",
     .type = FIELD_NODE,
     .offset = offsetof(struct top, expect),
     .required = true,
     .words = expect_forms,
     .about = "what must come of it: nothing breaks, or a violation of that invariant is found"},
    {.key = "choices",
     .type = FIELD_MAP,
     .offset = offsetof(struct top, choices),
     .about =
         "what is chosen, by stream: {number: value}, counted from 0; whatever is not named is 0, "
         "the simplest, and the seed has no say"},
};
const size_t top_field_count = FP_COUNT(top_fields);

const struct field limits_fields[] = {
    {.key = "chaos",
     .type = FIELD_DURATION,
     .offset = offsetof(struct scenario, chaos_ns),
     .low = NS_PER_S,
     .high = LIMIT_LONGEST_NS,
     .fallback = "4h",
     .about = "virtual time in which the workload runs and faults strike"},
    {.key = "settle",
     .type = FIELD_DURATION,
     .offset = offsetof(struct scenario, settle_ns),
     .low = NS_PER_S,
     .high = LIMIT_LONGEST_NS,
     .fallback = "6h",
     .about = "virtual time after that in which everything must come to rest"},
    {.key = "steps",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct scenario, step_count_max),
     .low = STEP_COUNT_LEAST,
     .high = STEP_COUNT_MOST,
     .fallback = "20000",
     .about = "steps of the scheduler"},
};
const size_t limits_field_count = FP_COUNT(limits_fields);

const struct field scheduling_fields[] = {
    {.key = "slowness",
     .type = FIELD_PROBABILITY,
     .offset = offsetof(struct scenario, slowness_per_million),
     .fallback = "0.02",
     .about = "how often time passes although somebody could run"},
    {.key = "pct",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct scenario, pct_depth),
     .low = 0,
     .high = PCT_DEPTH_MAX,
     .fallback = "0",
     .about =
         "pick by priorities with changes at so many decisions less one, as run --search pct:D "
         "does; 0: draw every decision"},
    {.key = "swarm",
     .type = FIELD_BOOL,
     .offset = offsetof(struct scenario, swarm),
     .fallback = "false",
     .about = "each seed switches a drawn part of the faults on, as run --search swarm does"},
};
const size_t scheduling_field_count = FP_COUNT(scheduling_fields);

void read_limits(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    walk_map(walk, node, "limits", limits_fields, limits_field_count, scenario);
}

void read_scheduling(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    walk_map(walk, node, "scheduling", scheduling_fields, scheduling_field_count, scenario);
}

/* ---- gates ---- */

static void read_gate(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    if (node->kind == YAML_BAD)
        return;
    if (node->kind != YAML_SCALAR || !scalar_is_identifier(node->text)) {
        yaml_error(walk->diags, node,
                   "gates: expected the name of an SQL function in lower case, "
                   "without schema and parentheses, found %s",
                   yaml_describe(walk->arena, node));
        return;
    }
    for (size_t i = 0; i < scenario->gate_count; i++) {
        if (strcmp(scenario->gates[i], node->text) == 0) {
            yaml_error(walk->diags, node, "gates: `%s` is named twice", node->text);
            return;
        }
    }
    scenario->gates[scenario->gate_count++] = arena_strdup(walk->arena, node->text);
}

void read_gates(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    if (node == NULL)
        return;
    if (node->count > SCENARIO_GATE_COUNT_MAX) {
        yaml_error(walk->diags, node, "gates: %zu entries, at most %d are allowed", node->count,
                   SCENARIO_GATE_COUNT_MAX);
        return;
    }
    if (scenario->pool_size > 0 && node->count > 0)
        yaml_error(walk->diags, node, "gates: not together with a pooler");
    for (const struct yaml_entry *item = node->first; item != NULL; item = item->next)
        read_gate(walk, item->value, scenario);
}

/* ---- the whole ---- */

static const struct strategy *find_strategy(struct walk *walk, const struct yaml_node *root,
                                            const char *name)
{
    const char *names[STRATEGY_COUNT_MAX];
    size_t name_count = 0;
    /* Absent or malformed, which was reported. */
    if (name == NULL)
        return NULL;
    const struct strategy *strategy = strategy_find(name);
    if (strategy != NULL)
        return strategy;
    for (; strategies[name_count] != NULL; name_count++) {
        FP_ASSERT(name_count < STRATEGY_COUNT_MAX);
        names[name_count] = strategies[name_count]->name;
    }
    walk_unknown(walk, yaml_get(root, "strategy"), "strategy", "", names, name_count);
    return NULL;
}

static void read_for_strategy(struct walk *walk, const struct top *top, struct scenario *scenario)
{
    read_variant(walk, top->variant, scenario);
    read_topology(walk, top->topology, scenario);
    walk->role_counts = scenario->role_counts;
    scenario->workload = workload_read(walk, top->workload);
}

static void read_root(struct walk *walk, const struct yaml_node *root, struct scenario *scenario)
{
    struct top top = {0};
    walk_map(walk, root, "", top_fields, top_field_count, &top);
    scenario->name = top.name;
    scenario->about = top.about;
    scenario->strategy = find_strategy(walk, root, top.strategy);
    walk->strategy = scenario->strategy;
    if (scenario->strategy != NULL)
        read_for_strategy(walk, &top, scenario);
    read_limits(walk, top.limits, scenario);
    read_scheduling(walk, top.scheduling, scenario);
    read_gates(walk, top.gates, scenario);
    read_faults(walk, top.faults, scenario);
    read_invariants(walk, top.invariants, scenario);
    read_expect(walk, top.expect, scenario);
    read_choices(walk, top.choices, scenario);
}

static bool root_is_map(const struct yaml_node *root, struct arena *arena, struct diags *diags)
{
    if (root->kind == YAML_MAP)
        return true;
    if (root->kind == YAML_NULL) {
        diags_add(diags, 0, 0, "there is no scenario in this file, only comments or nothing");
    } else if (root->kind != YAML_BAD) {
        yaml_error(diags, root, "expected a mapping that begins with `scenario: name`, found %s",
                   yaml_describe(arena, root));
    }
    return false;
}

static bool apply_overrides(struct scenario *scenario, struct yaml_node *root,
                            const char *const *overrides, size_t override_count,
                            struct diags *diags)
{
    bool good = true;
    if (override_count > SCENARIO_OVERRIDE_COUNT_MAX) {
        diags_add(diags, 0, 0, "%zu times --set, at most %d are allowed", override_count,
                  SCENARIO_OVERRIDE_COUNT_MAX);
        return false;
    }
    for (size_t i = 0; i < override_count; i++) {
        char *copy = arena_strdup(scenario->arena, overrides[i]);
        scenario->overrides[scenario->override_count++] = copy;
        good = override_apply(scenario->arena, root, copy, diags) && good;
    }
    return good;
}

static void keep_source(struct scenario *scenario, const char *file, const char *text, size_t size)
{
    scenario->file = arena_strdup(scenario->arena, file);
    scenario->source = arena_alloc(scenario->arena, size + 1);
    if (size > 0)
        memcpy(scenario->source, text, size);
}

struct scenario *scenario_parse_with(const char *file, const char *text, size_t size,
                                     const char *const *overrides, size_t override_count,
                                     struct diags *diags)
{
    FP_ASSERT(text != NULL || size == 0);
    size_t mistake_count = diags->count + diags->dropped_count;
    struct arena *arena = arena_new();
    struct scenario *scenario = arena_alloc(arena, sizeof(*scenario));
    struct walk walk = {.arena = arena, .diags = diags};
    scenario->arena = arena;

    struct yaml_node *root = yaml_parse(arena, text, size, NULL, diags);
    if (root != NULL && root_is_map(root, arena, diags)) {
        keep_source(scenario, file, text, size);
        apply_overrides(scenario, root, overrides, override_count, diags);
        read_root(&walk, root, scenario);
    }
    if (diags->count + diags->dropped_count == mistake_count)
        return scenario;
    diags_sort(diags);
    scenario_free(scenario);
    return NULL;
}

struct scenario *scenario_parse(const char *file, const char *text, size_t size,
                                struct diags *diags)
{
    return scenario_parse_with(file, text, size, NULL, 0, diags);
}

void scenario_free(struct scenario *scenario)
{
    if (scenario != NULL)
        arena_free(scenario->arena);
}
