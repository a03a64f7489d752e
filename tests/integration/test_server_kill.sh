#!/bin/sh
# Kill a fencepost in every way a terminal, a supervisor or an out-of-memory killer does, and look
# for what is left: directories, processes, shared memory.
set -u

holder=${FENCEPOST_BUILD:?the build directory}/server_holder
failed=0
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
work=$(mktemp -d "$base/fp-kill-XXXXXX") || exit 1
chmod 755 "$work"
out=$(mktemp) || exit 1
input=$(mktemp -u) && mkfifo "$input" || exit 1
trap 'rm -rf "$work" "$out" "$input"' EXIT

# Start a holder with an input that stays open (descriptor 9), in a session of its own.
start() {
    : >"$out"
    setsid "$holder" "$work" "$1" <"$input" >"$out" 2>&1 9>&- &
    exec 9>"$input"
    pid=$!
}

wait_for() { # a line in the output
    tries=0
    until grep -q "^$1" "$out"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 6000 ]; then
            echo "no \"$1\" from the holder:"
            cat "$out"
            return 1
        fi
        sleep 0.02
    done
}

servers() { # numbers of the processes that run in our place
    ls -l /proc/[0-9]*/cwd 2>/dev/null | sed -n "s|.* /proc/\([0-9]*\)/cwd -> $work/.*|\1|p"
}

# System V segments by who made them, POSIX ones by who has them open: of processes in our place.
remember_segments() {
    for number in $(servers); do
        made_by="$made_by $number"
        posix="$posix $(sed -n 's|.* \(/dev/shm/PostgreSQL[.][0-9]*\).*|\1|p' \
            "/proc/$number/maps" 2>/dev/null)"
    done
}

left_segments() {
    for maker in $made_by; do
        awk -v maker="$maker" 'NR > 1 && $5 == maker { print $2 }' /proc/sysvipc/shm
    done
    for file in $posix; do
        [ ! -e "$file" ] || echo "$file"
    done
}

is_clean() {
    [ -z "$(ls "$work")" ] && [ -z "$(servers)" ] && [ -z "$(left_segments)" ]
}

expect_clean() {
    tries=0
    until is_clean; do
        tries=$((tries + 1))
        if [ "$tries" -gt 1200 ]; then
            echo "FAILED: $1: left:" "$(ls "$work")" "processes:" "$(servers | tr '\n' ' ')" \
                "segments:" "$(left_segments | tr '\n' ' ')"
            failed=1
            made_by= posix=
            return
        fi
        sleep 0.05
    done
    echo "ok - $1"
}

reaper_of() {
    for stat in /proc/[0-9]*/stat; do
        awk -v parent="$1" '$2 == "(fencepost-reap)" && $4 == parent { print $1 }' \
            "$stat" 2>/dev/null
    done
}

stop_backends() {
    for number in $(servers); do
        kill -STOP "$number" 2>/dev/null
    done
}

made_by= posix=
start 2 && wait_for ready || exit 1
remember_segments
echo >&9
exec 9>&-
wait "$pid"
if [ $? -ne 0 ]; then
    echo "FAILED: the holder did not end well"
    failed=1
fi
is_clean && echo "ok - a normal end leaves nothing" || expect_clean "a normal end, at once"

for signal in INT TERM HUP QUIT; do
    start 1 && wait_for ready || exit 1
    remember_segments
    kill -s "$signal" -- "-$pid"
    exec 9>&-
    wait "$pid" 2>/dev/null
    expect_clean "SIG$signal to the whole process group"
done

start 2 && wait_for ready || exit 1
remember_segments
kill -s KILL -- "-$pid"
exec 9>&-
wait "$pid" 2>/dev/null
expect_clean "SIGKILL to the whole process group"

start 2 && wait_for ready || exit 1
remember_segments
stop_backends
kill -KILL "$pid"
exec 9>&-
wait "$pid" 2>/dev/null
expect_clean "SIGKILL with every server process stopped"

kill_with_reaper() {
    remember_segments
    kill -KILL $(reaper_of "$pid") "$pid" 2>/dev/null
    exec 9>&-
    wait "$pid" 2>/dev/null
}

# Killed at any moment of making the template, the reaper too: the next one cleans up. However slow
# the machine is, the last one has left something.
for delay in 0.01 0.05 0.1 0.2 0.3 0.4 0.5 0.6 0.8; do
    start 1
    sleep "$delay"
    kill_with_reaper
done
start 1 && wait_for template || exit 1
kill_with_reaper
start 0 && wait_for template || exit 1
if ! grep -q '^leftovers [1-9]' "$out"; then
    echo "FAILED: no leftovers found: $(cat "$out")"
    failed=1
fi
echo >&9
exec 9>&-
wait "$pid"
expect_clean "SIGKILL while the template is made, reaper too, then the next start"

# The reaper alone is killed: the owner still cleans up by itself.
start 1 && wait_for ready || exit 1
remember_segments
kill -KILL "$(reaper_of "$pid")"
echo >&9
exec 9>&-
wait "$pid"
expect_clean "a killed reaper"

# Two at once do not take each other for dead.
start 1 && wait_for ready || exit 1
first=$pid
"$holder" "$work" 1 </dev/null >"$out.second" 2>&1
second=$?
if [ "$second" -ne 0 ] || ! grep -q '^leftovers 0' "$out.second" || ! kill -0 "$first"; then
    echo "FAILED: two at once: $(cat "$out.second")"
    failed=1
fi
rm -f "$out.second"
[ -n "$(servers)" ] || { echo "FAILED: the first one's server is gone"; failed=1; }
echo >&9
exec 9>&-
wait "$first"
expect_clean "two at once"

# The reaper holds nothing of the caller's open, or whoever reads our output would wait for it.
start 0 && wait_for ready || exit 1
reaper=$(reaper_of "$pid")
for fd in 0 1 2; do
    target=$(readlink "/proc/$reaper/fd/$fd")
    if [ "$target" != /dev/null ]; then
        echo "FAILED: the reaper's descriptor $fd is $target"
        failed=1
    fi
done
if [ "$(ls "/proc/$reaper/fd" | wc -l)" -ne 5 ]; then
    echo "FAILED: the reaper holds: $(ls -l "/proc/$reaper/fd")"
    failed=1
fi
echo >&9
exec 9>&-
wait "$pid"
expect_clean "the reaper's descriptors"
exit "$failed"
