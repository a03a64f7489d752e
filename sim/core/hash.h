/* A hash of bytes that is the same everywhere. */
#ifndef FENCEPOST_HASH_H
#define FENCEPOST_HASH_H

#include "sim/core/base.h"

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);
uint64_t hash_text(uint64_t seed, const char *text);
uint64_t hash_number(uint64_t seed, int64_t number);

#endif
