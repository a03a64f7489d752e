#!/usr/bin/env bash
# make_image.sh NAME: give the engine an image of the PostgreSQL that is installed here, with an
# entrypoint that behaves as the official image's. No registry is needed, and the server in it is
# the very one of --pg local, so that runs can be compared.
set -eu

name=$1
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bin=$(dirname "$(readlink -f "$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1)")")
config=$(dirname "$bin")
version=${config##*/}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

. "$here/take.sh"
mkdir -p "$root"/{bin,tmp,etc,run/postgresql,usr/local/bin,var/lib/postgresql}
ln -s /run "$root/var/run"
chmod 1777 "$root/tmp" "$root/run/postgresql"
take "$bin/postgres" "$bin/initdb" "$config/lib/plpgsql.so" "$config/lib/dict_snowball.so"
for program in sh setpriv install chown rm; do
    take "$(command -v "$program")"
    [ -e "$root/bin/$program" ] || ln -s "$(command -v "$program")" "$root/bin/$program"
done
cp -rL --parents "/usr/share/postgresql/$version" /usr/share/zoneinfo "$root"
install -m 755 "$here/docker-entrypoint.sh" "$root/usr/local/bin/"
printf 'root:x:0:0::/:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\npostgres:x:999:\n' >"$root/etc/group"

tar -C "$root" --owner=0 --group=0 -c . | docker import \
    --change "ENV PATH=$bin:/usr/local/bin:/usr/bin:/bin" \
    --change 'ENV PGDATA=/var/lib/postgresql/data' \
    --change 'VOLUME /var/lib/postgresql/data' \
    --change 'ENTRYPOINT ["docker-entrypoint.sh"]' \
    --change 'CMD ["postgres"]' - "$name"
