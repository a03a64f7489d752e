/* From the `workload:` mapping to lists of entries. */
#ifndef FENCEPOST_WORKLOAD_H
#define FENCEPOST_WORKLOAD_H

#include "sim/scenario/walk.h"

struct workload;

/* In walk->arena, with an empty list for each one that is absent; `map` may be NULL. Mistakes go to
 * walk->diags, the result can still be read. walk->strategy must be known. */
struct workload *workload_read(struct walk *walk, const struct yaml_node *map);

/* One list's keys as a table for the walker and the reference. In `arena`. */
struct field *workload_table(struct arena *arena, const struct workload_list *list);

#endif
