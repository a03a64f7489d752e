/* Standard output and standard error, and what is known about them. */
#ifndef FENCEPOST_OUTPUT_H
#define FENCEPOST_OUTPUT_H

#include <stdio.h>

#include "sim/core/strbuf.h"

/* A descriptor 0 to 2 that is closed leads to /dev/null, or the next file that is opened would get
 * its number and our output. */
void output_guard(void);
/* To standard output. A reader that went away is no error. */
void output_text(const struct strbuf *text);
/* Flushes. What could not be written, other than for a reader that went away, is said, and turns a
 * good exit code into EXIT_INFRASTRUCTURE. Returns the exit code. */
int output_finish(int code);

/* A terminal that can move its cursor. */
bool output_is_terminal(FILE *file);
/* The same, and nobody said no (--no-color, NO_COLOR). */
bool output_has_colour(FILE *file, bool no_colour);

#endif
