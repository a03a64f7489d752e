/* Ctrl-C and friends: noted, and acted upon where it is safe. */
#ifndef FENCEPOST_INTERRUPT_H
#define FENCEPOST_INTERRUPT_H

#include "sim/core/base.h"

/* SIGINT, SIGTERM and SIGHUP set a flag and nothing else, however often they come: whoever runs
 * servers looks at the flag and cleans up. A SIGHUP that nohup ignores stays ignored, and SIGPIPE
 * is ignored. */
void interrupt_install(void);
const volatile bool *interrupt_flag(void);

#endif
