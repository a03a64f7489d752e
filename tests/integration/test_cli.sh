#!/usr/bin/env bash
# The command line as a user meets it: what it prints, where, with which exit code, and what it leaves.
# fencepost-test: timeout=900
set -u
root=${FENCEPOST_ROOT:?}
bin=${FENCEPOST_BIN:?}
. "$root/tests/lib/tap.sh"
chmod 755 "$tap_dir"
export FENCEPOST_TMPDIR=$tap_dir/work
mkdir -m 755 "$FENCEPOST_TMPDIR"
small=$tap_dir/small
trap 'umount "$small" 2>/dev/null; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1

# ---- helpers ----

# fencepost ARG...: sets status, out and err.
fencepost() {
    "$bin" "$@" >"$tap_dir/.out" 2>"$tap_dir/.err" </dev/null
    status=$?
    out=$(cat "$tap_dir/.out")
    # With the sanitizers, the run time has a remark of its own on fibers.
    err=$(grep -v "WARNING: ASan doesn't fully support makecontext" "$tap_dir/.err")
}

# refused NAME STATUS REGEX ARG...: it ends so, says so on standard error, and nothing elsewhere.
refused() {
    local name=$1 expected=$2 regex=$3
    shift 3
    fencepost "$@"
    tap_same "${name}_exits_with_$expected" "$expected" "$status"
    tap_match "${name}_says_why" "$regex" "$err"
    tap_same "${name}_prints_nothing" "" "$out"
}

field() { grep -o "\"$1\":[^,}]*" "$tap_dir/.out" | head -n 1 | cut -d: -f2-; }

# Processes that live in our place.
servers() { find /proc -maxdepth 2 -name cwd -lname "$FENCEPOST_TMPDIR/*" 2>/dev/null; }

nothing_is_left() { [ -z "$(ls -A "$FENCEPOST_TMPDIR")" ] && [ -z "$(servers)" ]; }

# wait_until COMMAND...: for at most two minutes and a half.
wait_until() {
    local tries
    for tries in $(seq 3000); do
        "$@" && return
        sleep 0.05
    done
    echo "# waited in vain for: $*"
    return 1
}
a_server_is_there() { [ -n "$(servers)" ]; }
a_failure_is_there() { compgen -G 'out/failures/caught-*.jsonl' >/dev/null; }

# ---- scenarios ----

mkdir -p scenarios/deeper scenarios/bad scenarios/corpus empty
scenario() { # NAME JOB_STATUS EXPECT WEAKNESSES
    cat <<END
scenario: $1
about: for the tests of the command line
strategy: job_locks
variant: $4
topology: {workers: 2, janitors: 1}
workload:
  clusters: [{name: demo, status: READY}]
  jobs:
    - {type: DESTROY, cluster: demo, at: 0s}
    - {type: DESTROY, cluster: demo, at: $2}
invariants: [valid_transition]
limits: {chaos: 4h, settle: 4h, steps: 20000}
expect: $3
END
}
weak='{weaknesses: [no_status_check]}'
scenario holds 1h pass hardened >scenarios/b-holds.yaml
scenario caught 1h '{violates: valid_transition}' "$weak" >scenarios/deeper/caught.yaml
scenario broken 1h pass "$weak" >broken.yaml
scenario missed 1h '{violates: valid_transition}' hardened >missed.yaml
echo 'scenario: [' >scenarios/bad/wrong.yaml
echo 'scenario: [' >scenarios/corpus/wrong.yaml
echo 'not looked at' >scenarios/notes.txt

# ---- usage ----

fencepost
tap_same test_cli_no_arguments_is_usage 64 "$status"
tap_match test_cli_no_arguments_shows_the_overview 'usage: ./fencepost COMMAND' "$err"
fencepost --version
tap_match test_cli_version_names_the_engine '^fencepost [0-9.]+ \(commit .*, engine [0-9]+\)$' "$out"
fencepost --help
tap_same test_cli_help_is_no_mistake 0 "$status"
for command in run replay check list lint selftest bench version help; do
    fencepost "$command" --help
    tap_match "test_cli_help_of_$command" "^usage: ./fencepost $command" "$out"
done
fencepost help scenario
tap_match test_cli_help_scenario_is_the_reference 'Scenario files' "$out"

