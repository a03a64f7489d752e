#include "sim/scenario/walk.h"

#include <string.h>

#include "faults/fault.h"
#include "sim/core/duration.h"
#include "sim/scenario/scalar.h"

#define NAME_SIZE_MAX 64
#define TARGET_NAME_COUNT_MAX 64

/* One field of one mapping, on its way into the config. */
struct visit {
    struct walk *walk;
    const struct field *field;
    const struct yaml_node *node;
    const char *where;
    void *slot;
};

/* ---- messages ---- */

static void join(struct strbuf *out, const char *const *names, size_t name_count,
                 const char *between)
{
    const char *separator = "";
    for (size_t i = 0; i < name_count; i++) {
        if (names[i] != NULL) {
            strbuf_printf(out, "%s%s", separator, names[i]);
            separator = between;
        }
    }
}

static size_t word_count(const char *const *words)
{
    size_t count = 0;
    while (words != NULL && words[count] != NULL)
        count++;
    return count;
}

static bool has_range(const struct field *field)
{
    return field->low != 0 || field->high != 0;
}

static void range_text(const struct field *field, struct strbuf *out)
{
    char low[DURATION_TEXT_SIZE], high[DURATION_TEXT_SIZE];
    if (!has_range(field))
        return;
    if (field->type == FIELD_INTEGER) {
        strbuf_printf(out, " from %lld to %lld", (long long)field->low, (long long)field->high);
        return;
    }
    strbuf_printf(out, ", from %s to %s", duration_text(field->low, low),
                  duration_text(field->high, high));
}

static size_t label_size_max(const struct field *field)
{
    return field->high > 0 ? (size_t)field->high : NAME_SIZE_MAX;
}

void field_expected(const struct field *field, struct strbuf *out)
{
    static const char *const texts[] = {
        [FIELD_TEXT] = "a text",
        [FIELD_NAME] = "a name of letters, digits, `-`, `_` and `.`",
        [FIELD_INTEGER] = "an integer",
        [FIELD_BOOL] = "true or false",
        [FIELD_DURATION] = "a duration such as 90m",
        [FIELD_DURATION_RANGE] = "a duration such as 90m or a range such as 20m..90m",
        [FIELD_PROBABILITY] = "a probability from 0 to 1 with at most 6 decimals",
        [FIELD_ENUM] = "one of ",
        [FIELD_POINTS] = "a point or a list of points",
        [FIELD_TARGET] = "a target such as worker-1, any-worker or any",
        [FIELD_NAMES] = "a name or a list of names",
        [FIELD_LABEL] = "a name of letters, digits, `-` and `_`",
        [FIELD_MAP] = "a mapping",
        [FIELD_LIST] = "a list",
        [FIELD_NODE] = "",
    };
    strbuf_puts(out, texts[field->type]);
    switch (field->type) {
    case FIELD_ENUM:
        join(out, field->words, word_count(field->words), ", ");
        break;
    case FIELD_NODE:
        join(out, field->words, word_count(field->words), " or ");
        break;
    case FIELD_DURATION:
    case FIELD_INTEGER:
        range_text(field, out);
        if (field->words != NULL) {
            strbuf_puts(out, ", or ");
            join(out, field->words, word_count(field->words), " or ");
        }
        break;
    case FIELD_DURATION_RANGE:
        range_text(field, out);
        break;
    case FIELD_NAME:
    case FIELD_LABEL:
        strbuf_printf(out, ", at most %zu characters", label_size_max(field));
        break;
    default:
        break;
    }
}

/* "topology.workers: expected an integer from 0 to 64, found `two`". */
static bool refuse(const struct visit *visit, const char *hint)
{
    struct strbuf expected = STRBUF_INIT;
    field_expected(visit->field, &expected);
    yaml_error(visit->walk->diags, visit->node, "%s%s%s: expected %s, found %s%s", visit->where,
               visit->where[0] != '\0' ? "." : "", visit->field->key, strbuf_str(&expected),
               yaml_describe(visit->walk->arena, visit->node), hint);
    strbuf_release(&expected);
    return false;
}

