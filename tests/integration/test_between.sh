#!/usr/bin/env bash
# Runs with a real toxiproxy or pgbouncer between the actors and the server: the run is the same, the
# program's own death is no finding, and nothing of it is left in whatever way fencepost ends.
# fencepost-test: timeout=400
set -u
root=${FENCEPOST_ROOT:?}
. "$root/tests/lib/tap.sh"
. "$root/tests/lib/killing.sh"
bin=${FENCEPOST_BIN:?}
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
work=$(mktemp -d "$base/fp-between-XXXXXX") || exit 1
chmod 755 "$work"
trap 'rm -rf "$tap_dir" "$work"' EXIT
export FENCEPOST_TMPDIR=$work
drops=$root/scenarios/job_locks/connection-drops.yaml
plain=$root/scenarios/job_locks/concurrent-acquire.yaml

# campaign OPTION...: one JSON object.
campaign() { "$bin" run "$@" --jobs 1 --json --quiet --out "$tap_dir/out" 2>"$tap_dir/notes"; }

# What two campaigns must have in common: the hash, no trouble, so many cuts.
facts() {
    jq -r '.scenarios[0] | "\(.hash) \(.infrastructure) \(.faults_fired.connection_drop // "none")"'
}

# Our processes, by where they run: all of them, or those of one name.
ours() {
    local cwd name
    for cwd in /proc/[0-9]*/cwd; do
        case $(readlink "$cwd" 2>/dev/null) in "$work"/*) ;; *) continue ;; esac
        read -r name <"${cwd%/cwd}/comm" 2>/dev/null || continue
        [ $# = 0 ] || [ "$name" = "$1" ] && basename "${cwd%/cwd}"
    done
}

runs() { [ -n "$(ours "$1")" ]; }
runs_or_is_over() { runs "$1" || ! kill -0 $pid 2>/dev/null; }
is_clean() { [ -z "$(ours)" ] && [ -z "$(ls "$work")" ]; }

# start OPTION...: a campaign in the background, until it runs a seed with the program NAME.
start() {
    local name=$1
    shift
    "$bin" run "$@" --seeds 100000 --jobs 1 --quiet --json --out "$tap_dir/out" \
        >"$tap_dir/json" 2>"$tap_dir/notes" &
    pid=$!
    until_true 120 runs "$name"
}

# ended NAME SIGNAL CODE OPTION...: how fencepost is ended, and that nothing of it stays.
ended() {
    local name=$1 signal=$2 code=$3
    shift 3
    tap_ok "test_between_${name}_runs_before_$signal" start "$name" "$@"
    kill -"$signal" $pid
    wait $pid 2>/dev/null
    tap_same "test_between_${name}_after_${signal}_exit_code" "$code" $?
    tap_ok "test_between_${name}_after_${signal}_nothing_is_left" until_true 60 is_clean
}

# dies NAME HASH OPTION...: the program is killed twice under a campaign, which tells the same.
dies() {
    local name=$1 hash=$2 victim
    shift 2
    "$bin" run "$@" --jobs 1 --quiet --json --out "$tap_dir/out" >"$tap_dir/json" 2>"$tap_dir/notes" &
    pid=$!
    for _ in 1 2; do
        until_true 120 runs_or_is_over "$name"
        victim=$(ours "$name" | head -n 1)
        [ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null
        sleep 0.3
    done
    wait $pid
    tap_same "test_between_${name}_killed_is_no_finding" "$hash" "$(facts <"$tap_dir/json")"
    tap_ok "test_between_${name}_killed_nothing_is_left" until_true 60 is_clean
}

if command -v toxiproxy-server >/dev/null; then
    socket=$(campaign "$drops" --seeds 2 --via socket | facts)
    proxy=$(campaign "$drops" --seeds 2 --via toxiproxy | facts)
    tap_match test_between_toxiproxy_cuts '^[0-9a-f]{16} 0 [1-9]' "$proxy"
    tap_same test_between_toxiproxy_same_run_as_by_socket "$socket" "$proxy"
    ended toxiproxy INT 130 "$drops" --via toxiproxy
    ended toxiproxy KILL 137 "$drops" --via toxiproxy
    dies toxiproxy "$socket" "$drops" --seeds 2 --via toxiproxy
    failover=$root/scenarios/faults/failover-and-cuts.yaml
    tap_same test_between_toxiproxy_same_run_with_standby_failover_and_crash \
        "$(campaign "$failover" --seeds 2 | facts)" "$(campaign "$failover" --seeds 2 --via toxiproxy | facts)"
    campaign "$drops" --seeds 1 --via toxiproxy --toxiproxy /bin/true >/dev/null
    tap_same test_between_other_program_is_infrastructure 3 $?
    tap_match test_between_other_program_is_named 'is not a toxiproxy server' "$(cat "$tap_dir/notes")"
else
    tap_skip test_between_toxiproxy "there is no toxiproxy-server: ./fencepost setup toxiproxy builds it"
fi

if command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; then
    pooled=(--set topology.postgres.pooler=transaction)
    campaign "$plain" --seeds 8 "${pooled[@]}" --check-determinism >"$tap_dir/json"
    tap_same test_between_pgbouncer_runs_repeat_themselves "8 0" \
        "$(jq -r '.determinism | "\(.checked) \(.diverged)"' "$tap_dir/json")"
    hash=$(facts <"$tap_dir/json")
    ended pgbouncer KILL 137 "$plain" "${pooled[@]}"
    dies pgbouncer "$hash" "$plain" --seeds 8 "${pooled[@]}"
    campaign "$plain" --seeds 1 "${pooled[@]}" --set 'faults=[{connection_drop: {how: idle, nth: 3}}]' \
        --via toxiproxy >/dev/null
    tap_match test_between_via_that_does_not_apply_is_said \
        "note: --via toxiproxy does not apply to $plain" "$(cat "$tap_dir/notes")"
    campaign "$plain" --seeds 1 "${pooled[@]}" --pgbouncer /nonexistent >/dev/null
    tap_same test_between_missing_program_is_infrastructure 3 $?
    tap_match test_between_missing_program_is_named '/nonexistent' "$(cat "$tap_dir/notes")"
else
    tap_skip test_between_pgbouncer "there is no pgbouncer: apt-get install pgbouncer"
fi
tap_end
