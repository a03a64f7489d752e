#!/usr/bin/env bash
# --pg docker with standbys, toxiproxy and pgbouncer, all for real: the same runs as with a local server;
# and kill -9 in the middle of it, with and without the reapers.
# fencepost-test: timeout=900 serial plain-only
set -u
root=${FENCEPOST_ROOT:?}
fencepost=${FENCEPOST_BIN:?}
if [ -z "${FENCEPOST_HAS_ENGINE:-}" ]; then
    FENCEPOST_HAS_ENGINE=1 exec bash "$root/tests/lib/with_engine.sh" bash "${BASH_SOURCE[0]}"
fi
. "$root/tests/lib/tap.sh"
. "$root/tests/lib/killing.sh"
if ! command -v toxiproxy-server >/dev/null; then
    tap_skip "Docker, toxiproxy and standbys at once" "there is no toxiproxy-server: ./fencepost setup toxiproxy builds it"
    tap_end
fi
chmod 755 "$tap_dir"
work=$tap_dir/work
export FENCEPOST_TMPDIR=$work
mkdir -m 755 "$work"
unset TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX
image=fencepost-test/postgres:beside-$$
proxy_image=fencepost-test/toxiproxy:beside-$$
tap_ok "an image is made of the PostgreSQL that is installed" bash "$root/tests/lib/image/make_image.sh" "$image"
tap_ok "and one of toxiproxy" bash "$root/tests/lib/image/make_toxiproxy_image.sh" "$proxy_image"
trap 'docker rm -f -v $(docker ps -aq --filter label=fencepost-test=$$) >/dev/null 2>&1
    docker rmi "$image" "$proxy_image" >/dev/null 2>&1; rm -rf "$tap_dir"' EXIT

everything() { docker ps -aq --no-trunc | sort; docker volume ls -q | sort; docker network ls -q | sort; }
# Those of ours in that place, whoever runs them: a server in a container has its folder out here.
processes() { ls -l /proc/[0-9]*/cwd 2>/dev/null | sed -n "s|.* /proc/\([0-9]*\)/cwd -> $work/.*|\1|p"; }
before=$(everything)
is_as_before() { [ "$(everything)" = "$before" ] && [ -z "$(processes)" ] && [ -z "$(ls "$work")" ]; }

facts() { jq -c '[.verdict, (.scenarios[] | [.name, .hash, .faults_fired])]' "$tap_dir/$1.json"; }
campaign() { # NAME ARGUMENT...
    local name=$1
    shift
    "$fencepost" run "$@" --json --jobs 1 --out "$tap_dir/out" >"$tap_dir/$name.json" 2>"$tap_dir/$name.err"
}

# ---- the same runs ----

all_three=scenarios/faults/failover-and-cuts.yaml
campaign local "$all_three" scenarios/job_locks/pooler.yaml --seeds 1
campaign docker "$all_three" scenarios/job_locks/pooler.yaml --seeds 1 --via toxiproxy --pg docker --pg-image "$image"
tap_same "a container with standby, failover and toxiproxy, or pgbouncer, gives the same runs" \
    "$(facts local)" "$(facts docker)"
tap_match "there was something to see" '"failover":1' "$(facts docker)"
tap_match "the report says what it ran on" "^.\"docker\",\"$image\",true" \
    "$(jq -c '[.environment.pg, .environment.image, .environment.parking]' "$tap_dir/docker.json")"
tap_ok "nothing is left: container, volume, network, process, directory" is_as_before

drops=scenarios/job_locks/connection-drops.yaml
campaign socket "$drops" --seeds 2
campaign proxy "$drops" --seeds 2 --via toxiproxy --toxiproxy "docker:$proxy_image"
tap_same "toxiproxy in a container before a local server gives the same runs" "$(facts socket)" "$(facts proxy)"
campaign absent "$drops" --seeds 1 --via toxiproxy --toxiproxy docker:registry.invalid/toxiproxy
tap_match "an image that cannot be had is infrastructure" '^3 .*docker pull registry.invalid/toxiproxy' \
    "$? $(cat "$tap_dir/absent.err")"
DOCKER_HOST=unix://$tap_dir/nothing campaign no-engine "$all_three" --seeds 1 --pg docker
tap_match "and so is an engine that does not answer" '^3 fencepost: docker version failed.*needs an engine' \
    "$? $(cat "$tap_dir/no-engine.err")"
