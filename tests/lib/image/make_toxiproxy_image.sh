#!/usr/bin/env bash
# make_toxiproxy_image.sh NAME: give the engine an image of the toxiproxy-server that is on PATH, as the
# official one is: the program is its entrypoint.
set -eu

name=$1
program=$(readlink -f "$(command -v toxiproxy-server)")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/take.sh"
take "$program"
mv "$root$program" "$root/toxiproxy"
tar -C "$root" --owner=0 --group=0 -c . | docker import --change 'ENTRYPOINT ["/toxiproxy"]' - "$name"
