/* The parts of a scenario file, one reader each. A reader is given the node of its key, or NULL
 * when the key is absent, fills its part of the scenario and reports what is wrong to walk->diags.
 */
#ifndef FENCEPOST_SECTIONS_H
#define FENCEPOST_SECTIONS_H

#include "sim/scenario/scenario.h"
#include "sim/scenario/walk.h"

/* The keys of the file; the parts with a shape of their own stay nodes. */
struct top {
    char *name;
    char *about;
    char *strategy;
    const struct yaml_node *variant;
    const struct yaml_node *topology;
    const struct yaml_node *workload;
    const struct yaml_node *faults;
    const struct yaml_node *invariants;
    const struct yaml_node *gates;
    const struct yaml_node *scheduling;
    const struct yaml_node *limits;
    const struct yaml_node *expect;
    const struct yaml_node *choices;
};

/* The tables, which the reference prints too. */
extern const struct field top_fields[];
extern const size_t top_field_count;
extern const struct field limits_fields[];
extern const size_t limits_field_count;
extern const struct field scheduling_fields[];
extern const size_t scheduling_field_count;
extern const struct field postgres_fields[];
extern const size_t postgres_field_count;
/* `postgres` and a key per role that has one. In `arena`. */
struct field *topology_table(struct arena *arena, const struct strategy *strategy,
                             size_t *field_count);
/* The common fields, then the kind's own, which may stand in place of common ones. In `arena`. */
struct field *fault_table(struct arena *arena, const struct fault_kind *kind, size_t *field_count);

void read_variant(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);
void read_topology(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);
void read_limits(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);
void read_scheduling(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);
void read_gates(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);
/* After the limits: a fault that could only strike after the end of chaos is a mistake. */
void read_faults(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);
void read_invariants(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);
/* After the invariants: only one that is checked can be expected to break. */
void read_expect(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);

void read_choices(struct walk *walk, const struct yaml_node *node, struct scenario *scenario);

#endif
