#!/usr/bin/env bash
# --pg with a connection string: a server that somebody else runs, with databases that are not ours.
# fencepost-test: timeout=600
set -u
root=${FENCEPOST_ROOT:?}
fencepost=${FENCEPOST_BIN:?}
. "$root/tests/lib/tap.sh"
. "$root/tests/lib/killing.sh"
chmod 755 "$tap_dir"
export FENCEPOST_TMPDIR=$tap_dir/work
mkdir -m 755 "$FENCEPOST_TMPDIR"

# ---- somebody's server ----

bin=$(dirname "$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1)")
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
server=$(mktemp -d "$base/fp-dsn-XXXXXX")
chmod 755 "$server"
as_server=()
if [ "$(id -u)" = 0 ]; then
    as_server=(setpriv --reuid=postgres --regid=postgres --init-groups)
    chown postgres "$server"
fi
"${as_server[@]}" "$bin/initdb" -N -A trust -U boss -D "$server/data" >"$tap_dir/initdb" 2>&1 ||
    cat "$tap_dir/initdb"
printf "%s = '%s'\n" listen_addresses '' unix_socket_directories "$server" fsync off \
    >>"$server/data/postgresql.conf"
chown --reference="$server" "$server/data/postgresql.conf"
(cd / && exec setsid "${as_server[@]}" "$bin/postgres" -D "$server/data") >"$tap_dir/server.log" 2>&1 &
postmaster=$!
end_server() {
    kill -QUIT "$postmaster" 2>/dev/null # at once, also when one of its backends is stopped
    wait "$postmaster" 2>/dev/null
    rm -rf "$server" "$tap_dir"
}
trap end_server EXIT
trap 'exit 143' TERM

sql() { psql -XAtq -v ON_ERROR_STOP=1 -h "$server" -U boss -d "${2:-postgres}" -c "$1"; }
dsn() { echo "host=$server user=$1 dbname=theirs"; }
ours() { sql "SELECT datname FROM pg_database WHERE datname ~ '^fencepost_[0-9a-f]{16}_' ORDER BY 1"; }
none_of_ours() { [ -z "$(ours)" ]; }

tap_ok "somebody's server starts" until_true 60 sql 'SELECT 1'
sql 'CREATE ROLE guest LOGIN CREATEDB'
sql 'CREATE ROLE poor LOGIN'
sql 'CREATE DATABASE theirs OWNER guest'
sql 'CREATE DATABASE fencepost OWNER guest'
sql 'CREATE DATABASE fencepost_mine OWNER guest'
for database in theirs fencepost postgres; do
    sql 'CREATE TABLE kept AS SELECT generate_series(1, 10) AS n' "$database"
done
# Everything there is, but for statistics.
everything() {
    sql "SELECT datname, datdba, datacl, shobj_description(oid, 'pg_database') FROM pg_database ORDER BY 1"
    sql 'SELECT * FROM pg_db_role_setting ORDER BY 1, 2'
    sql 'SELECT rolname, rolconfig FROM pg_roles ORDER BY 1'
    local database
    for database in theirs fencepost postgres fencepost_mine; do
        sql "SELECT nspname, relname, relkind FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
            WHERE nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema' ORDER BY 1, 2" "$database"
    done
    sql 'SELECT sum(n) FROM kept' theirs
}
before=$(everything)

# ---- the same runs, and nothing else touched ----

some=(scenarios/job_locks/concurrent-acquire.yaml scenarios/job_locks/release-lock-first.yaml)
report() { jq -c "$1" "$tap_dir/$2.json"; }
# campaign NAME ARGUMENT...: its status is in $status.
campaign() {
    local name=$1
    shift
    "$fencepost" run "$@" --json --out "$tap_dir/out" >"$tap_dir/$name.json" 2>"$tap_dir/$name.err"
    status=$?
}

campaign local "${some[@]}" --seeds 6
campaign guest "${some[@]}" --seeds 6 --pg "$(dsn guest)"
tap_same "on a database of our own the same seeds give the same runs" \
    "$(report '[.scenarios[].hash]' local)" "$(report '[.scenarios[].hash]' guest)"
tap_same "the report says what it ran on" '["dsn",null]' "$(report '[.environment.pg, .environment.image]' guest)"
tap_match "and what is not promised there" 'no faults of the server itself' \
    "$(report .environment.off guest)"
tap_match "so does the summary" 'not promised .*autovacuum' "$(cat "$tap_dir/guest.err")"
tap_same "nothing is left and nothing else was touched" "$before" "$(everything)"