static bool refuse_with_nearest(const struct visit *visit)
{
    const char *const *words = visit->field->words;
    const char *nearest = suggest(visit->node->text, words, word_count(words));
    const char *hint = "";
    if (nearest != NULL)
        hint = arena_printf(visit->walk->arena, ", did you mean `%s`?", nearest);
    return refuse(visit, hint);
}

void walk_unknown(struct walk *walk, const struct yaml_node *node, const char *what,
                  const char *place, const char *const *names, size_t name_count)
{
    const char *found = yaml_describe(walk->arena, node);
    if (node->kind != YAML_SCALAR) {
        yaml_error(walk->diags, node, "expected the name of a %s%s, found %s", what, place, found);
        return;
    }
    const char *nearest = suggest(node->text, names, name_count);
    if (nearest != NULL) {
        yaml_error(walk->diags, node, "unknown %s %s%s, did you mean `%s`?", what, found, place,
                   nearest);
        return;
    }
    struct strbuf known = STRBUF_INIT;
    join(&known, names, name_count, ", ");
    yaml_error(walk->diags, node, "unknown %s %s%s, known: %s", what, found, place,
               known.size > 0 ? strbuf_str(&known) : "none");
    strbuf_release(&known);
}

bool walk_wants(struct walk *walk, const struct yaml_node *node, const char *where,
                enum yaml_kind kind)
{
    FP_ASSERT(kind == YAML_MAP || kind == YAML_LIST);
    if (node->kind == kind)
        return true;
    if (node->kind != YAML_BAD) {
        yaml_error(walk->diags, node, "%s: expected %s, found %s", where,
                   kind == YAML_MAP ? "a mapping" : "a list", yaml_describe(walk->arena, node));
    }
    return false;
}

/* ---- one reader per type ---- */

static bool read_text(const struct visit *visit)
{
    *(char **)visit->slot = arena_strdup(visit->walk->arena, visit->node->text);
    return true;
}

static bool read_name(const struct visit *visit)
{
    const char *extra = visit->field->type == FIELD_NAME ? "-_." : "-_";
    if (!scalar_is_label(visit->node->text, extra, label_size_max(visit->field)))
        return refuse(visit, "");
    return read_text(visit);
}

static bool is_in_range(const struct field *field, int64_t value)
{
    if (has_range(field))
        return value >= field->low && value <= field->high;
    return value >= 0 && (field->type == FIELD_INTEGER || value <= DURATION_LONGEST_NS);
}

static bool refuse_out_of_range(const struct visit *visit)
{
    bool is_duration = visit->field->type != FIELD_INTEGER;
    return refuse(visit, has_range(visit->field) ? ""
                         : is_duration           ? ", which is longer than 365d"
                                                 : ", which is negative");
}

static int word_index(const char *const *words, const char *text)
{
    for (size_t i = 0; i < word_count(words); i++)
        if (strcmp(words[i], text) == 0)
            return (int)i;
    return -1;
}

static bool read_integer(const struct visit *visit)
{
    int64_t value;
    int word = word_index(visit->field->words, visit->node->text);
    if (word >= 0) {
        *(int64_t *)visit->slot = -1 - word;
        return true;
    }
    if (visit->node->quoted || !scalar_integer(visit->node->text, &value))
        return refuse(visit, "");
    if (!is_in_range(visit->field, value))
        return refuse_out_of_range(visit);
    *(int64_t *)visit->slot = value;
    return true;
}

static bool read_bool(const struct visit *visit)
{
    if (visit->node->quoted || !scalar_bool(visit->node->text, visit->slot))
        return refuse(visit, "");
    return true;
}

