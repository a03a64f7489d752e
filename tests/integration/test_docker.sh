#!/usr/bin/env bash
# --pg docker, with containers for real. Runs once, not with the sanitizers: most of its time is the
# engine's.
# fencepost-test: timeout=900 serial plain-only
set -u
root=${FENCEPOST_ROOT:?}
fencepost=${FENCEPOST_BIN:?}
if [ -z "${FENCEPOST_HAS_ENGINE:-}" ]; then
    FENCEPOST_HAS_ENGINE=1 exec bash "$root/tests/lib/with_engine.sh" bash "${BASH_SOURCE[0]}"
fi
. "$root/tests/lib/tap.sh"
. "$root/tests/lib/killing.sh"
chmod 755 "$tap_dir"
export FENCEPOST_TMPDIR=$tap_dir/work
mkdir -m 755 "$FENCEPOST_TMPDIR"
unset TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX
image=fencepost-test/postgres:$$
tap_ok "an image is made of the PostgreSQL that is installed" bash "$root/tests/lib/image/make_image.sh" "$image"
trap 'docker rm -f -v $(docker ps -aq --filter label=fencepost-test=$$) >/dev/null 2>&1
    docker rmi "$image" >/dev/null 2>&1; rm -rf "$tap_dir"' EXIT

everything() { docker ps -aq --no-trunc | sort; docker volume ls -q | sort; docker network ls -q | sort; }
before=$(everything)
ours() { docker ps -q --no-trunc --filter label=fencepost.owner; }
is_as_before() { [ "$(everything)" = "$before" ]; }

report() { jq -c "$1" "$tap_dir/$2.json"; }
# campaign NAME ARGUMENT...: its status is in $status.
campaign() {
    local name=$1
    shift
    "$fencepost" run "$@" --json --out "$tap_dir/out" >"$tap_dir/$name.json" 2>"$tap_dir/$name.err"
    status=$?
}

# ---- the same runs ----

some=(scenarios/job_locks/concurrent-acquire.yaml scenarios/job_locks/release-lock-first.yaml)
campaign local "${some[@]}" --seeds 10
campaign docker "${some[@]}" --seeds 10 --check-determinism --pg docker --pg-image "$image"
tap_same "the same seeds give the same runs in a container" \
    "$(report '[.scenarios[].hash]' local)" "$(report '[.scenarios[].hash]' docker)"
tap_same "and the same again" '{"checked":20,"diverged":0}' "$(report .determinism docker)"
tap_same "the report says what it ran on" "[\"docker\",\"$image\"]" \
    "$(report '[.environment.pg, .environment.image]' docker)"
if [ "$(id -u)" = 0 ]; then
    tap_same "backends in the container are parked" '[true,null]' \
        "$(report '[.environment.parking, .environment.off]' docker)"
    tap_ok "some were" test "$(report .counts.parked docker)" -gt 0
fi
tap_match "so does the summary" "of PostgreSQL [0-9.]+ in docker \($image\)" "$(cat "$tap_dir/docker.err")"
tap_ok "nothing is left: container, volume, network" is_as_before

# ---- the container is hit ----

since=$(date +%s)
campaign hit scenarios/job_locks/container.yaml --seeds 1 --check-determinism --pg docker --pg-image "$image"
tap_same "paused, restarted and killed, the hardened form holds" '[0,"pass"]' \
    "$(jq -c --argjson status $status '[$status, .verdict]' "$tap_dir/hit.json")"
tap_ok "it was" test "$(report '.scenarios[0].faults_fired.container' hit)" -ge 2
# Started once to ask for the version, once by the run, once after the kill; a restart says both.
events=$(docker events --since "$since" --until "$(date +%s)" --filter type=container \
    --filter label=fencepost.owner --format '{{.Action}}')
