#!/usr/bin/env bash
# The alerts of the analytics cache: its scenario passes whether they come or not, so they are counted
# here. Each is raised in every seed, and cleared when its hour is over.
set -u
. tests/lib/tap.sh

fencepost=${FENCEPOST_BIN:?the binary}
seed_count=3
work=$tap_dir/work
mkdir "$work"
chmod 755 "$tap_dir" # the server may run as another user
export FENCEPOST_TMPDIR=$work

"$fencepost" run scenarios/cache_lock/cache-alerts.yaml --seeds $seed_count --json --out "$tap_dir/out" \
    >"$tap_dir/alerts.json" 2>"$tap_dir/alerts.err"
tap_same "test_cache_lock_alerts_scenario_passes" 0 $?

# count KEY: how often it was reached over all seeds.
count() { jq --arg key "$1" '.scenarios[0].reached[$key] // 0' "$tap_dir/alerts.json"; }

for alert in HighLockContention LowCacheHitRate FrequentGracePeriodApplications; do
    tap_same "test_cache_lock_${alert}_is_raised_once_a_seed" $seed_count "$(count "alert alert=$alert")"
    tap_same "test_cache_lock_${alert}_is_cleared_once_a_seed" $seed_count \
        "$(count "alert.cleared alert=$alert")"
done
tap_end
