/* Remove a directory with everything in it. */
#ifndef FENCEPOST_TREE_H
#define FENCEPOST_TREE_H

#include "sim/core/base.h"

/* Links are removed, never followed, also when somebody swaps a directory for one meanwhile. The
 * entry `last` of the topmost directory goes after all others; NULL: no matter. True when the
 * directory is gone, or was not there. */
bool tree_remove(const char *path, const char *last);

#endif
