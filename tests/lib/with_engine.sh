#!/usr/bin/env bash
# with_engine.sh COMMAND...: run it with a Docker engine of its own, where that can be had (root,
# Debian's docker.io): on a socket of its own, in process, network and mount namespaces of its own,
# so that the kernel ends all of it with this script, however that ends. Else with the engine that
# answers. Else one TAP line says that it was skipped, why, and how to get it.
set -u
exit_no_engine=75

answers() { docker version >/dev/null 2>&1; }

# ---- inside the namespaces ----

if [ "${1:-}" = --inside ]; then
    work=$2 group=$3
    shift 3
    ip link set lo up
    dockerd --host "unix://$work/socket" --data-root "$work/data" --exec-root "$work/exec" \
        --pidfile "$work/pid" --iptables=false --ip6tables=false \
        --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent="/$group" >"$work/log" 2>&1 &
    engine=$!
    export DOCKER_HOST=unix://$work/socket
    for ((i = 0; i < 600; i++)); do
        answers && break
        kill -0 "$engine" 2>/dev/null || break
        sleep 0.2
    done
    answers || exit $exit_no_engine
    "$@"
    status=$?
    kill -TERM "$engine"
    wait "$engine"
    exit $status
fi

# ---- outside ----

# What is missing for a private engine, and how to get it; nothing: it can be tried.
missing() {
    local program
    for program in docker dockerd ip unshare; do
        command -v "$program" >/dev/null || echo "there is no $program (apt-get install docker.io iproute2)"
    done
    [ "$(id -u)" = 0 ] || echo "only root can start an engine (start Docker, or run as root)"
}

# private COMMAND...
private() {
    local base=${FENCEPOST_BUILD:-/tmp} group
    # In memory when there is room: initdb writes a thousand files.
    [ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 1500000 ] && base=/dev/shm
    work=$(mktemp -d "$base/fp-docker-XXXXXX")
    group=${work##*/}
    trap 'rm -rf "$work"; rmdir /sys/fs/cgroup/{,*/}"${work##*/}" 2>/dev/null' EXIT
    trap 'exit 143' TERM
    trap 'exit 130' INT
    unshare --mount --net --pid --fork --kill-child --mount-proc -- \
        bash "${BASH_SOURCE[0]}" --inside "$work" "$group" "$@" &
    wait $!
}

PATH=$PATH:/usr/sbin:/sbin
why=$(missing | head -n 1)
if [ -z "$why" ]; then
    private "$@"
    status=$?
    [ $status = $exit_no_engine ] || exit $status
    why="a private one does not start: $(grep -v level=info "$work/log" 2>/dev/null | tail -n 1)"
fi
if answers; then
    "$@"
    exit
fi
echo "ok - the tests with Docker # SKIP no engine answers, and $why"
