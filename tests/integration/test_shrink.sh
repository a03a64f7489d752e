#!/usr/bin/env bash
# A counterexample becomes small, stays so, and fails without any seed.
# fencepost-test: timeout=300
set -u
root=${FENCEPOST_ROOT:?}
. "$root/tests/lib/tap.sh"
bin=${FENCEPOST_BIN:?}
cd "$tap_dir" || exit 1
scenario=$root/scenarios/job_locks/job-started-after-commit.yaml

# shrunk FILE: the JSON of shrinking it.
shrunk() { "$bin" shrink "$1" --time 120s --quiet --json 2>/dev/null; }
of_run() { "$bin" run "$@" --jobs 1 --json --quiet 2>/dev/null; }

"$bin" run "$scenario" --seeds 1 --jobs 1 --quiet --set topology.workers=3 --out out 2>/dev/null
big=out/failures/job-started-after-commit-1.jsonl
tap_ok test_shrink_there_is_a_failure test -f "$big"

json=$(shrunk "$big")
small=out/failures/job-started-after-commit-1-small
tap_same test_shrink_is_complete true "$(jq .complete <<<"$json")"
tap_same test_shrink_keeps_the_invariant lock_matches_job "$(jq -r .invariant <<<"$json")"
# Of three workers one is needed, and no choice but the simplest.
tap_same test_shrink_drops_actors_and_choices "true 0" \
    "$(jq -r '"\(.to.parts <= .from.parts - 2) \(.to.choices)"' <<<"$json")"
tap_ok test_shrink_leaves_one_worker grep -q 'workers: 1' "$small.yaml"

cp "$big" kept.jsonl

# The explicit scenario is one run, the same whatever the seed.
first=$(of_run "$small.yaml" --seeds 20 --first-seed 1 | jq -r '.scenarios[0] | "\(.seeds) \(.violations) \(.met) \(.hash)"')
other=$(of_run "$small.yaml" --seeds 20 --first-seed 99 | jq -r '.scenarios[0] | "\(.seeds) \(.violations) \(.met) \(.hash)"')
tap_match test_shrink_explicit_scenario_fails_once '^1 1 true ' "$first"
tap_same test_shrink_explicit_scenario_needs_no_seed "$first" "$other"
tap_ok test_shrink_explicit_scenario_leaves_the_failure_alone cmp kept.jsonl "$big"
"$bin" replay "$small.jsonl" --quiet >/dev/null 2>&1
tap_same test_shrink_failure_replays 1 $?

# Nothing changes a second time.
shrunk "$small.jsonl" >/dev/null
tap_ok test_shrink_again_changes_nothing cmp "$small.yaml" "$small-small.yaml"

# What cannot be shrunk says so.
"$bin" shrink nowhere.jsonl >/dev/null 2>&1
tap_same test_shrink_missing_file 64 $?
jq -c 'if .fencepost then .invariant = "single_owner" else . end' "$big" >lies.jsonl
why=$("$bin" shrink lies.jsonl --quiet 2>&1)
tap_same test_shrink_of_another_failure_exit_code 2 $?
tap_match test_shrink_of_another_failure_says_so "does not break single_owner any more" "$why"
tap_end
