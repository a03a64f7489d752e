/* The one walker over field tables: unknown keys, what is required, types, ranges, defaults. */
#ifndef FENCEPOST_WALK_H
#define FENCEPOST_WALK_H

#include "sim/core/arena.h"
#include "sim/core/strbuf.h"
#include "sim/scenario/diag.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/yaml.h"
#include "sim/strategy.h"

/* For duration fields whose table names no range: sums of them must stay far from overflow. */
#define DURATION_LONGEST_NS (365 * NS_PER_DAY)

struct walk {
    struct arena *arena; /* what the fields point to lives here */
    struct diags *diags;
    /* For FIELD_TARGET. NULL: the strategy is not known, so targets are not compared with it. */
    const struct strategy *strategy;
    const int *role_counts;
    /* For FIELD_POINTS: where the fault can strike, and its name. */
    uint64_t points;
    const char *points_owner;
    bool takes_database; /* for FIELD_TARGET: `database` is one */
};

/* Fill `config` from `map` by the table. `where` names the mapping in messages ("limits"); "" is
 * the top. NULL for `map` means that the whole mapping is absent: defaults, and nothing may be
 * required. True when nothing was wrong in here. */
bool walk_map(struct walk *walk, const struct yaml_node *map, const char *where,
              const struct field *fields, size_t field_count, void *config);

/* "an integer, 0..64", for messages and the reference. */
void field_expected(const struct field *field, struct strbuf *out);

/* "unknown <what> `word`<place>, did you mean `x`?", or the known ones when none is near. `place`
 * is "" or begins with a space: " in topology". */
void walk_unknown(struct walk *walk, const struct yaml_node *node, const char *what,
                  const char *place, const char *const *names, size_t name_count);
/* A mapping or a list is there, or it is reported. YAML_BAD was reported already. */
bool walk_wants(struct walk *walk, const struct yaml_node *node, const char *where,
                enum yaml_kind kind);

#endif
