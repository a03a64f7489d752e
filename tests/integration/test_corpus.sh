#!/usr/bin/env bash
# Every counterexample of the corpus still fails, without any seed, and in the same way twice.
# fencepost-test: timeout=300
set -u
root=${FENCEPOST_ROOT:?}
. "$root/tests/lib/tap.sh"
bin=${FENCEPOST_BIN:?}
cd "$tap_dir" || exit 1

count=0
for file in "$root"/scenarios/corpus/*.yaml; do
    count=$((count + 1))
    name=$(basename "$file" .yaml)
    json=$("$bin" run "$file" --check-determinism --jobs 1 --json --quiet --out out 2>notes)
    tap_same "test_corpus_${name}_fails_as_it_did" "1 1 true 0" \
        "$(jq -r '"\(.scenarios[0].seeds) \(.scenarios[0].violations) \(.scenarios[0].met) \(.determinism.diverged)"' <<<"$json")"
    tap_ok "test_corpus_${name}_is_written_out" grep -q '^choices:' "$file"
done
tap_ok test_corpus_has_counterexamples test "$count" -ge 1
tap_end