said=$("$fencepost" replay "${some[0]}" --seed 1 --json --pg "postgresql://boss@/postgres?host=$server" 2>/dev/null)
here=$("$fencepost" replay "${some[0]}" --seed 1 --json 2>/dev/null)
tap_same "a replay gives the same run, by address and as superuser" \
    "$(jq -c '[.hash, .verdict, "dsn"]' <<<"$here")" "$(jq -c '[.hash, .verdict, .environment.pg]' <<<"$said")"

campaign poor "${some[0]}" --seeds 1 --pg "$(dsn poor)"
tap_match "a role that may not make a database is told so" '^3 .*role poor may not create a database.*CREATEDB' \
    "$status $(cat "$tap_dir/poor.err")"
campaign nowhere "${some[0]}" --seeds 1 --pg "host=$tap_dir user=guest"
tap_match "a server that does not answer is infrastructure" '^3 fencepost: --pg: .*failed' \
    "$status $(tail -n 3 "$tap_dir/nowhere.err")"
tap_same "neither leaves anything" "$before" "$(everything)"

# ---- parking ----

if [ "$(id -u)" = 0 ]; then
    tap_same "backends that can be signalled are parked" true "$(report .environment.parking guest)"
    # Somebody who may not signal the server's processes.
    install -m 755 "$fencepost" "$tap_dir/fencepost"
    install -m 644 "${some[0]}" "$tap_dir/scenario.yaml"
    install -d -m 777 "$tap_dir/nobody"
    (cd "$tap_dir/nobody" && FENCEPOST_TMPDIR=$tap_dir/nobody \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$tap_dir/fencepost" run ../scenario.yaml \
        --seeds 1 --json --pg "$(dsn guest)") >"$tap_dir/nobody.json" 2>"$tap_dir/nobody.err"
    tap_same "others are not" false "$(report .environment.parking nobody)"
    tap_match "which the report says" 'cannot be signalled' "$(report .environment.off nobody)"
else
    tap_same "the server's own user may signal its backends" true "$(report .environment.parking guest)"
fi

# ---- killed ----

# in_each_database COUNT: so many of ours there are, with sessions in each.
in_each_database() {
    [ "$(sql "SELECT count(*) FROM (SELECT 1 FROM pg_stat_activity
        WHERE datname ~ '^fencepost_[0-9a-f]{16}_' GROUP BY datname HAVING count(*) >= 3) AS busy")" -ge "$1" ]
}
# long_run NAME JOBS
long_run() {
    in_background "$fencepost" run "${some[0]}" --seeds 100000 --jobs "$2" --out "$tap_dir/out" --pg "$(dsn guest)"
    tap_ok "$1: a run is under way" until_true 60 in_each_database "$2"
}

# As if they were parked: they do not answer to anything until they are continued, and to drop any
# database the server waits for all of them.
long_run "with the reaper" 2
kill -STOP -- "-$pid" # from now on nobody sends anything, and who is idle stays so
idle() { sql "SELECT min(pid) FROM pg_stat_activity WHERE datname = '$1' AND state LIKE 'idle%'"; }
has_idle() { [ -n "$(idle "$1")" ]; }
for name in $(ours); do
    until_true 60 has_idle "$name"
    kill -STOP "$(idle "$name")"
done
kill_hard
tap_ok "killed with stopped backends: the reaper removes the databases" until_true 60 none_of_ours

long_run "without the reaper" 1
name=$(ours)
tap_ok "the reaper is killed as well" kill_with_reaper
# The same name with a living owner, and with another role: not ours to remove.
start=$(awk '{ print $22 }' "/proc/$$/stat")
living=$(sed -E "s/^(fencepost_[0-9a-f]{16})_[0-9]+_[0-9]+_/\1_${$}_${start}_/" <<<"$name")
sql "CREATE DATABASE $living OWNER guest"
sql "CREATE DATABASE ${name}0 OWNER boss"
tap_same "killed with its reaper: the database is left" "$name" "$(grep -x "$name" <<<"$(ours)")"
campaign next "${some[0]}" --seeds 1 --pg "$(dsn guest)"
tap_same "the next start removes it, but not a living one's or another role's" \
    "$(printf '%s\n' "$living" "${name}0" | sort)" "$(ours | sort)"
sql "DROP DATABASE $living"
sql "DROP DATABASE ${name}0"
tap_same "nothing else was touched" "$before" "$(everything)"

long_run "interrupted" 1
kill -INT "$pid"
wait "$pid"
tap_same "an interrupt ends with its own code" 130 $?
tap_same "and leaves nothing" "$before" "$(everything)"
tap_end
