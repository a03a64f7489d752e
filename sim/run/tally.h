/* What was reached, and how often: a count per text, in the order of the texts. */
#ifndef FENCEPOST_TALLY_H
#define FENCEPOST_TALLY_H

#include "sim/core/strbuf.h"
#include "sim/core/trace.h"
#include "sim/strategy.h"

#define TALLY_KEY_SIZE_MAX 160

struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *tally); /* NULL is allowed */
void tally_clear(struct tally *tally);

/* The key is copied. A count of 0 makes the key known. */
void tally_add(struct tally *tally, const char *key, int64_t count);
void tally_add_all(struct tally *tally, const struct tally *other);
size_t tally_size(const struct tally *tally);
const char *tally_key(const struct tally *tally, size_t index);
int64_t tally_count(const struct tally *tally, size_t index);
int64_t tally_find(const struct tally *tally, const char *key); /* 0: it is not there */

/* What a run's events add beyond their kinds: of what happens to jobs, of faults and of alerts, one
 * key per value of the telling fields, as in "job.finished type=CREATE"; and each job that ended,
 * as the database has it: "jobs CREATE FAILED WORKER_TIMEOUT". */
void tally_event(struct tally *tally, const struct strategy *strategy, const struct event *event);
/* The kinds of a whole trace. */
void tally_kinds(struct tally *tally, const struct trace *trace);

#endif