refused test_cli_unknown_command 64 'no command `rnu`, did you mean `run`\?' rnu
refused test_cli_unknown_option 64 'no option --sedes, did you mean --seeds\?
try: fencepost run --help$' run scenarios --sedes 3
refused test_cli_missing_operand 64 'SCENARIO\|FOLDER is missing' run
refused test_cli_bad_integer 64 '--seeds: found `1e3`, expected an integer, 1\.\.' run x --seeds 1e3
refused test_cli_seed_past_the_end 64 '--seed: found `9223372036854775808`' run x --seed=9223372036854775808
refused test_cli_seeds_past_the_end 64 '--first-seed: seeds end at' run x --first-seed 9223372036854775807
refused test_cli_bad_duration 64 '--time: found `10`, expected a duration' run x --time 10
refused test_cli_bad_jobs 64 '--jobs: found `0`, expected an integer, 1\.\.64' run x --jobs 0
refused test_cli_unknown_server 64 '--pg: expected local, docker or a connection string, found "podman"' run x --pg podman
refused test_cli_bad_connection_string 64 '--pg: not a connection string: .*"hots"' replay x.yaml --seed 1 --pg hots=here
refused test_cli_image_without_docker 64 '--pg-image needs --pg docker' run x --pg-image postgres:15
refused test_cli_programs_without_local 64 '--pg-bin names the programs of --pg local' run x --pg docker --pg-bin /bin
refused test_cli_container_without_docker 64 'the fault container needs --pg docker' \
    run "$root/scenarios/job_locks/container.yaml"
refused test_cli_crash_of_a_given_server 64 'server_crash needs --pg local or --pg docker' \
    replay "$root/scenarios/job_locks/server-crash.yaml" --seed 1 --pg host=/nonexistent
refused test_cli_unknown_search 64 '--search: expected random, swarm, pct:D' run x --search pct:0
refused test_cli_seed_and_seeds 64 'either one seed or many' run x --seed 1 --seeds 2
refused test_cli_trace_without_seed 64 '--trace needs --seed' run x --trace
refused test_cli_unknown_topic 64 'no list of `fault`, did you mean faults' list fault
refused test_cli_replay_scenario_without_seed 64 'needs --seed' replay broken.yaml

# ---- bad scenarios ----

refused test_cli_missing_file 64 '^nowhere.yaml: there is no such file' run nowhere.yaml
refused test_cli_empty_folder 4 'no \*\.yaml below empty' run empty
refused test_cli_bad_override 64 'topology\.workerz' check broken.yaml --set topology.workerz=3
refused test_cli_out_of_range_override 64 'topology\.workers' check broken.yaml --set topology.workers=100000
truncate -s 100M huge.yaml
refused test_cli_huge_file 64 '^huge.yaml: larger than' run huge.yaml
{ printf 'scenario: '; head -c 100000 /dev/zero | tr '\0' '['; } >deep.yaml
refused test_cli_deep_nesting 64 '^deep.yaml:1:' run deep.yaml
head -c 4096 /dev/urandom >noise.yaml
refused test_cli_noise 64 '^noise.yaml' check noise.yaml
cp broken.yaml twice.yaml
refused test_cli_same_name_twice 64 'the name `broken` is also that of broken.yaml' check broken.yaml twice.yaml
refused test_cli_all_mistakes_of_all_files 64 'huge.yaml.*noise.yaml' check huge.yaml noise.yaml scenarios
# Root may read everything, unless that right is taken from it.
cp broken.yaml secret.yaml && chmod 000 secret.yaml
as_written=$bin
if [ "$(id -u)" = 0 ]; then
    printf '#!/bin/sh\nexec setpriv --bounding-set=-dac_override,-dac_read_search "%s" "$@"\n' \
        "$bin" >humble && chmod +x humble && bin=$PWD/humble