/* A bare number is the commonest mistake with durations: say what is missing. */
static bool refuse_duration(const struct visit *visit)
{
    int64_t number;
    if (scalar_integer(visit->node->text, &number))
        return refuse(visit, ", which has no unit (ns, us, ms, s, m, h or d)");
    return visit->field->words != NULL ? refuse_with_nearest(visit) : refuse(visit, "");
}

static bool read_duration(const struct visit *visit)
{
    int word = word_index(visit->field->words, visit->node->text);
    if (word >= 0) {
        *(int64_t *)visit->slot = -1 - word;
        return true;
    }
    int64_t ns;
    if (!duration_parse(visit->node->text, &ns))
        return refuse_duration(visit);
    if (!is_in_range(visit->field, ns))
        return refuse_out_of_range(visit);
    *(int64_t *)visit->slot = ns;
    return true;
}

static bool ends_are_swapped(const char *text)
{
    const char *dots = strstr(text, "..");
    if (dots == NULL)
        return false;
    char first[DURATION_TEXT_SIZE];
    size_t first_size = (size_t)(dots - text);
    if (first_size >= sizeof(first))
        return false;
    memcpy(first, text, first_size);
    first[first_size] = '\0';
    int64_t low, high;
    return duration_parse(first, &low) && duration_parse(dots + 2, &high) && low > high;
}

static bool read_duration_range(const struct visit *visit)
{
    struct duration_range range;
    if (ends_are_swapped(visit->node->text))
        return refuse(visit, ", whose first end is the longer one");
    if (!duration_parse_range(visit->node->text, &range.low_ns, &range.high_ns))
        return refuse_duration(visit);
    if (!is_in_range(visit->field, range.low_ns) || !is_in_range(visit->field, range.high_ns))
        return refuse_out_of_range(visit);
    *(struct duration_range *)visit->slot = range;
    return true;
}

static bool read_probability(const struct visit *visit)
{
    if (visit->node->quoted || !scalar_probability(visit->node->text, visit->slot))
        return refuse(visit, "");
    return true;
}

static bool read_enum(const struct visit *visit)
{
    int word = word_index(visit->field->words, visit->node->text);
    if (word < 0)
        return refuse_with_nearest(visit);
    *(int *)visit->slot = word;
    return true;
}

/* ---- lists of names ---- */

static bool read_name_into(const struct visit *visit, const struct yaml_node *node,
                           const char **name)
{
    struct visit item = *visit;
    item.node = node;
    if (node->kind != YAML_SCALAR || !scalar_is_label(node->text, "-_.", NAME_SIZE_MAX))
        return refuse(&item, "");
    *name = arena_strdup(visit->walk->arena, node->text);
    return true;
}

static bool read_names(const struct visit *visit)
{
    const struct yaml_node *node = visit->node;
    struct name_list *list = visit->slot;
    bool good = true;
    if (node->kind == YAML_MAP || (node->kind == YAML_LIST && node->count == 0))
        return refuse(visit, node->kind == YAML_LIST ? " without entries" : "");
    size_t count = node->kind == YAML_LIST ? node->count : 1;
    const char **names = arena_alloc(visit->walk->arena, count * sizeof(*names));
    *list = (struct name_list){.names = names};
    if (node->kind == YAML_SCALAR) {
        list->count = 1;
        return read_name_into(visit, node, names);
    }
    for (const struct yaml_entry *item = node->first; item != NULL; item = item->next)
        good = read_name_into(visit, item->value, &names[list->count++]) && good;
    return good;
}

/* ---- points ---- */

/* The clock is no point to ask for: `at` does that. */
static int point_index(const struct yaml_node *node)
{
    for (int point = 0; point < POINT_CLOCK; point++) {
        bool same = node->kind == YAML_SCALAR &&
                    strcmp(fault_point_name((enum fault_point)point), node->text) == 0;
        if (same)
            return point;
    }
    return -1;
}

