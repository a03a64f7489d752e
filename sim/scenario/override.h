/* Values from the command line, put into the tree before it is walked. */
#ifndef FENCEPOST_OVERRIDE_H
#define FENCEPOST_OVERRIDE_H

#include "sim/scenario/yaml.h"

/* Apply one "path=value" to the tree, whose root is a mapping. `text` must live as long as `arena`.
 * False, with a diagnostic that names it, when the path leads nowhere or the value is not YAML. */
bool override_apply(struct arena *arena, struct yaml_node *root, const char *text,
                    struct diags *diags);

#endif