fi
refused test_cli_unreadable_file 64 'secret.yaml: cannot be opened' run secret.yaml
bin=$as_written
fencepost check "$root"/scenarios/bad/*.yaml
accepted=$(for file in "$root"/scenarios/bad/*.yaml; do
    grep -qF "$file:" .err || echo "$file"
done)
tap_same test_cli_every_bad_scenario_is_refused "64 " "$status $accepted"

fencepost check scenarios broken.yaml ./broken.yaml
tap_same test_cli_check_counts_each_file_once "0 3 scenarios ok" "$status $out"
fencepost check "$root/scenarios"
tap_same test_cli_shipped_scenarios_are_valid 0 "$status"

# ---- lists ----

for topic in faults invariants strategies weaknesses "scenarios scenarios"; do
    # shellcheck disable=SC2086 # two words on purpose
    fencepost list $topic
    tap_same "test_cli_list_${topic%% *}" "0 yes" "$status ${out:+yes}"
    # shellcheck disable=SC2086
    fencepost list $topic --json
    tap_match "test_cli_list_${topic%% *}_as_json" '^\[\{"(name|strategy)":.*\}\]$' "$out"
done
fencepost list invariants
tap_match test_cli_list_invariants_has_both_sides 'verifies: .*does not verify: ' "$out"
fencepost list faults
tap_match test_cli_list_faults_has_defaults 'restart_after .*\[10m\]' "$out"

# ---- infrastructure ----

refused test_cli_no_postgres 3 'empty' replay broken.yaml --seed 1 --pg-bin empty
refused test_cli_run_without_postgres 3 '^fencepost: .*empty' run broken.yaml --seeds 1 --pg-bin empty
long=$tap_dir/$(printf 'x%.0s' {1..100})
mkdir -p "$long"
FENCEPOST_TMPDIR=$long refused test_cli_too_long_a_place 3 'choose a shorter FENCEPOST_TMPDIR' replay broken.yaml --seed 1

# ---- runs ----

fencepost run scenarios --seeds 4 --out out --json --verbose
tap_same test_cli_expected_outcomes_pass 0 "$status"
tap_same test_cli_json_is_one_line 1 "$(wc -l <.out)"
tap_match test_cli_json_is_one_object '^\{"verdict":"pass","scenarios":\[\{"name":"holds".*\}$' "$out"
tap_match test_cli_json_leaves_the_summary_to_stderr 'caught: valid_transition broken in' "$err"
tap_match test_cli_verbose_says_what_was_reached 'reached in holds \(hardened\), 4 seeds:.*rest +4' "$err"
tap_ok test_cli_json_parses jq . .out
tap_same test_cli_json_says_what_it_ran_on '["local",true,null]' \
    "$(jq -c '.environment | [.pg, .parking, .off]' .out)"
hash=$(field hash)
tap_ok test_cli_run_leaves_nothing nothing_is_left
fencepost run scenarios --seeds 4 --out out --json --jobs 1 --check-determinism
tap_same test_cli_jobs_make_no_difference "$hash" "$(field hash)"
tap_match test_cli_json_says_what_was_reached '"reached":\{.*"jobs DESTROY SUCCEEDED":4.*"rest":4' "$out"
tap_match test_cli_determinism_is_checked '"determinism":\{"checked":8,"diverged":0\}' "$out"
failure=$(ls out/failures/caught-*.jsonl)

fencepost run missed.yaml --seeds 1
tap_same test_cli_missed_violation_is_a_violation 1 "$status"
tap_match test_cli_missed_violation_is_said 'expected violation of valid_transition NOT found' "$out"
fencepost run broken.yaml --seeds 2 --quiet --out 'my out'
tap_same test_cli_violation_exits_with_1 1 "$status"
tap_match test_cli_violation_last_lines 'VIOLATION of valid_transition in broken \(weak: no_status_check\), seed [0-9]+
  step [0-9]+
  [^
]+
  ./fencepost replay .my out/failures/broken-[0-9]+.jsonl.$' "$out"
tap_same test_cli_quiet_is_quiet "" "$err"
# What is printed can be pasted.
eval "set -- $(tail -n 1 .out)"
shift
fencepost "$@"
tap_match test_cli_printed_command_reproduces '^1 .*replayed: same [0-9]+ steps, same hash [0-9a-f]{16}, violation of' "$status $out"
tap_match test_cli_replay_shows_events 'db\.exec .*worker-|worker-.*db\.exec' "$out"
fencepost run broken.yaml --seed 3 --trace --out traced
tap_ok test_cli_trace_is_written grep -q '^{"step":' traced/trace/broken-3.jsonl
tap_ok test_cli_metrics_are_written grep -q '^# TYPE ocpctl_lock_held_duration_seconds histogram$' traced/trace/broken-3.prom

# ---- replays ----

fencepost replay scenarios/b-holds.yaml --seed 1 --quiet
tap_match test_cli_replay_of_a_seed '^0 holds, seed 1: .*pass: every invariant held$' "$status $out"
sed '$s/"t":[0-9]*/"t":7/' "$failure" >changed.jsonl
fencepost replay changed.jsonl
tap_match test_cli_changed_event_diverges '^70 .*diverged at step [0-9]+
recorded: .*"t":7,.*
happened: ' "$status $out"
sed -E '1s/"engine":[0-9]+,/"engine":999,/' "$failure" >older.jsonl
fencepost replay older.jsonl --json
tap_match test_cli_other_engine_is_warned_of '^warning: recorded with engine 999' "$err"
tap_match test_cli_replay_as_json '^\{"verdict":"violation".*"reproduced":true.*\}$' "$out"
head -c 3000 "$failure" >cut.jsonl
refused test_cli_cut_failure_file 64 '^cut.jsonl:[0-9]+: ' replay cut.jsonl
refused test_cli_replay_missing_file 64 'no such file' replay nowhere.jsonl
refused test_cli_replay_of_text 64 'notes.txt:1: not a failure file' replay scenarios/notes.txt
refused test_cli_replay_failure_with_seed 64 'replays as it was recorded' replay "$failure" --seed 3

