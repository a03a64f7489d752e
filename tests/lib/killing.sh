# For tests that kill a fencepost: source this after tap.sh.

# until_true SECONDS COMMAND...: waits until it succeeds; fails when that takes too long.
until_true() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.1
    done
}

# in_background COMMAND...: in a session of its own, its output in $tap_dir/.run; its pid is in $pid.
in_background() {
    setsid "$@" >"$tap_dir/.run" 2>&1 </dev/null &
    pid=$!
}

# is_caught COMMAND...: stops the process group; when the command fails it goes on.
is_caught() {
    kill -STOP -- "-$pid"
    "$@" && return
    kill -CONT -- "-$pid"
    return 1
}

reaper_of() {
    local stat
    for stat in /proc/[0-9]*/stat; do
        awk -v parent="$1" '$2 == "(fencepost-reap)" && $4 == parent { print $1 }' "$stat" 2>/dev/null
    done
}

# kill_hard: the process group at once, nobody can clean up.
kill_hard() {
    kill -KILL -- "-$pid"
    wait "$pid" 2>/dev/null
}

# kill_with_reaper [COUNT]: and its reapers before it, of which there must be so many, 1.
kill_with_reaper() {
    local reapers
    reapers=$(reaper_of "$pid")
    # shellcheck disable=SC2086 # several numbers
    [ -n "$reapers" ] && kill -KILL $reapers
    kill_hard
    [ "$(wc -w <<<"$reapers")" = "${1:-1}" ]
}
