#!/usr/bin/env bash
# What lint says of the files in tests/golden/lint: FILE.sql with FILE.expected. A change of its words is
# made by hand: fencepost lint FILE.sql >FILE.expected, and read.
set -u
root=${FENCEPOST_ROOT:?}
bin=${FENCEPOST_BIN:?}
. "$root/tests/lib/tap.sh"
cd "$root/tests/golden/lint" || exit 1

for file in *.sql; do
    name=${file%.sql}
    said=$("$bin" lint "$file")
    status=$?
    tap_same "test_lint_of_${name}_says_so" "$(cat "$name.expected")" "$said"
    expected=1
    [ "$name" != good ] || expected=0
    tap_same "test_lint_of_${name}_exits_with_$expected" "$expected" "$status"
done

# Several files are one schema, in their order: here the index comes with the second one.
echo 'CREATE TABLE r (idempotency_key text NOT NULL);' >"$tap_dir/1.sql"
echo 'CREATE UNIQUE INDEX i ON r (idempotency_key);' >"$tap_dir/2.sql"
"$bin" lint "$tap_dir/1.sql" >/dev/null
tap_same test_lint_of_the_first_file_alone_finds_it 1 $?
"$bin" lint "$tap_dir/1.sql" "$tap_dir/2.sql" >/dev/null
tap_same test_lint_of_both_files_finds_nothing 0 $?

json=$("$bin" lint --json bad.sql)
tap_same test_lint_json_has_every_finding "$("$bin" lint bad.sql | grep -c '^bad.sql:')" \
    "$(jq '.findings | length' <<<"$json")"
tap_same test_lint_json_has_rule_and_place '"bad.sql" 27 21 "increment"' \
    "$(jq -r '.findings[] | select(.line == 27) | [.file, .line, .column, .rule] | @json' <<<"$json" |
        tr -d '[]' | tr , ' ')"
tap_same test_lint_json_says_what_was_not_judged 4 \
    "$("$bin" lint --json "$tap_dir/1.sql" | jq '.not_judged | length')"

for case in 'no-such-file.sql:64:No such file' 'host=/nonexistent:3:connection to server' \
    'hots=here:64:not a connection string: .*"hots"' "$root/tests/golden:64:cannot be read"; do
    file=${case%%:[0-9]*}
    rest=${case#"$file":}
    said=$("$bin" lint "$file" 2>&1)
    tap_same "test_lint_of_${file##*/}_exits_with_${rest%%:*}" "${rest%%:*}" $?
    tap_match "test_lint_of_${file##*/}_says_why" "${rest#*:}" "$said"
done
printf 'SELECT 1;\0' >"$tap_dir/nul.sql"
"$bin" lint "$tap_dir/nul.sql" 2>/dev/null
tap_same test_lint_of_bytes_exits_with_64 64 $?
tap_end