# ---- places that cannot be written ----

echo >file
fencepost run broken.yaml --seeds 1 --out file/below
tap_match test_cli_out_below_a_file '^3 .*fencepost: file/below: the folder cannot be made: Not a dir' "$status $err"
mkdir "$small"
if mount -t tmpfs -o size=8k,mode=777 tmpfs "$small" 2>/dev/null; then
    fencepost run broken.yaml --seeds 1 --out "$small/out"
    tap_match test_cli_full_disk '^3 .*No space left on device' "$status $err"
    tap_same test_cli_full_disk_leaves_no_part "" "$(find "$small" -type f)"
    mount -o remount,ro "$small"
    fencepost run broken.yaml --seeds 1 --out "$small/other"
    tap_match test_cli_read_only_place '^3 .*Read-only file system' "$status $err"
    umount "$small"
else
    tap_skip test_cli_full_disk "no mount allowed"
    chmod 555 "$small"
    fencepost run broken.yaml --seeds 1 --out "$small/out"
    tap_match test_cli_read_only_place '^3 .*Permission denied' "$status $err"
fi
"$bin" list faults >/dev/full 2>.err
tap_match test_cli_full_standard_output '^3 .*No space left' "$? $(cat .err)"
{ sleep 0.5 && "$bin" help scenario 2>.err; echo $? >.status; } | true
tap_same test_cli_closed_pipe_is_no_crash "0 " "$(cat .status) $(cat .err)"
"$bin" list faults >&- 2>.err
tap_same test_cli_no_standard_output_is_no_crash "0 " "$? $(cat .err)"

# ---- a terminal ----

terminal() { TERM=xterm script -qec "$*" /dev/null </dev/null 2>&1; }
if command -v script >/dev/null; then
    green=$'\e[32m'
    said=$(terminal "$bin" run scenarios/b-holds.yaml --seeds 20)
    tap_ok test_cli_terminal_has_colour grep -qF "$green" <<<"$said"
    tap_ok test_cli_terminal_has_progress grep -q '/20 seeds' <<<"$said"
    said=$(NO_COLOR=1 terminal "$bin" run scenarios/b-holds.yaml --seeds 1)
    tap_same test_cli_no_color_is_respected 0 "$(grep -cF $'\e[3' <<<"$said")"
    said=$(terminal "$bin" run scenarios/b-holds.yaml --seeds 1 --no-color)
    tap_same test_cli_no_color_option 0 "$(grep -cF $'\e[3' <<<"$said")"
else
    tap_skip test_cli_terminal_has_colour "no script(1)"
fi

# ---- interrupts ----

# interrupt NAME SIGNAL WHEN: to the whole group, twice, as an impatient user does.
interrupt() {
    local pid
    rm -rf out
    setsid "$bin" run scenarios --seeds 100000 --out out >.out 2>.err </dev/null &
    pid=$!
    wait_until "$3"
    kill -s "$2" -- "-$pid"
    sleep 0.05
    kill -s "$2" -- "-$pid" 2>/dev/null
    wait "$pid"
    tap_same "test_cli_${1}_exits_with_130" 130 $?
    tap_match "test_cli_${1}_says_so" 'fencepost: interrupted$' "$(cat .err)"
    tap_ok "test_cli_${1}_leaves_nothing" nothing_is_left
}
interrupt early_INT INT a_server_is_there
interrupt early_HUP HUP a_server_is_there
interrupt late_TERM TERM a_failure_is_there
tap_match test_cli_late_TERM_reports_what_was_done \
    'caught: valid_transition.*interrupted  this is what was done' "$(cat .out)"

tap_ok test_cli_nothing_is_left_at_the_end nothing_is_left
tap_end