tap_ok "the engine says so too: paused" grep -qx pause <<<"$events"
tap_ok "restarted" grep -qx restart <<<"$events"
tap_ok "and started again after a kill" \
    test $(($(grep -cx start <<<"$events") - $(grep -cx restart <<<"$events"))) -ge 3
tap_same "and the same again" '{"checked":1,"diverged":0}' "$(report .determinism hit)"
campaign crash-local scenarios/job_locks/server-crash.yaml --seeds 1
campaign crash-docker scenarios/job_locks/server-crash.yaml --seeds 1 --pg docker --pg-image "$image"
tap_same "a server that crashes gives the same run in a container" \
    "$(report '.scenarios[0] | [.hash, .faults_fired]' crash-local)" \
    "$(report '.scenarios[0] | [.hash, .faults_fired]' crash-docker)"

# ---- what cannot work ----

TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX=registry.invalid/mirror \
    campaign absent "${some[0]}" --seeds 1 --pg docker --pg-image fencepost-test/no-such-image
tap_match "an image that cannot be had is infrastructure; the prefix is honoured, the pull is shown" \
    '^3 fencepost: docker pull registry.invalid/mirror/fencepost-test/no-such-image.*--pg-image' \
    "$status $(cat "$tap_dir/absent.err")"
DOCKER_HOST=unix://$tap_dir/nothing campaign no-engine "${some[0]}" --seeds 1 --pg docker
tap_match "an engine that does not answer is infrastructure" \
    '^3 fencepost: docker version failed.*nothing.*needs an engine' "$status $(cat "$tap_dir/no-engine.err")"
DOCKER_HOST=tcp://10.0.0.1:2375 campaign elsewhere "${some[0]}" --seeds 1 --pg docker
tap_match "an engine on another machine is refused" '^3 fencepost: .*on another machine' \
    "$status $(cat "$tap_dir/elsewhere.err")"
tap_ok "none of them leaves anything" is_as_before

# ---- killed ----

# Somebody else's: labelled as the family does, and one whose maker lives.
owner=$(awk '{ print $22 }' "/proc/$$/stat")
unrelated() { docker create --label "fencepost-test=$$" "$@" "$image"; }
has_run() { ours | grep -q . && [ -n "$(docker logs "$(ours | head -n 1)" 2>&1 | grep 'Success')" ]; }
long_run() {
    in_background "$fencepost" run "${some[0]}" --seeds 100000 --jobs 1 --out "$tap_dir/out" \
        --pg docker --pg-image "$image"
    tap_ok "$1: a run is under way" until_true 120 has_run
}

long_run "with the reaper"
kill_hard
tap_ok "killed: the reaper removes container and volume" until_true 120 is_as_before

long_run "without the reaper"
mine=$(ours)
label=$(docker inspect -f '{{index .Config.Labels "fencepost.owner"}}' "$mine")
kept=$(
    unrelated --label org.testcontainers=true --label org.testcontainers.session-id=somebody
    unrelated --label org.testcontainers=true --label "fencepost.owner=${label%/*/*}/$$/$owner"
    unrelated --label org.testcontainers=true --label "fencepost.owner=somebody"
)
tap_ok "the reaper is killed as well" kill_with_reaper
tap_ok "killed with its reaper: the container is left" docker inspect "$mine"
tap_same "and so are three of others" 3 "$(wc -w <<<"$kept")"
campaign next "${some[0]}" --seeds 1 --jobs 1 --pg docker --pg-image "$image"
tap_same "the next start runs" 0 "$status"
tap_same "it removed the dead one's container, and no other" "$(sort <<<"$kept")" "$(docker ps -aq --no-trunc | sort |
    grep -vxF "${before:-none}")"
# shellcheck disable=SC2086 # several containers
docker rm -v $kept >/dev/null
tap_ok "nothing else is left: container, volume, network" is_as_before

long_run "interrupted"
kill -INT "$pid"
wait "$pid"
tap_same "an interrupt ends with its own code" 130 $?
tap_ok "and leaves nothing" is_as_before
tap_end
