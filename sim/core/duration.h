/* Durations as people write them: "90m", "1h30m", "250ms", "0s". Units: ns us ms s m h d. */
#ifndef FENCEPOST_DURATION_H
#define FENCEPOST_DURATION_H

#include "sim/core/base.h"

/* Enough for any duration_text: "-106751d23h47m16s854ms775us808ns" and its terminator. */
#define DURATION_TEXT_SIZE 40

/* Whole numbers, each with its unit, from the larger unit to the smaller, each unit once. A sign,
 * a space, a fraction, a missing unit or a value past INT64_MAX ns gives false; *ns is kept. */
bool duration_parse(const char *text, int64_t *ns);

/* "20m..90m", or one duration, which is both ends. False when either end is no duration or the
 * first is longer than the second; the results are left alone then. */
bool duration_parse_range(const char *text, int64_t *low_ns, int64_t *high_ns);

/* The exact value in the largest units, without zero parts: "1h30m", "250ms", "0s". A negative
 * value (a difference of times) has a minus sign, which duration_parse refuses. Returns `out`. */
const char *duration_text(int64_t ns, char out[DURATION_TEXT_SIZE]);

#endif
