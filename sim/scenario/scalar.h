/* Strict readings of one scalar. Each takes the whole text or refuses it; a refused text leaves the
 * result alone. */
#ifndef FENCEPOST_SCALAR_H
#define FENCEPOST_SCALAR_H

#include "sim/core/base.h"

#define PROBABILITY_ONE 1000000

/* Decimal, an optional minus, no plus, no leading zero, no fraction, within int64_t. */
bool scalar_integer(const char *text, int64_t *value);
/* `true` or `false`. YAML 1.1's yes, no, on and off are refused. */
bool scalar_bool(const char *text, bool *value);
/* 0 to 1 with at most six decimals, in parts per million. */
bool scalar_probability(const char *text, uint32_t *per_million);
/* Letters, digits and those of `extra`; 1 to size_max bytes. */
bool scalar_is_label(const char *text, const char *extra, size_t size_max);
/* A lower-case SQL identifier that needs no quotes; 1 to 63 bytes. */
bool scalar_is_identifier(const char *text);

#endif
