#!/usr/bin/env bash
# Kill a fencepost, and its reaper, in the middle of a run with standbys and failovers: the next start
# finds everything that is left, and removes it.
set -u
. tests/lib/tap.sh
. tests/lib/killing.sh

fencepost=${FENCEPOST_BIN:?the binary}
work=$tap_dir/work
mkdir "$work"
chmod 755 "$tap_dir" # the server may run as another user
export FENCEPOST_TMPDIR=$work
scenario=scenarios/job_locks/failover-synchronous.yaml

servers() { # numbers of the processes that run in our place
    ls -l /proc/[0-9]*/cwd 2>/dev/null | sed -n "s|.* /proc/\([0-9]*\)/cwd -> $work/.*|\1|p"
}

# Both servers of the lane: one of them replays the log.
has_standby() {
    local number
    for number in $(servers); do
        tr '\0' ' ' 2>/dev/null <"/proc/$number/cmdline"
    done | grep -q 'startup recovering\|: startup '
}

# What is stopped would stay for ever when the test fails.
# shellcheck disable=SC2046 # several numbers
trap 'kill -KILL $(servers) 2>/dev/null; rm -rf "$tap_dir"' EXIT

segments() { # System V segments that those processes made, also when they are dead by now
    local maker
    for maker in $makers; do
        awk -v maker="$maker" 'NR > 1 && $5 == maker { print $2 }' /proc/sysvipc/shm
    done
}

is_gone() { [ -z "$(servers)" ] && [ -z "$(ls "$work")" ] && [ -z "$(segments)" ]; }

in_background "$fencepost" run "$scenario" --seeds 100000 --jobs 1 --out "$tap_dir/out"
tap_ok test_standby_kill_while_a_standby_runs until_true 120 is_caught has_standby
# A server dies with its fencepost, but not one that is stopped, as a waiter is.
makers=$(servers)
# shellcheck disable=SC2086 # several numbers
kill -STOP $makers
tap_ok test_standby_kill_the_reaper_too kill_with_reaper
tap_same test_standby_kill_leaves_the_directory_of_the_dead_one 1 "$(ls "$work" | wc -l)"
tap_ok test_standby_kill_leaves_shared_memory test -n "$(segments)"

tap_ok test_standby_kill_next_run_ends_well \
    "$fencepost" run "$scenario" --seeds 1 --jobs 1 --out "$tap_dir/out"
tap_ok test_standby_kill_next_run_leaves_nothing until_true 60 is_gone
tap_end