tap_ok "nothing is left of either" is_as_before

# ---- killed ----

titles() {
    local number
    for number in $(processes); do
        tr '\0' ' ' 2>/dev/null <"/proc/$number/cmdline"
        echo
    done
}
# Two servers, one of which replays the log, each in a container; and a toxiproxy, in one or not.
is_under_way() {
    [ "$(docker ps -q --filter label=fencepost.owner | wc -l)" -ge "$container_count" ] &&
        titles | grep -q ': startup ' &&
        { [ "$container_count" = 3 ] || titles | grep -q '/toxiproxy -host'; }
}
# Stopped at such a moment, with no call to the engine under way.
calls_engine() { ps -o comm= --ppid "$(pgrep -g "$pid" | paste -sd ,)" | grep -qx docker; }
is_at_rest() { ! calls_engine && is_under_way; }
# long_run NAME CONTAINER_COUNT OPTION...
long_run() {
    local name=$1
    container_count=$2
    shift 2
    in_background "$fencepost" run "$all_three" --seeds 100000 --jobs 1 --out "$tap_dir/out" \
        --via toxiproxy --pg docker --pg-image "$image" "$@"
    tap_ok "$name: containers, a standby and a toxiproxy run" until_true 240 is_caught is_at_rest
}

long_run "with the reapers" 2
kill_hard
tap_ok "killed: the reapers remove container, volume, process and directory" until_true 120 is_as_before

# Of others: a container of the family, one whose maker lives, a program that is called toxiproxy, a
# directory whose maker lives and one that is named alike.
long_run "without the reapers, toxiproxy in a container too" 3 --toxiproxy "docker:$proxy_image"
label=$(docker inspect -f '{{index .Config.Labels "fencepost.owner"}}' "$(docker ps -q --filter label=fencepost.owner | head -n 1)")
owner=$(awk '{ print $22 }' "/proc/$$/stat")
unrelated() { docker create --label "fencepost-test=$$" --label org.testcontainers=true "$@" "$image"; }
kept=$(
    unrelated --label org.testcontainers.session-id=somebody
    unrelated --label "fencepost.owner=${label%/*/*}/$$/$owner"
)
mkdir "$tap_dir/elsewhere" "$work/fencepost-0-1-0123456" "$work/fencepost-0-$$-01234567"
printf 'fencepost run directory, format 1\npid %d\nstart_ticks %d\nboot_id %s\n' \
    $$ "$owner" "$(cat /proc/sys/kernel/random/boot_id)" >"$work/fencepost-0-$$-01234567/owner"
cp "$(command -v sleep)" "$tap_dir/elsewhere/toxiproxy"
(cd "$tap_dir/elsewhere" && exec ./toxiproxy 600) &
stranger=$!
mine=$(docker ps -q --no-trunc --filter label=fencepost.owner | sort)
dir=$(ls -d "$work"/fencepost-*-"$pid"-*)
tap_ok "the reapers, two of them, are killed as well" kill_with_reaper 2
tap_same "killed with its reapers: the containers are left" "$mine" \
    "$(docker ps -q --no-trunc --filter label=fencepost.owner | sort)"
tap_ok "and its directory" test -d "$dir"
campaign next "$all_three" --seeds 1 --via toxiproxy --pg docker --pg-image "$image"
tap_same "the next start runs, and as before" "$(jq -c '.scenarios[0].hash' "$tap_dir/docker.json")" \
    "$(jq -c '.scenarios[0].hash' "$tap_dir/next.json")"
tap_same "it removed the dead one's containers, and no other" "$(sort <<<"$kept")" \
    "$(docker ps -aq --no-trunc | sort | grep -vxF "${before:-none}")"
tap_same "its directory, and no other" \
    "$(printf '%s\n' fencepost-0-1-0123456 "fencepost-0-$$-01234567" | sort)" "$(ls "$work" | sort)"
tap_same "no process of it is left" "" "$(processes)"
tap_ok "a stranger of the same name lives" kill -0 "$stranger"
kill -KILL "$stranger"
wait "$stranger" 2>/dev/null
rm -r "$work"/fencepost-0-*
# shellcheck disable=SC2086 # several containers
docker rm -v $kept >/dev/null
tap_ok "nothing else is left: container, volume, network, process, directory" is_as_before
tap_end
