/* The loopback interface: everybody on the machine can reach it, so what listens there is found by
 * chance alone, or asks for a secret. */
#ifndef FENCEPOST_LOOPBACK_H
#define FENCEPOST_LOOPBACK_H

#include "sim/core/base.h"

/* A port of that address that nobody listens on just now; somebody may the next moment. 0: none. */
int loopback_free_port(const char *address);
/* One of the sixteen million loopback addresses, so that two programs do not meet. Caller frees. */
char *loopback_address(void);
/* 128 random bits in hexadecimal digits. Caller frees. */
char *loopback_secret(void);

#endif
