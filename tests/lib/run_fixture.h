/* Whole runs on one server, for tests that look at what happened in them. */
#ifndef FENCEPOST_RUN_FIXTURE_H
#define FENCEPOST_RUN_FIXTURE_H

#include "sim/run/run.h"
#include "sim/scenario/scenario.h"

extern struct run_lane *runs;
extern struct run_result result; /* of the last run */

/* For cmocka's group: one server for all tests of a file. */
int open_runs(void **state);
int close_runs(void **state);

/* Checked and installed, or the test fails. The caller frees them. */
struct scenario *install(struct scenario *scenario, struct diags *diags);
/* scenarios/job_locks/NAME.yaml; `override` may be NULL. */
struct scenario *load(const char *name, const char *override);
/* One create with one fault, and nothing else. */
struct scenario *load_fault(const char *fault);

/* Fails the test when the environment does. */
void run_seed(const struct scenario *scenario, uint64_t seed);

/* The events of the last run, one a line. */
const char *lines(void);
int count(const char *needle);
/* The first line that contains both, or NULL; valid until the next call. */
const char *find(const char *first, const char *second);
/* The virtual time of that line, which must be there. */
int64_t time_of(const char *first, const char *second);

#endif
