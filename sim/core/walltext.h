/* Dates as PostgreSQL writes them in UTC: "2026-01-01 00:00:00.000000+00". */
#ifndef FENCEPOST_WALLTEXT_H
#define FENCEPOST_WALLTEXT_H

#include "sim/core/base.h"

#define WALLTEXT_SIZE 40

/* Virtual time 0 of every run: 2026-01-01 00:00:00 UTC, in ns since 1970. */
#define VIRTUAL_EPOCH_NS (INT64_C(1767225600) * NS_PER_S)

/* Microseconds; what is finer is cut off. `epoch_ns` is since 1970 and not negative. */
void walltext_format(int64_t epoch_ns, char out[WALLTEXT_SIZE]);
/* Reads "YYYY-MM-DD HH:MM:SS[.ffffff]+00". False when it is anything else. */
bool walltext_parse(const char *text, int64_t *epoch_ns);

#endif