/* Either no point at all, or none of this fault's. */
static bool refuse_point(const struct visit *visit, const struct yaml_node *node, bool is_point)
{
    struct walk *walk = visit->walk;
    const char *names[FAULT_POINT_COUNT] = {NULL};
    for (int point = 0; point < POINT_CLOCK; point++)
        if ((walk->points & POINT_BIT(point)) != 0)
            names[point] = fault_point_name((enum fault_point)point);
    if (!is_point) {
        const char *place = arena_printf(walk->arena, " in %s.%s", visit->where, visit->field->key);
        walk_unknown(walk, node, "point", place, names, FAULT_POINT_COUNT);
        return false;
    }
    struct strbuf able = STRBUF_INIT;
    join(&able, names, FAULT_POINT_COUNT, ", ");
    yaml_error(walk->diags, node, "%s.%s: %s cannot strike at `%s`, only at: %s", visit->where,
               visit->field->key, walk->points_owner, node->text, strbuf_str(&able));
    strbuf_release(&able);
    return false;
}

static bool read_point(const struct visit *visit, const struct yaml_node *node, uint64_t *points)
{
    int point = point_index(node);
    if (point < 0 || (visit->walk->points & POINT_BIT(point)) == 0)
        return refuse_point(visit, node, point >= 0);
    if ((*points & POINT_BIT(point)) != 0) {
        yaml_error(visit->walk->diags, node, "%s.%s: `%s` is named twice", visit->where,
                   visit->field->key, node->text);
        return false;
    }
    *points |= POINT_BIT(point);
    return true;
}

static bool read_points(const struct visit *visit)
{
    uint64_t points = 0;
    bool good = true;
    FP_ASSERT(visit->walk->points_owner != NULL);
    if (visit->node->kind == YAML_SCALAR)
        good = read_point(visit, visit->node, &points);
    else if (visit->node->kind != YAML_LIST || visit->node->count == 0)
        return refuse(visit, visit->node->kind == YAML_LIST ? " without entries" : "");
    for (const struct yaml_entry *item = visit->node->first; item != NULL; item = item->next)
        if (item->value->kind != YAML_BAD)
            good = read_point(visit, item->value, &points) && good;
    *(uint64_t *)visit->slot = points;
    return good;
}

/* ---- targets ---- */

static const struct role *role_find(const struct strategy *strategy, const char *name, size_t size,
                                    size_t *index)
{
    for (size_t i = 0; i < strategy->role_count; i++) {
        const char *role = strategy->roles[i].name;
        if (strlen(role) == size && memcmp(role, name, size) == 0) {
            *index = i;
            return &strategy->roles[i];
        }
    }
    return NULL;
}

static bool set_target(const struct visit *visit, enum fault_target_kind kind, const char *name)
{
    struct fault_target *target = visit->slot;
    target->kind = kind;
    target->name = name != NULL ? arena_strdup(visit->walk->arena, name) : NULL;
    return true;
}

/* All that could stand there: "any", "any-worker", "worker-1". */
static bool refuse_target(const struct visit *visit)
{
    const struct strategy *strategy = visit->walk->strategy;
    const char *names[TARGET_NAME_COUNT_MAX] = {"any"};
    size_t name_count = 1;
    if (visit->walk->takes_database)
        names[name_count++] = "database";
    for (size_t i = 0; i < strategy->role_count && name_count + 2 <= TARGET_NAME_COUNT_MAX; i++) {
        const char *role = strategy->roles[i].name;
        names[name_count++] = arena_printf(visit->walk->arena, "any-%s", role);
        names[name_count++] = arena_printf(visit->walk->arena, "%s-1", role);
    }
    const char *place = arena_printf(visit->walk->arena, " in %s", visit->where);
    walk_unknown(visit->walk, visit->node, "target", place, names, name_count);
    return false;
}

