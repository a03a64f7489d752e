#!/usr/bin/env bash
# The bench in its quick form: the shape of what it says, and that it leaves nothing behind. Nothing
# here depends on how fast the machine is. Under sanitizers there is nothing to measure.
# fencepost-test: timeout=900 serial plain-only
set -u
root=${FENCEPOST_ROOT:?}
fencepost=${FENCEPOST_BIN:?}
. "$root/tests/lib/tap.sh"

# A place of its own, so that what is left is seen. The server's user must get in.
work=$(mktemp -d /dev/shm/fp-bench-XXXXXX 2>/dev/null || mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work" "$tap_dir"' EXIT
export FENCEPOST_TMPDIR=$work

"$fencepost" bench --quick --json >"$tap_dir/json" 2>"$tap_dir/notes"
code=$?
tap_match test_bench_quick_exits_with_0_or_1 '^[01]$' "$code"
tap_same test_bench_json_is_one_object 1 "$(jq -s length "$tap_dir/json" 2>&1)"

# holds NAME FILTER: the filter says true of the object.
holds() { tap_same "$1" true "$(jq -c "$2" "$tap_dir/json" 2>&1)"; }

holds test_bench_json_has_every_figure '
    [.rss_growth, .bare_wire_ratio, .blocked_step_ratio, .lane_scaling, .virtual_to_real, .seeds_per_s]
    | all(has("value") and has("bound") and has("within") and has("reason") and has("scenarios"))'
holds test_bench_json_has_the_circumstances '
    .quick == true and .cpus >= 1 and .wall_s > 0 and has("load_before") and has("load_after")'
holds test_bench_bounds_are_those_of_the_table '
    [.rss_growth, .bare_wire_ratio, .blocked_step_ratio, .lane_scaling, .virtual_to_real, .seeds_per_s]
    | map(.bound) == [0.05, 1.3, 0.1, 1.7, null, null]'
holds test_bench_value_or_reason_is_given '
    [.[] | objects] | all((.value == null) != (.reason == null))'
holds test_bench_ratios_are_positive '
    [.bare_wire_ratio, .blocked_step_ratio, .lane_scaling, .virtual_to_real, .seeds_per_s]
    | map(.value) | all(. == null or . > 0)'
holds test_bench_rss_is_a_fraction '.rss_growth.value > -1 and .rss_growth.value < 10'
holds test_bench_bare_wire_is_measured_per_scenario '
    .bare_wire_ratio | .value == null or
    (.statements > 0 and .us_per_statement_bare > 0 and .us_per_statement_harness > 0 and
     (.scenarios | length) >= 2 and (.scenarios | all(.value > 0 and .seeds == 5 and .connections > 1)))'
holds test_bench_bare_wire_value_is_of_seeds_without_waits '
    .bare_wire_ratio | .value == null or
    (.statements == ([.scenarios[] | select(.with_waits == 0) | .statements] | add))'
holds test_bench_speed_has_two_scenarios '
    .seeds_per_s.scenarios | length == 2 and all(.seeds_per_s > 0 and .steps_per_s > 0)'
holds test_bench_environments_have_a_speed_each_or_a_reason '
    [.environments.scenarios[] | .seeds_per_s > 0 or (.reason | length > 0)] | length == 9 and all'
holds test_bench_environments_of_our_own_have_a_speed '.environments.scenarios[:5] | all(.seeds_per_s > 0)'
# Loose on purpose: far outside of these it is not the machine that is slow.
holds test_bench_bare_wire_is_not_absurd '.bare_wire_ratio.value | . == null or (. > 0.5 and . < 20)'
holds test_bench_exit_code_says_whether_all_are_within "
    ([.[] | objects | select(.within == false)] | length > 0) == ($code == 1)"

tap_same test_bench_leaves_nothing_behind "" "$(ls -A "$work")"

said=$("$fencepost" bench --only rss 2>&1)
tap_same test_bench_unknown_figure_is_usage 64 $?
tap_match test_bench_unknown_figure_names_the_known 'rss_growth, bare_wire_ratio' "$said"

said=$("$fencepost" bench --quick --json --only virtual_to_real --scenarios "$work" 2>/dev/null)
tap_same test_bench_missing_scenario_is_infrastructure 3 $?
tap_same test_bench_missing_scenario_is_named true \
    "$(jq '.virtual_to_real | .value == null and (.reason | contains("zombie-worker.yaml"))' <<<"$said")"

said=$(PATH=/nonexistent "$fencepost" bench --json --only rss_growth --pg-bin "$work" 2>/dev/null)
tap_same test_bench_no_server_is_infrastructure 3 $?

# Ctrl-C in the midst of each kind of work: servers and directories go, the exit code says it.
a_server_is_there() { [ -n "$(find "$work" -name postmaster.opts -print -quit 2>/dev/null)" ]; }
for figure in rss_growth bare_wire_ratio blocked_step_ratio lane_scaling; do
    if [ $figure = blocked_step_ratio ] && grep -q 'isolationtester is not installed' "$tap_dir/json"; then
        tap_skip "test_bench_interrupted_${figure}_says_so" "no isolationtester"
        continue
    fi
    "$fencepost" bench --json --only $figure >"$tap_dir/cut" 2>/dev/null &
    pid=$!
    for _ in $(seq 1200); do
        a_server_is_there && break
        sleep 0.05
    done
    sleep 0.5
    kill -INT $pid
    wait $pid
    tap_same "test_bench_interrupted_${figure}_says_so" 130 $?
    tap_same "test_bench_interrupted_${figure}_leaves_nothing" "" "$(ls -A "$work")"
    tap_same "test_bench_interrupted_${figure}_is_still_json" interrupted \
        "$(jq -r ".$figure.reason" "$tap_dir/cut")"
done
tap_end
