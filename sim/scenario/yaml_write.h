/* A tree back into text. */
#ifndef FENCEPOST_YAML_WRITE_H
#define FENCEPOST_YAML_WRITE_H

#include "sim/core/strbuf.h"
#include "sim/scenario/yaml.h"

/* Append `root`, a mapping, as a document that yaml_parse reads as the same tree. Comments are not
 * in the tree and so are lost. What fits on a line is written on one. */
void yaml_write(const struct yaml_node *root, struct strbuf *out);

#endif