/* "there is no worker-9, topology.workers is 3". */
static bool refuse_absent_actor(const struct visit *visit, const struct role *role, int count)
{
    const char *why = "there is always one";
    if (role->topology != NULL)
        why = arena_printf(visit->walk->arena, "topology.%s is %d", role->topology, count);
    yaml_error(visit->walk->diags, visit->node, "%s.%s: there is no %s, %s", visit->where,
               visit->field->key, yaml_describe(visit->walk->arena, visit->node), why);
    return false;
}

static bool read_any_role(const struct visit *visit, const char *name)
{
    const struct walk *walk = visit->walk;
    size_t index;
    const struct role *role = role_find(walk->strategy, name, strlen(name), &index);
    if (role == NULL)
        return refuse_target(visit);
    if (walk->role_counts[index] == 0)
        return refuse_absent_actor(visit, role, 0);
    return set_target(visit, TARGET_ROLE, name);
}

static bool read_actor(const struct visit *visit)
{
    const struct walk *walk = visit->walk;
    const char *text = visit->node->text;
    const char *dash = strrchr(text, '-');
    size_t index;
    int64_t number;
    if (dash == NULL || !scalar_integer(dash + 1, &number))
        return refuse_target(visit);
    const struct role *role = role_find(walk->strategy, text, (size_t)(dash - text), &index);
    if (role == NULL)
        return refuse_target(visit);
    if (number < 1 || number > walk->role_counts[index])
        return refuse_absent_actor(visit, role, walk->role_counts[index]);
    return set_target(visit, TARGET_NAME, text);
}

static bool read_target(const struct visit *visit)
{
    const char *text = visit->node->text;
    if (strcmp(text, "any") == 0)
        return set_target(visit, TARGET_ANY, NULL);
    if (visit->walk->takes_database && strcmp(text, "database") == 0)
        return set_target(visit, TARGET_DATABASE, NULL);
    if (visit->walk->strategy == NULL)
        return set_target(visit, TARGET_NAME, text);
    if (strncmp(text, "any-", 4) == 0)
        return read_any_role(visit, text + 4);
    return read_actor(visit);
}

/* ---- parts with a shape of their own ---- */

static bool read_node(const struct visit *visit)
{
    enum field_type type = visit->field->type;
    bool fits = type == FIELD_NODE || (type == FIELD_MAP && visit->node->kind == YAML_MAP) ||
                (type == FIELD_LIST && visit->node->kind == YAML_LIST);
    if (!fits) {
        bool lone = type == FIELD_LIST && visit->node->kind == YAML_SCALAR;
        return refuse(visit, lone ? ", a list of one is written [x]" : "");
    }
    *(const struct yaml_node **)visit->slot = visit->node;
    return true;
}

/* ---- the walk ---- */

struct reader {
    bool (*read)(const struct visit *visit);
    bool takes_collections;
};

static const struct reader readers[] = {
    [FIELD_TEXT] = {read_text, false},
    [FIELD_NAME] = {read_name, false},
    [FIELD_INTEGER] = {read_integer, false},
    [FIELD_BOOL] = {read_bool, false},
    [FIELD_DURATION] = {read_duration, false},
    [FIELD_DURATION_RANGE] = {read_duration_range, false},
    [FIELD_PROBABILITY] = {read_probability, false},
    [FIELD_ENUM] = {read_enum, false},
    [FIELD_POINTS] = {read_points, true},
    [FIELD_TARGET] = {read_target, false},
    [FIELD_NAMES] = {read_names, true},
    [FIELD_LABEL] = {read_name, false},
    [FIELD_MAP] = {read_node, true},
    [FIELD_LIST] = {read_node, true},
    [FIELD_NODE] = {read_node, true},
};

