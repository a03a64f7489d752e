#!/usr/bin/env bash
# run_one.sh TALLY TIMEOUT_S COMMAND...: run one test and write "passed failed skipped" to TALLY.
#
# What counts as a test is a cmocka test function, or a TAP line ("ok", "not ok", "ok # SKIP") of a
# script, or else the command as a whole. Exit status: 0, 1, or 77 when everything was skipped.
# The timeout ends the command's whole process group, so that no child is left.
set -u
set -m # a job of its own: Ctrl-C is passed on below, and is not ignored by the test

tally=$1 timeout_s=$2
shift 2
log=$tally.log
mkdir -p "${tally%/*}"
echo "0 1 0" >"$tally" # stands when this script is killed

# A developer's own server must not be what a test talks to.
unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS PGPASSFILE
export LC_ALL=C

timeout -k 10 "$timeout_s" "$@" >"$log" 2>&1 </dev/null &
pid=$!
interrupted=0
trap 'interrupted=1; kill -INT "$pid"' INT TERM
wait "$pid"
status=$?
while [ $interrupted = 1 ] && kill -0 "$pid" 2>/dev/null; do
    wait "$pid"
    status=$?
done
kill -TERM -- "-$pid" 2>/dev/null # what the test left running
cat "$log"
[ $interrupted = 1 ] && exit 130
[ $status = 124 ] || [ $status = 137 ] && echo "ended by the timeout of $timeout_s s, or killed"

read -r passed failed skipped < <(awk '
    /^\[==========\] Running/ { cmocka = 1 }
    /^\[       OK \]/ { seen_ok++ }
    /^\[  PASSED  \] [0-9]+ test/ { done_ok += $4; summary = 1 }
    /^\[  FAILED  \] [0-9]+ test/ { done_bad += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { done_skip += $4 }
    /^ok .*# *[Ss][Kk][Ii][Pp]/ { tap_skip++; next }
    /^ok( |$)/ { tap_ok++ }
    /^not ok( |$)/ { tap_bad++ }
    END {
        if (cmocka && summary) print done_ok + 0, done_bad + 0, done_skip + 0
        else if (cmocka) print seen_ok + 0, 0, 0
        else print tap_ok + 0, tap_bad + 0, tap_skip + 0
    }' "$log")

case $status in
0) [ $((passed + failed + skipped)) -gt 0 ] || passed=1 ;;
77) [ $((passed + failed + skipped)) -gt 0 ] || skipped=1 ;;
*) [ "$failed" -gt 0 ] || failed=1 ;;
esac
echo "$passed $failed $skipped" >"$tally"

[ "$failed" -gt 0 ] && exit 1
[ "$passed" -gt 0 ] && exit 0
exit 77
