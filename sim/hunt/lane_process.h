/* The life of one lane: start a server, take seeds from the common pot until it is empty. */
#ifndef FENCEPOST_LANE_PROCESS_H
#define FENCEPOST_LANE_PROCESS_H

#include <stdatomic.h>

#include "sim/hunt/campaign.h"

enum failure_kind failure_kind_of(const struct scenario *scenario, enum run_outcome outcome,
                                  const struct invariant *invariant);

/* In memory that all lanes and their parent share. */
struct lane_shared {
    _Atomic uint64_t next_unit;
    _Atomic bool stop;
    _Atomic bool out_of_time;
    _Atomic int lanes_to_start;                      /* seeds begin when every lane is up */
    _Atomic int64_t first_seed_ns;                   /* real */
    _Atomic bool found[CAMPAIGN_SCENARIO_COUNT_MAX]; /* the violation that it expects */
    _Atomic uint64_t lowest_failure[CAMPAIGN_SCENARIO_COUNT_MAX][FAILURE_KIND_COUNT];
};

/* The first thing in a forked lane: it ignores interrupts and dies with its parent. */
void lane_process_guard(void);

/* Runs in the forked child; tells the parent over `socket`; returns when there is nothing left. */
void lane_process(const struct campaign_options *options, const struct scenario *const *scenarios,
                  size_t scenario_count, struct lane_shared *shared, int index, int socket);

/* OUT/failures/NAME-SEED.jsonl, or NAME-unsettled-SEED.jsonl; caller frees. */
char *lane_failure_file(const char *out_dir, const struct scenario *scenario,
                        enum failure_kind kind, uint64_t seed);

#endif
