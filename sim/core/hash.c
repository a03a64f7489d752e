#include "sim/core/hash.h"

#include <string.h>

#include <xxhash.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

uint64_t hash_text(uint64_t seed, const char *text)
{
    return hash_bytes(seed, text, strlen(text));
}

uint64_t hash_number(uint64_t seed, int64_t number)
{
    return hash_bytes(seed, &number, sizeof number);
}