static bool read_field(const struct visit *visit)
{
    FP_ASSERT((size_t)visit->field->type < FP_COUNT(readers));
    const struct reader *reader = &readers[visit->field->type];
    if (visit->node->kind == YAML_BAD)
        return false;
    bool empty_text = visit->field->type == FIELD_TEXT && visit->node->kind == YAML_SCALAR &&
                      visit->node->text[0] == '\0';
    bool readable = visit->node->kind == YAML_SCALAR ||
                    (reader->takes_collections && visit->node->kind != YAML_NULL);
    if (!readable || (empty_text && visit->field->required))
        return refuse(visit, "");
    return reader->read(visit);
}

/* A table's own default goes through the same reader; if it is refused, the table is wrong. */
static void use_fallback(struct walk *walk, const struct field *field, void *slot)
{
    if (field->fallback == NULL)
        return;
    struct diags unused;
    diags_init(&unused, "fallback");
    struct walk quiet = *walk;
    quiet.diags = &unused;
    struct yaml_node node = {.kind = YAML_SCALAR, .text = field->fallback};
    struct visit visit = {&quiet, field, &node, "fallback", slot};
    FP_ASSERT(read_field(&visit));
    diags_release(&unused);
}

static bool is_known(const struct field *fields, size_t field_count, const char *key)
{
    for (size_t i = 0; i < field_count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return true;
    return false;
}

static bool report_unknown_keys(struct walk *walk, const struct yaml_node *map, const char *where,
                                const struct field *fields, size_t field_count,
                                const char *const *names)
{
    bool good = true;
    const char *place = where[0] != '\0' ? arena_printf(walk->arena, " in %s", where) : "";
    for (const struct yaml_entry *entry = map->first; entry != NULL; entry = entry->next) {
        if (!is_known(fields, field_count, entry->key->text)) {
            walk_unknown(walk, entry->key, "key", place, names, field_count);
            good = false;
        }
    }
    return good;
}

/* A key that is mistyped is reported as unknown; that it is missing too says nothing new. */
static bool is_mistyped(const struct yaml_node *map, const struct field *fields, size_t field_count,
                        const char *const *names, const char *key)
{
    for (const struct yaml_entry *entry = map->first; entry != NULL; entry = entry->next) {
        if (is_known(fields, field_count, entry->key->text))
            continue;
        const char *nearest = suggest(entry->key->text, names, field_count);
        if (nearest != NULL && strcmp(nearest, key) == 0)
            return true;
    }
    return false;
}

static void report_missing(struct walk *walk, const struct yaml_node *map, const char *where,
                           const struct field *field)
{
    struct strbuf expected = STRBUF_INIT;
    field_expected(field, &expected);
    yaml_error(walk->diags, map, "%s%sthe key `%s` is missing: expected %s", where,
               where[0] != '\0' ? ": " : "", field->key, strbuf_str(&expected));
    strbuf_release(&expected);
}

static const char **key_names(struct arena *arena, const struct field *fields, size_t field_count)
{
    const char **names = arena_alloc(arena, (field_count + 1) * sizeof(*names));
    for (size_t i = 0; i < field_count; i++)
        names[i] = fields[i].key;
    return names;
}

bool walk_map(struct walk *walk, const struct yaml_node *map, const char *where,
              const struct field *fields, size_t field_count, void *config)
{
    bool good = true;
    const char **names = key_names(walk->arena, fields, field_count);
    FP_ASSERT(map == NULL || map->kind == YAML_MAP);
    if (map != NULL)
        good = report_unknown_keys(walk, map, where, fields, field_count, names);
    for (size_t i = 0; i < field_count; i++) {
        const struct field *field = &fields[i];
        void *slot = (char *)config + field->offset;
        const struct yaml_node *node = yaml_get(map, field->key);
        if (node != NULL) {
            struct visit visit = {walk, field, node, where, slot};
            good = read_field(&visit) && good;
        } else if (!field->required) {
            use_fallback(walk, field, slot);
        } else {
            FP_ASSERT(map != NULL);
            good = false;
            if (!is_mistyped(map, fields, field_count, names, field->key))
                report_missing(walk, map, where, field);
        }
    }
    return good;
}
