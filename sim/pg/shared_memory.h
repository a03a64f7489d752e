/* What a killed server leaves behind outside of its directory. */
#ifndef FENCEPOST_SHARED_MEMORY_H
#define FENCEPOST_SHARED_MEMORY_H

#include <sys/types.h>

#include "sim/core/base.h"

/* Remove the small System V segment that a postmaster uses as an interlock, and the POSIX segments
 * that can be found from there: our servers have none, but those that initdb runs do. Only what the
 * process `creator` made, as the user `uid`, and nobody has attached. */
void shared_memory_remove(pid_t creator, uid_t uid);

#endif
