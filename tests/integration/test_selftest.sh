#!/usr/bin/env bash
# The harness tests itself: a weakness is caught by the scenario that can, one that none can catch is
# named, and so is a hardened design that raises an alarm.
# fencepost-test: timeout=300
set -u
root=${FENCEPOST_ROOT:?}
bin=${FENCEPOST_BIN:?}
. "$root/tests/lib/tap.sh"
chmod 755 "$tap_dir" # the server may run as another user
export FENCEPOST_TMPDIR=$tap_dir/work
mkdir -m 755 "$FENCEPOST_TMPDIR"
cd "$tap_dir" || exit 1

# selftest ARG...: sets status; its JSON is in json, the rest in notes.
selftest() {
    "$bin" selftest --json --jobs 1 "$@" >json 2>notes </dev/null
    status=$?
}
# holds NAME FILTER: the filter says true of the object.
holds() { tap_same "$1" true "$(jq -c "$2" json 2>&1)"; }
says() { tap_ok "$1" grep -q "$2" notes; }

# scenario NAME WEAKNESS JANITORS INVARIANT JOBS FAULTS
scenario() {
    cat <<END
scenario: $1
about: for the test of the self-test
strategy: job_locks
variant: {weaknesses: [$2]}
topology: {workers: 1, janitors: $3}
workload:
  clusters: [{name: demo, status: READY}]
  jobs: [$5]
faults: [$6]
invariants: [$4]
scheduling: {slowness: 0}
limits: {chaos: 2h, settle: 2h, steps: 20000}
expect: {violates: $4}
END
}
destroy='{type: DESTROY, cluster: demo}'
again='{type: DESTROY, cluster: demo, at: 1h}'
crash='crash: {target: any-worker, points: cloud.call, probability: 1, times: 1}'
mkdir good bad
# It bears the name, so it is tried first; but one destroy alone breaks nothing.
scenario no-status-check no_status_check 0 valid_transition "$destroy" "" >good/first.yaml
scenario twice no_status_check 1 valid_transition "$destroy, $again" "" >good/second.yaml
cp good/first.yaml bad/
# Without a janitor the cluster is stuck, whatever the janitor would have done.
scenario unattended reap_leaves_cluster 0 no_stuck_cluster "$destroy" "$crash" >bad/unattended.yaml

selftest job_locks --scenarios good --only no_status_check --tries 2 --seeds 2
tap_same test_selftest_caught_exits_with_0 0 "$status"
holds test_selftest_scenario_that_catches_nothing_leaves_it_to_the_next '
    .weaknesses | length == 1 and (.[0] | .weakness == "no_status_check" and .scenario == "twice" and
    .tries == 2 and .caught == 2 and .seeds_median == 1 and .seeds_worst == 1 and .s_worst > 0)'
holds test_selftest_without_the_weakness_nothing_breaks '
    .weaknesses[0] | .without_seeds == 2 and .without_violations == 0'
holds test_selftest_hardened_forms_were_run '
    .hardened | length == 2 and all(.seeds == 2 and .violations == 0)'
holds test_selftest_nothing_is_missing '.not_caught == [] and .trouble == null and .interrupted == false'

selftest --scenarios bad --only no_status_check --only reap_leaves_cluster --tries 1 --seeds 2
tap_same test_selftest_not_caught_exits_with_1 1 "$status"
holds test_selftest_not_caught_is_named '.not_caught == ["no_status_check"]'
says test_selftest_not_caught_is_said '^NOT CAUGHT: no_status_check (job_locks)'
holds test_selftest_what_breaks_anyway_is_counted '
    .weaknesses[] | select(.weakness == "reap_leaves_cluster") | .caught == 1 and .without_violations == 1'
says test_selftest_what_breaks_anyway_is_a_warning '^warning: unattended breaks no_stuck_cluster without'
holds test_selftest_false_alarm_has_its_sentence '
    .hardened[] | select(.scenario == "unattended") | .violations == 1 and .seed == 1 and
    .invariant == "no_stuck_cluster" and (.sentence | contains("demo is stuck"))'
says test_selftest_false_alarm_has_its_replay 'replay bad/unattended.yaml --seed 1 --set variant=hardened'

# A try ends with its time, too.
selftest --scenarios bad --only no_status_check --tries 1 --budget 1ms
holds test_selftest_budget_ends_a_try '.weaknesses[0] | .caught == 0 and .tries == 1 and .seeds < 200'

# ---- Ctrl-C ----

"$bin" selftest --scenarios bad --jobs 2 --only no_status_check --tries 100 >out 2>notes </dev/null &
pid=$!
for _ in $(seq 1200); do
    [ -n "$(find "$FENCEPOST_TMPDIR" -name postmaster.pid -print -quit 2>/dev/null)" ] && break
    sleep 0.05
done
kill -INT $pid
wait $pid
tap_same test_selftest_interrupted_exits_with_130 130 $?
tap_same test_selftest_leaves_nothing_behind "" "$(ls -A "$FENCEPOST_TMPDIR")"

# ---- usage, and the page ----

refused() { # NAME STATUS REGEX ARG...
    local name=$1 expected=$2 regex=$3 said
    shift 3
    said=$("$bin" selftest "$@" 2>&1 </dev/null)
    tap_same "${name}_exits_with_$expected" "$expected" $?
    tap_match "${name}_says_why" "$regex" "$said"
}
refused test_selftest_unknown_strategy 64 'no strategy `job_lock`, did you mean job_locks\?' job_lock
refused test_selftest_unknown_weakness 64 'did you mean no_fencing\?' --only no_fence
refused test_selftest_page_of_some 64 'needs one STRATEGY' job_locks --only no_fencing --markdown x
refused test_selftest_no_server 3 'initdb' --scenarios bad --only no_status_check --pg-bin "$tap_dir"
tap_end
