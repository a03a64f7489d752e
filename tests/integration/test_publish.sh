#!/usr/bin/env bash
# The test cases and the load test of "UUID-Based Execution Locks", by what happened, not by what an
# invariant would have said.
# fencepost-test: timeout=600
set -u
. tests/lib/tap.sh

fencepost=${FENCEPOST_BIN:?the binary}
mkdir "$tap_dir/work"
chmod 755 "$tap_dir" # the server may run as another user
export FENCEPOST_TMPDIR=$tap_dir/work

# campaign NAME SEEDS SCENARIO...: its JSON is in NAME.json.
campaign() {
    local name=$1 seeds=$2
    shift 2
    "$fencepost" run "$@" --seeds "$seeds" --json --out "$tap_dir/out" >"$tap_dir/$name.json" 2>"$tap_dir/$name.err"
    echo $?
}
# of NAME SCENARIO FILTER: something of that scenario's report.
of() { jq -r --arg name "$2" ".scenarios[] | select(.name == \$name) | $3" "$tap_dir/$1.json"; }

# ---- the load test: five publishers, a hundred deviations ----

load=(scenarios/uuid_lock/publish-load-test.yaml scenarios/uuid_lock/publish-load-test-as-written.yaml)
tap_same test_publish_load_test_holds 0 "$(campaign load 2 "${load[@]}")"
for name in publish-load-test publish-load-test-as-written; do
    tap_same "test_${name}_has_no_duplicates" 0 "$(of load $name .measured.duplicate_effects)"
    tap_same "test_${name}_publishes_every_one" 200 "$(of load $name '.reached."effect.end"')"
    tap_same "test_${name}_releases_every_lock" 200 "$(of load $name '.reached."lock.released"')"
    tap_same "test_${name}_measures_every_lock" "200 200" "$(of load $name \
        '.measured | "\(.isekai_lock_acquisition_seconds.count) \(.isekai_lock_held_seconds.count)"')"
    tap_same "test_${name}_takes_locks_within_100_ms" true \
        "$(of load $name '.measured.isekai_lock_acquisition_seconds.max_s < 0.1')"
    tap_same "test_${name}_holds_locks_for_less_than_10_minutes" true \
        "$(of load $name '.measured.isekai_lock_held_seconds | .max_s < 600 and .median_s >= 30')"
    # With five of them most attempts find the lock taken: test case 2.
    tap_same "test_${name}_second_publisher_skips" true "$(of load $name '.reached."lock.refused" > 200')"
done

# ---- the test cases, by their events ----

cases=(single-publisher failed-publish publisher-dies)
cases=("${cases[@]/#/scenarios/uuid_lock/}")
tap_same test_publish_cases_hold 0 "$(campaign cases 4 "${cases[@]/%/.yaml}")"
same_number() { of cases "$1" "(.reached.\"$2\" > 0) and .reached.\"$2\" == .reached.\"$3\""; }
tap_same test_publish_single_publisher_takes_both 8 "$(of cases single-publisher '.reached."lock.acquired"')"
tap_same test_publish_lock_is_released_after_success true \
    "$(same_number single-publisher lock.acquired lock.released)"
tap_same test_publish_some_are_refused true \
    "$(of cases failed-publish '.reached."fault.service_error kind=rejected" > 0')"
tap_same test_publish_lock_is_released_after_failure true \
    "$(same_number failed-publish lock.acquired lock.released)"
tap_same test_publish_stale_locks_are_cleaned true "$(of cases publisher-dies '.reached."locks.cleaned" > 0')"
tap_end
