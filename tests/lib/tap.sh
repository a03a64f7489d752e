# For script tests: source this, call the checks, end with tap_end. Each check prints one TAP line,
# which run_one.sh counts.
tap_failed=0
# In memory when there is room: a server is a thousand files, made and removed with every start.
tap_room_kib=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)
if [ "${tap_room_kib:-0}" -ge 1048576 ] && [ -w /dev/shm ]; then
    tap_dir=$(mktemp -d /dev/shm/fp-test-XXXXXX)
else
    tap_dir=$(mktemp -d)
fi
trap 'rm -rf "$tap_dir"' EXIT

# tap_ok NAME COMMAND...: passes when the command succeeds; its output is shown when it does not.
tap_ok() {
    local name=$1
    shift
    if "$@" >"$tap_dir/.tap" 2>&1; then
        echo "ok - $name"
    else
        sed 's/^/# /' "$tap_dir/.tap"
        echo "not ok - $name"
        tap_failed=1
    fi
}

# tap_same NAME EXPECTED ACTUAL: passes when the texts are equal.
tap_same() {
    if [ "$2" = "$3" ]; then
        echo "ok - $1"
    else
        printf 'expected: %s\nactual:   %s\n' "$2" "$3" | sed 's/^/# /'
        echo "not ok - $1"
        tap_failed=1
    fi
}

# tap_match NAME REGEX ACTUAL: passes when the extended regular expression is found.
tap_match() {
    if [[ $3 =~ $2 ]]; then
        echo "ok - $1"
    else
        printf 'expected to match: %s\nactual: %s\n' "$2" "$3" | sed 's/^/# /'
        echo "not ok - $1"
        tap_failed=1
    fi
}

tap_skip() { echo "ok - $1 # SKIP $2"; }

tap_end() { exit $tap_failed; }
