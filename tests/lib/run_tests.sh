#!/usr/bin/env bash
# Builds and runs the tests; `./fencepost test` comes here. The last line on standard output is
# "N passed, N failed, N skipped", over all presets.
set -u

root=${FENCEPOST_ROOT:-$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")}
exit_infrastructure=3 exit_nothing_ran=4 exit_usage=64 exit_interrupted=130

usage() {
    cat <<'END'
usage: ./fencepost test [OPTION...]

  With no option: every test, built plainly and again with AddressSanitizer and
  UndefinedBehaviorSanitizer; then the fuzz targets look for new inputs, a minute
  each (with clang).

  --quick        unit, tidy and golden tests only, built plainly
  --sanitize     with --quick: with the sanitizers as well
  --preset NAME  only this CMake preset; may be given more than once
  --fuzz         only the fuzz targets, looking for new inputs
  -R REGEX       only tests whose name matches
END
}

presets=() selection=() quick=0 sanitize=0
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=1 ;;
    --sanitize) sanitize=1 ;;
    --fuzz) presets+=(fuzz) ;;
    --preset | -R)
        [ $# -ge 2 ] || { echo "fencepost test: $1 needs a value" >&2; exit $exit_usage; }
        if [ "$1" = -R ]; then selection+=(-R "$2"); else presets+=("$2"); fi
        shift
        ;;
    -h | --help) usage; exit 0 ;;
    *)
        echo "fencepost test: unknown option $1" >&2
        usage >&2
        exit $exit_usage
        ;;
    esac
    shift
done
[ $quick = 1 ] && selection+=(-L '^(unit|tidy|golden)$')
if [ ${#presets[@]} = 0 ]; then
    presets=(dev)
    [ $quick = 1 ] && [ $sanitize = 0 ] || presets+=(asan-ubsan)
    [ $quick = 1 ] || [ ${#selection[@]} -gt 0 ] || presets+=(fuzz)
fi

export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export CTEST_PROGRESS_OUTPUT=0
passed=0 failed=0 skipped=0 status=0
trap 'exit $exit_interrupted' INT

# run_preset NAME: adds to the three counts.
run_preset() {
    local preset=$1 build=$root/build/$1 tally p f s
    if ! FENCEPOST_PRESET=$preset "$root/fencepost" build; then
        echo "$preset: the build failed"
        failed=$((failed + 1))
        status=$exit_infrastructure
        return
    fi
    rm -rf "$build/tally"
    echo "== $preset"
    ctest --test-dir "$build" -j2 --output-on-failure --no-tests=ignore "${selection[@]}"
    for tally in "$build"/tally/*; do
        case $tally in *.log | *'*') continue ;; esac
        read -r p f s <"$tally"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        # ctest shows what failed only; why something was skipped must be seen as well.
        [ "$s" = 0 ] || sed -nE 's/^ok .*(# *SKIP.*)/skipped: \1/p; s/^\[  SKIPPED \] ([a-z_]+.*)/skipped: \1/p' "$tally.log"
    done
}

for preset in "${presets[@]}"; do
    run_preset "$preset"
done
if [ $status = 0 ]; then
    [ $failed = 0 ] || status=1
    [ $((passed + failed + skipped)) -gt 0 ] || status=$exit_nothing_ran
fi
echo "$passed passed, $failed failed, $skipped skipped"
exit $status
