/* What depends on the strategy: the variant and the topology. */
#include <string.h>

#include "sim/scenario/sections.h"

#define STANDBY_COUNT_MAX 4
#define POOL_SIZE_MAX 64

/* ---- variant ---- */

static size_t weakness_index(const struct strategy *strategy, const char *name)
{
    size_t index = 0;
    while (index < strategy->weakness_count && strcmp(strategy->weaknesses[index].name, name) != 0)
        index++;
    return index;
}

static void refuse_weakness(struct walk *walk, const struct yaml_node *node)
{
    const struct strategy *strategy = walk->strategy;
    const char *names[STRATEGY_WEAKNESS_COUNT_MAX];
    for (size_t i = 0; i < strategy->weakness_count; i++)
        names[i] = strategy->weaknesses[i].name;
    const char *place = arena_printf(walk->arena, " of %s", strategy->name);
    walk_unknown(walk, node, "weakness", place, names, strategy->weakness_count);
}

static void read_weakness(struct walk *walk, const struct yaml_node *node,
                          struct scenario *scenario)
{
    if (node->kind == YAML_BAD)
        return;
    if (node->kind != YAML_SCALAR) {
        yaml_error(walk->diags, node,
                   "variant.weaknesses: expected the name of a weakness, found %s",
                   yaml_describe(walk->arena, node));
        return;
    }
    size_t index = weakness_index(walk->strategy, node->text);
    if (index == walk->strategy->weakness_count) {
        refuse_weakness(walk, node);
        return;
    }
    uint64_t bit = UINT64_C(1) << index;
    if ((scenario->weaknesses & bit) != 0)
        yaml_error(walk->diags, node, "variant.weaknesses: `%s` is named twice", node->text);
    scenario->weaknesses |= bit;
}

/* "weak: a, b", in the strategy's order. */
static char *weak_text(struct arena *arena, const struct scenario *scenario)
{
    struct strbuf text = STRBUF_INIT;
    const char *comma = "weak: ";
    for (size_t i = 0; i < scenario->strategy->weakness_count; i++) {
        if ((scenario->weaknesses >> i & 1) != 0) {
            strbuf_printf(&text, "%s%s", comma, scenario->strategy->weaknesses[i].name);
            comma = ", ";
        }
    }
    char *kept = arena_strdup(arena, strbuf_str(&text));
    strbuf_release(&text);
    return kept;
}

static void read_weaknesses(struct walk *walk, const struct yaml_node *map,
                            struct scenario *scenario)
{
    struct weak_config {
        const struct yaml_node *weaknesses;
    } config = {NULL};
    static const struct field fields[] = {
        {.key = "weaknesses",
         .type = FIELD_LIST,
         .offset = offsetof(struct weak_config, weaknesses),
         .required = true,
         .about = "names of weaknesses"},
    };
    if (!walk_map(walk, map, "variant", fields, FP_COUNT(fields), &config))
        return;
    if (config.weaknesses->count == 0) {
        yaml_error(walk->diags, config.weaknesses,
                   "variant.weaknesses: the list is empty, write `variant: hardened` for none");
    }
    for (const struct yaml_entry *item = config.weaknesses->first; item != NULL; item = item->next)
        read_weakness(walk, item->value, scenario);
    scenario->variant = weak_text(walk->arena, scenario);
}

static uint64_t weaknesses_as_written(const struct strategy *strategy)
{
    uint64_t set = 0;
    for (size_t i = 0; i < strategy->weakness_count; i++)
        set |= strategy->weaknesses[i].as_written ? UINT64_C(1) << i : 0;
    return set;
}

static void refuse_variant(struct walk *walk, const struct yaml_node *node)
{
    static const char *const words[] = {"hardened", "as_written"};
    const char *nearest = node->text != NULL ? suggest(node->text, words, FP_COUNT(words)) : NULL;
    const char *hint = "";
    if (nearest != NULL)
        hint = arena_printf(walk->arena, ", did you mean `%s`?", nearest);
    yaml_error(walk->diags, node,
               "variant: expected hardened, as_written or {weaknesses: [names]}, found %s%s",
               yaml_describe(walk->arena, node), hint);
}

void read_variant(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    FP_ASSERT(scenario->strategy != NULL);
    FP_ASSERT(scenario->strategy->weakness_count <= STRATEGY_WEAKNESS_COUNT_MAX);
    scenario->variant = arena_strdup(walk->arena, "hardened");
    if (node == NULL || node->kind == YAML_BAD)
        return;
    if (node->kind == YAML_MAP) {
        read_weaknesses(walk, node, scenario);
        return;
    }
    bool as_written = node->kind == YAML_SCALAR && strcmp(node->text, "as_written") == 0;
    bool hardened = node->kind == YAML_SCALAR && strcmp(node->text, "hardened") == 0;
    if (!as_written && !hardened) {
        refuse_variant(walk, node);
        return;
    }
    if (as_written) {
        scenario->variant = arena_strdup(walk->arena, "as_written");
        scenario->weaknesses = weaknesses_as_written(scenario->strategy);
    }
}

