#ifndef FENCEPOST_MEDIAN_H
#define FENCEPOST_MEDIAN_H

#include "sim/core/base.h"

/* The middle one, or halfway between the two in the middle. Sorts the values. There is at least
 * one. */
double median(double *values, size_t count);

#endif
