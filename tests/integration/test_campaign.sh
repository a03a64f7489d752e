#!/usr/bin/env bash
# A campaign's outcome depends on its scenarios and seeds alone: not on the number of lanes, not on who
# ran what, not on what was run before. And it leaves nothing behind.
# fencepost-test: timeout=900
set -u
. tests/lib/tap.sh

fencepost=${FENCEPOST_BIN:?the binary}
work=$tap_dir/work
mkdir "$work"
chmod 755 "$tap_dir" # the server may run as another user
export FENCEPOST_TMPDIR=$work

# campaign NAME ARGUMENT...: runs it; its JSON is in NAME.json.
campaign() {
    local name=$1
    shift
    "$fencepost" run "$@" --json --out "$tap_dir/out-$name" >"$tap_dir/$name.json" 2>"$tap_dir/$name.err"
    echo $? >"$tap_dir/$name.status"
}
hashes() { grep -o '"hash": *"[0-9a-f]*"' "$tap_dir/$1.json"; }
number() { grep -o "\"$2\": *[0-9]*" "$tap_dir/$1.json" | grep -o '[0-9]*$' | awk '{s += $1} END {print s + 0}'; }

some=(scenarios/job_locks/worker-killed-anywhere.yaml scenarios/job_locks/three-destroys-at-once.yaml)

# A lane takes 25 seeds at a time: so many that each scenario is shared.
campaign one "${some[@]}" --seeds 28 --jobs 1
campaign two "${some[@]}" --seeds 28 --jobs 2
tap_same "one lane meets every expectation" 0 "$(cat "$tap_dir/one.status")"
tap_same "two lanes give the same hashes as one" "$(hashes one)" "$(hashes two)"
tap_same "hashes are there" 2 "$(hashes one | wc -l)"

# The same seeds, run by themselves and in the other order of scenarios.
campaign alone scenarios/job_locks/three-destroys-at-once.yaml --seeds 28 --jobs 1
tap_same "a scenario alone gives the same hash as among others" "$(hashes one | tail -n 1)" "$(hashes alone)"

campaign twice scenarios --seeds 2 --check-determinism
tap_same "every shipped scenario meets its expectation, or too few seeds were tried" 0 \
    "$(grep -c '"infrastructure": *[1-9]' "$tap_dir/twice.json")"
tap_same "no run diverged when run again" 0 "$(number twice diverged)"
tap_ok "runs were checked" test "$(number twice checked)" -ge 100
tap_ok "locks were contended" test "$(number twice contended)" -gt 0
tap_ok "waiters were parked" test "$(number twice parked)" -gt 0
tap_ok "ghosts were seen" test "$(number twice ghosts)" -gt 0

# Deadlocks are rare; this scenario is made for them.
campaign deadlock scenarios/job_locks/release-lock-first.yaml --seeds 8 --check-determinism
tap_ok "deadlocks were resolved" test "$(number deadlock deadlocks)" -gt 0
tap_same "and their victims are the same again" 0 "$(number deadlock diverged)"

# A failure file replays, and a changed one says where.
failure=$(ls "$tap_dir"/out-deadlock/failures/*.jsonl | head -n 1)
"$fencepost" replay "$failure" >"$tap_dir/replay.out" 2>&1
tap_same "a failure replays as the violation it is" 1 $?
sed '20s/"step":/"step":9/' "$failure" >"$tap_dir/changed.jsonl"
"$fencepost" replay "$tap_dir/changed.jsonl" >"$tap_dir/replay.out" 2>&1
tap_same "a changed recording is a divergence" 70 $?
tap_ok "and the difference is shown" grep -q 'happened' "$tap_dir/replay.out"

tap_same "nothing is left behind" "" "$(ls -A "$work")"
tap_end