/* ---- topology ---- */

struct topology_config {
    const struct yaml_node *postgres;
    int64_t counts[SCENARIO_ROLE_COUNT_MAX];
};

struct postgres_config {
    int64_t standbys;
    int replication;
    int pooler; /* index into pooler_words */
    int64_t pool_size;
};

/* The server's own default is the first. */
enum { REPLICATION_ASYNCHRONOUS, REPLICATION_SYNCHRONOUS };
static const char *const replication_words[] = {"asynchronous", "synchronous", NULL};
static const char *const pooler_words[] = {"none", "transaction", NULL};

const struct field postgres_fields[] = {
    {.key = "standbys",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct postgres_config, standbys),
     .low = 0,
     .high = STANDBY_COUNT_MAX,
     .fallback = "0",
     .about = "how many standbys follow the primary"},
    {.key = "replication",
     .type = FIELD_ENUM,
     .offset = offsetof(struct postgres_config, replication),
     .words = replication_words,
     .fallback = "asynchronous",
     .about =
         "synchronous: a commit is answered when a standby has received it, so that a failover "
         "loses none; asynchronous: it is lost when the standby lags"},
    {.key = "pooler",
     .type = FIELD_ENUM,
     .offset = offsetof(struct postgres_config, pooler),
     .words = pooler_words,
     .fallback = "none",
     .about = "transaction: a pgbouncer in transaction mode between the actors and the server"},
    {.key = "pool_size",
     .type = FIELD_INTEGER,
     .offset = offsetof(struct postgres_config, pool_size),
     .low = 1,
     .high = POOL_SIZE_MAX,
     .fallback = "20",
     .about = "how many connections to the server the pooler shares out; a session that finds none "
              "free is sent away"},
};
const size_t postgres_field_count = FP_COUNT(postgres_fields);

struct field *topology_table(struct arena *arena, const struct strategy *strategy,
                             size_t *field_count)
{
    FP_ASSERT(strategy->role_count <= SCENARIO_ROLE_COUNT_MAX);
    struct field *table = arena_alloc(arena, (strategy->role_count + 1) * sizeof(*table));
    size_t count = 0;
    table[count++] = (struct field){
        .key = "postgres",
        .type = FIELD_MAP,
        .offset = offsetof(struct topology_config, postgres),
        .about = "the database servers",
    };
    for (size_t i = 0; i < strategy->role_count; i++) {
        const struct role *role = &strategy->roles[i];
        if (role->topology == NULL)
            continue;
        table[count++] = (struct field){
            .key = role->topology,
            .type = FIELD_INTEGER,
            .offset = offsetof(struct topology_config, counts) + i * sizeof(int64_t),
            .low = 0,
            .high = role->count_max,
            .fallback = arena_printf(arena, "%d", role->count_default),
            .about = arena_printf(arena, "how many actors of the role `%s`", role->name),
        };
    }
    *field_count = count;
    return table;
}

void read_topology(struct walk *walk, const struct yaml_node *node, struct scenario *scenario)
{
    const struct strategy *strategy = scenario->strategy;
    struct topology_config config = {0};
    struct postgres_config postgres = {0};
    size_t field_count;
    const struct field *table = topology_table(walk->arena, strategy, &field_count);
    /* A count that is refused stays at the most, so that no target is missed on its account. */
    for (size_t i = 0; i < strategy->role_count; i++)
        config.counts[i] = strategy->roles[i].count_max;
    walk_map(walk, node, "topology", table, field_count, &config);
    walk_map(walk, config.postgres, "topology.postgres", postgres_fields, postgres_field_count,
             &postgres);
    scenario->standby_count = (int)postgres.standbys;
    scenario->synchronous = postgres.replication == REPLICATION_SYNCHRONOUS;
    scenario->pool_size = postgres.pooler != 0 ? (int)postgres.pool_size : 0;
    const struct yaml_node *pool_size = yaml_get(config.postgres, "pool_size");
    if (pool_size != NULL && postgres.pooler == 0)
        yaml_error(walk->diags, pool_size,
                   "topology.postgres.pool_size: there is no pooler, write `pooler: transaction`");
    for (size_t i = 0; i < strategy->role_count; i++) {
        bool is_counted = strategy->roles[i].topology != NULL;
        scenario->role_counts[i] = is_counted ? (int)config.counts[i] : 1;
    }
}
