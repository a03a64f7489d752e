#!/usr/bin/env bash
# The tree keeps the house rules, and each rule goes red on a planted breach.
# fencepost-test: timeout=240
set -u
root=${FENCEPOST_ROOT:-.}
tidy=$root/tests/tidy/tidy.sh
. "$root/tests/lib/tap.sh"

tap_ok "test_tidy_tree_is_clean" bash "$tidy" "$root" "${FENCEPOST_BUILD:?}"

tree=$tap_dir/tree

# plant FILE TEXT: a fresh tree that holds this one file.
plant() {
    rm -rf "$tree"
    mkdir -p "$tree/$(dirname "$1")"
    printf '%b' "$2" >"$tree/$1"
}

# breaks RULE FILE TEXT: tidy finds exactly this rule broken, in this file.
breaks() {
    plant "$2" "$3"
    local found
    found=$(bash "$tidy" "$tree")
    tap_match "test_tidy_$1_in_$2_is_found" "^$2:[0-9]+: $1: [^"$'\n'"]*$" "$found"
}

# keeps FILE TEXT WHY: tidy finds nothing.
keeps() {
    plant "$1" "$2"
    tap_ok "test_tidy_$3_in_$1_is_allowed" bash "$tidy" "$tree"
}

word_a=TO word_b=FIX word_c=XX
wide=$(printf 'x%.0s' {1..101})
long=$(printf 'int a;\\n%.0s' {1..701})

breaks tab sim/core/a.c 'int\ta;\n'
breaks trailing-space docs/a.md 'text \n'
breaks open-end sim/core/a.c "/* ${word_a}DO: later */\n"
breaks open-end README.md "${word_b}ME\n"
breaks open-end a.yaml "# ${word_c}X\n"
keeps a.sh "mktemp /tmp/a.${word_c}${word_c}XX\n" name_template
breaks width sim/core/a.c "int $wide;\n"
keeps README.md "$wide\n" width
breaks length sim/core/a.c "$long"
keeps scenarios/bad/a.yaml 'a:\tb \n' wrong_input

breaks ban sim/core/a.c 'long t = time(NULL);\n'
breaks ban sim/core/a.c 'clock_gettime(0, &ts);\n'
keeps sim/core/realtime.c 'clock_gettime(0, &ts);\n' owned_call
breaks ban sim/world/a.c 'int r = rand();\n'
breaks ban sim/world/a.c 'srand(1);\n'
breaks ban sim/pg/a.c 'sleep (1);\n'
breaks ban sim/pg/a.c 'usleep(1);\n'
breaks ban sim/check/a.c 'x = getenv("X");\n'
keeps sim/cli/a.c 'x = getenv("X");\n' owned_call
breaks ban reports/a.c 'sprintf(b, "x");\n'
breaks ban reports/a.c 'strtok(b, ",");\n'
breaks ban sim/pg/a.c 'PQexec(c, "x");\n'
keeps sim/pg/a.c 'PQexecParams(c); fiber_sleep(1); rt_time(2); s = "time(1)"; /* rand() */\n' lookalike
keeps sim/pg/a.c '/* one\n * time(0) */ int a; // sleep(1)\n' comment

breaks include reference_impl/x/actor.c '#include "sim/core/base.h"\n'
breaks include reference_impl/x/actor.c '#include "sim/strategy.h"\n'
breaks include reference_impl/x/actor.c '#include "reference_impl/y/actor.h"\n'
breaks include reference_impl/x/actor.c '#include "y_sql.h"\n'
keeps reference_impl/x/actor.c '#include "sim/rt.h"\n#include "x_sql.h"\n#include "reference_impl/x/a.h"\n' include
keeps reference_impl/x/strategy.c '#include "sim/strategy.h"\n' include
breaks include faults/a.c '#include "sim/pg/session.h"\n'
keeps faults/a.c '#include "sim/core/base.h"\n#include "sim/scenario/fields.h"\n#include "faults/fault.h"\n' include
breaks include sim/check/a.c '#include "faults/fault.h"\n'
keeps sim/check/a.c '#include "sim/core/trace.h"\n#include "sim/strategy.h"\n#include "sim/check/check.h"\n' include
breaks include sim/core/a.c '#include "sim/rt.h"\n'
keeps sim/core/a.c '#include "sim/core/base.h"\n' include
breaks include sim/hunt/a.c '#include "sim/cli/cli.h"\n'
keeps sim/cli/a.c '#include "sim/hunt/shrink.h"\n' include
breaks library sim/core/a.c '#include <libpq-fe.h>\n'
breaks library sim/run/a.c '#include <libpq-fe.h>\n'
keeps sim/pg/a.c '#include <libpq-fe.h>\n' library
breaks library sim/cli/a.c '#include <libfyaml.h>\n'
keeps sim/scenario/a.c '#include <libfyaml.h>\n' library

# compiles TEXT: a build whose reference_impl is this one object file.
compiles() {
    plant sim/core/a.c 'int a;\n'
    local objects=$tree/objects/CMakeFiles/fp_reference_impl.dir/reference_impl/x
    mkdir -p "$objects"
    printf '%b' "$1" | gcc -x c -w -O0 -c -o "$objects/a.c.o" -
}

compiles 'long time(long *); long f(void) { return time(0); }'
tap_match test_tidy_symbol_of_libc_is_found 'symbols: reference code must not use time$' \
    "$(bash "$tidy" "$tree" "$tree/objects")"
compiles 'int PQfinish(void *); int f(void) { return PQfinish(0); }'
tap_match test_tidy_symbol_of_libpq_is_found 'symbols: reference code must not use PQfinish$' \
    "$(bash "$tidy" "$tree" "$tree/objects")"
compiles 'int rt_sleep(int); int g(void) { return rt_sleep(1); } int f(void) { return g(); }'
tap_ok test_tidy_symbol_of_the_seam_is_allowed bash "$tidy" "$tree" "$tree/objects"
plant sim/core/a.c 'int a;\n'
tap_match test_tidy_no_objects_is_found 'symbols: no object files' "$(bash "$tidy" "$tree" "$tree/none")"

tap_end
