#!/usr/bin/env bash
# Every weakness has its row in the table of its strategy, and no row is about one that is gone. The
# figures are of the run that wrote them: ./fencepost selftest STRATEGY --markdown FILE writes anew.
set -u
root=${FENCEPOST_ROOT:?}
bin=${FENCEPOST_BIN:?}
. "$root/tests/lib/tap.sh"

# rows STRATEGY: "WEAKNESS SCENARIO" of each row of its table.
rows() {
    sed -n "/^<!-- selftest $1 -->\$/,/^<!-- end of selftest -->\$/p" "$root/reference_impl/$1/README.md" |
        awk -F '|' 'NF > 5 { split($5, words, " "); gsub(/ /, "", $2); print $2, words[1] }' | sed 1,2d
}

"$bin" list weaknesses --json >"$tap_dir/weaknesses"
for strategy in $(jq -r '[.[].strategy] | unique[]' "$tap_dir/weaknesses"); do
    tap_same "test_table_of_${strategy}_has_every_weakness" \
        "$(jq -r ".[] | select(.strategy == \"$strategy\") | .name" "$tap_dir/weaknesses")" \
        "$(rows "$strategy" | cut -d ' ' -f 1)"
    gone=$(rows "$strategy" | while read -r _ scenario; do
        [ "$scenario" = none ] || [ -e "$root/scenarios/$strategy/$scenario.yaml" ] || echo "$scenario"
    done)
    tap_same "test_table_of_${strategy}_names_scenarios_that_exist" "" "$gone"
done
tap_end
