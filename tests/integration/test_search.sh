#!/usr/bin/env bash
# Searches other than drawing every decision: the runs are as reproducible, and their failures replay.
# fencepost-test: timeout=300
set -u
root=${FENCEPOST_ROOT:?}
. "$root/tests/lib/tap.sh"
bin=${FENCEPOST_BIN:?}
cd "$tap_dir" || exit 1
scenario=$root/scenarios/job_locks/job-started-after-commit.yaml

# campaign OPTION...: one JSON object.
campaign() { "$bin" run "$scenario" --seeds 6 --json --quiet --out out "$@" 2>/dev/null; }

drawn=$(campaign --jobs 1 | jq -r '.scenarios[0].hash')
one=$(campaign --jobs 1 --search pct:3 --check-determinism)
two=$(campaign --jobs 2 --search pct:3)
tap_same test_search_pct_does_not_diverge "6 0" \
    "$(jq -r '"\(.determinism.checked) \(.determinism.diverged)"' <<<"$one")"
tap_same test_search_pct_is_the_same_on_two_lanes \
    "$(jq -r '.scenarios[0].hash' <<<"$one")" "$(jq -r '.scenarios[0].hash' <<<"$two")"
tap_ok test_search_pct_is_another_search test "$drawn" != "$(jq -r '.scenarios[0].hash' <<<"$one")"
# The bound is that of the theorem, for what was measured.
tap_same test_search_pct_says_its_bound true \
    "$(jq '.scenarios[0].pct | .depth == 3 and .one_seed_in == .fibers * .decisions * .decisions' <<<"$one")"

"$bin" replay "$(jq -r '.scenarios[0].first_failure.file' <<<"$one")" --quiet >/dev/null 2>&1
tap_same test_search_pct_failure_replays 1 $?

# Every schedule, and no more than once from the same state.
quiet=$root/scenarios/uuid_lock/single-publisher.yaml
all=$("$bin" run "$quiet" --search exhaustive:0 --json --quiet --out out 2>/dev/null)
tap_same test_search_exhaustive_is_complete "true true 0" \
    "$(jq -r '.scenarios[0] | "\(.exhaustive.complete) \(.met) \(.exhaustive.open)"' <<<"$all")"
tap_ok test_search_exhaustive_prunes test "$(jq '.scenarios[0].exhaustive.pruned' <<<"$all")" -gt 10
# What is left is said when the time is over.
part=$("$bin" run "$quiet" --search exhaustive:4 --no-prune --time 1s --json --quiet --out out 2>/dev/null)
tap_same test_search_exhaustive_says_what_is_left "false true" \
    "$(jq -r '.scenarios[0].exhaustive | "\(.complete) \(.open > 0)"' <<<"$part")"
tap_end
