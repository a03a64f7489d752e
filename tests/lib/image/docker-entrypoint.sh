#!/bin/sh
# What the official postgres image does with its environment, as far as a test needs it: make the
# data directory as POSTGRES_* say, then become the server.
set -eu

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

[ "$1" = postgres ] || exec "$@"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    install -d -o postgres -g postgres -m 700 "$PGDATA"
    umask 077
    printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
    chown postgres /tmp/password
    # shellcheck disable=SC2086 # these are several arguments
    as_postgres initdb -U "$POSTGRES_USER" -A scram-sha-256 --pwfile=/tmp/password \
        $POSTGRES_INITDB_ARGS -D "$PGDATA"
    rm /tmp/password
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    echo "CREATE DATABASE $POSTGRES_DB" |
        as_postgres postgres --single -c fsync=off -D "$PGDATA" template1 >/dev/null
fi
unset POSTGRES_PASSWORD
exec setpriv --reuid=postgres --regid=postgres --init-groups "$@"
