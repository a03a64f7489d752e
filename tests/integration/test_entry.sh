#!/usr/bin/env bash
# The entry point ./fencepost and the test driver, over a tree with a main() of a few lines.
set -u
root=${FENCEPOST_ROOT:?}
. "$root/tests/lib/tap.sh"
unset FENCEPOST_ROOT FENCEPOST_BUILD FENCEPOST_BIN FENCEPOST_PRESET FENCEPOST_TIMEOUT_FACTOR

tree="$tap_dir/a tree"
mkdir -p "$tree"/sim/cli "$tree"/sim/core "$tree"/tests/unit "$tree"/tests/golden
cp -r "$root"/{fencepost,CMakeLists.txt,CMakePresets.json,cmake,tools} "$tree/"
cp -r "$root/tests/lib" "$tree/tests/"
rm -f "$tree"/tests/lib/*.c
cp "$root/sim/rt.h" "$tree/sim/"
cp "$root"/sim/core/{base,err}.h "$tree/sim/core/"

# program MARK: prints MARK and its arguments, exits with 7.
program() {
    cat >"$tree/sim/cli/main.c" <<END
#include <stdio.h>
#include "fp_version.h"
int main(int argc, char **argv)
{
    printf("$1 %s %s", FP_VERSION, FP_GIT_COMMIT);
    for (int i = 1; i < argc; i++) {
        printf(" [%s]", argv[i]);
    }
    return 7;
}
END
}

program first
said=$("$tree/fencepost" 'a  b' '' c 2>"$tap_dir/notes")
tap_same test_entry_first_call_builds_and_passes_on "7 first 0.1.0 unknown [a  b] [] [c]" "$? $said"
tap_same test_entry_first_call_says_so_in_one_line "fencepost: building (dev)" "$(cat "$tap_dir/notes")"

ln -s "$tree/fencepost" "$tap_dir/link"
said=$(cd / && "$tap_dir/link" x 2>&1)
tap_same test_entry_link_from_elsewhere_does_not_build_again "first 0.1.0 unknown [x]" "$said"

program second
said=$("$tree/fencepost" 2>/dev/null)
tap_same test_entry_changed_source_builds_again "second 0.1.0 unknown" "$said"

echo 'broken' >>"$tree/sim/cli/main.c"
said=$("$tree/fencepost" 2>&1)
tap_same test_entry_failed_build_is_infrastructure 3 $?
tap_match test_entry_failed_build_shows_why 'main\.c:[0-9]+.*error' "$said"
program third

said=$(PKG_CONFIG_LIBDIR=/nonexistent FENCEPOST_NO_INSTALL=1 "$tree/fencepost" 2>&1)
tap_same test_entry_missing_package_is_infrastructure 3 $?
tap_match test_entry_missing_package_is_named 'missing: libpq-dev libfyaml-dev' "$said"

# ---- the driver ----

cat >"$tree/tests/unit/test_sample.c" <<'END'
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_good(void **state)
{
    (void)state;
    assert_null(getenv("SAMPLE_CRASH"));
}

static void test_skipped(void **state)
{
    (void)state;
    skip();
}

static void test_maybe(void **state)
{
    (void)state;
    assert_null(getenv("SAMPLE_FAIL"));
    if (getenv("SAMPLE_ABORT")) {
        _Exit(3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_maybe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
END
printf 'echo ok - a\necho "ok - b # SKIP"\necho ok - c\n' >"$tree/tests/unit/test_tap.sh"
printf '# fencepost-test: timeout=1\nsleep "${SAMPLE_SLEEP:-0}"\n' >"$tree/tests/golden/test_plain.sh"
printf 'exit 77\n' >"$tree/tests/golden/test_skip.sh"

# counts NAME EXPECTED [VARIABLE=VALUE...]: the status and the last line of `test --quick`.
counts() {
    local name=$1 expected=$2 status
    shift 2
    env "$@" "$tree/fencepost" test --quick >"$tap_dir/out" 2>&1
    status=$?
    tap_same "test_entry_tests_$name" "$expected" "$status $(tail -n 1 "$tap_dir/out")"
}

counts all_pass "0 5 passed, 0 failed, 3 skipped"
tap_match test_entry_tests_skips_are_named 'skipped: test_skipped.*skipped: # SKIP' \
    "$(sort -r "$tap_dir/out" | tr '\n' ' ')"
counts one_function_fails "1 4 passed, 1 failed, 3 skipped" SAMPLE_FAIL=1
counts binary_dies "1 4 passed, 1 failed, 2 skipped" SAMPLE_ABORT=1
counts script_times_out "1 4 passed, 1 failed, 3 skipped" SAMPLE_SLEEP=60
tap_match test_entry_tests_timeout_is_named 'ended by the timeout of 1 s' "$(cat "$tap_dir/out")"

"$tree/fencepost" test --preset dev -R no-such-test >"$tap_dir/out" 2>&1
tap_same test_entry_tests_none_chosen "4 0 passed, 0 failed, 0 skipped" "$? $(tail -n 1 "$tap_dir/out")"
"$tree/fencepost" test --no-such-option >/dev/null 2>&1
tap_same test_entry_tests_unknown_option_is_usage 64 $?

mkdir "$tree/.ci" && cp "$root/.ci/run" "$tree/.ci/"
said=$(bash "$tree/.ci/run" --quick 2>&1)
tap_match test_entry_ci_fails_when_something_is_skipped '^1 .*something was skipped' "$? $said"
rm "$tree"/tests/golden/test_skip.sh "$tree"/tests/unit/test_tap.sh
sed -i '/unit_test(test_skipped)/d; s/static void test_skipped/__attribute__((unused)) &/' "$tree/tests/unit/test_sample.c"
said=$(bash "$tree/.ci/run" --quick 2>&1)
tap_match test_entry_ci_passes_when_nothing_is '^0 .*, 0 failed, 0 skipped$' "$? $said"

tap_end
