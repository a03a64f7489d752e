#!/usr/bin/env bash
# tidy.sh TREE [BUILD]: the house rules, checked. Prints "file:line: rule: what" for each breach and
# exits with 1 when there is one. The tables are the .txt files next to this script.
# With BUILD, also what the object files of reference_impl need from outside.
set -u
export LC_ALL=C

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=${2:-}
[ -z "$build" ] || build=$(readlink -f "$build")
cd "$1" || exit 2

# Inputs of tests may be wrong on purpose.
list_files() {
    find . \( -name .git -o -path ./build -o -path ./out -o -path ./scenarios/bad -o -name corpus \) \
        -prune -o -type f -print | sed 's,^\./,,' | sort
}

is_text() {
    case $1 in
    tests/golden/*.c | tests/golden/*.sh) true ;;
    tests/golden/* | LICENSE) false ;;
    *.c | *.h | *.def | *.sql | *.sh | *.cmake | *.md | *.yaml | *.yml | *.txt | *.json) true ;;
    fencepost | .ci/run) true ;;
    *) false ;;
    esac
}

is_c() { case $1 in *.c | *.h | *.def) true ;; *) false ;; esac; }

# table FILE: without comments and empty lines.
table() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$here/$1"; }

mapfile -t all < <(list_files)
text=() sources=()
for file in "${all[@]}"; do
    is_text "$file" && text+=("$file")
    is_c "$file" && sources+=("$file")
done

# The words are split so that this file does not hold them.
check_text() {
    [ ${#text[@]} -gt 0 ] || return 0
    awk '
        function breach(rule, what) { print FILENAME ":" FNR ": " rule ": " what; bad = 1 }
        /\t/ { breach("tab", "use spaces") }
        /[ \t\r]$/ { breach("trailing-space", "remove it") }
        /(^|[^A-Za-z0-9_])(TO''DO|FIX''ME|X''XX)([^A-Za-z0-9_]|$)/ {
            breach("open-end", "finish it, or write down why not in docs/decisions/")
        }
        FILENAME ~ /\.(c|h|def)$/ && length($0) > 100 { breach("width", length($0) " columns, 100 allowed") }
        FNR == 701 && FILENAME !~ /(^|\/)tests\// && FILENAME ~ /\.(c|h|def|sh|sql|cmake)$/ {
            breach("length", "more than 700 lines, this may be two things")
        }
        END { exit bad }' "${text[@]}"
}

# Bans and includes look at code without comments; bans also without the contents of strings.
check_code() {
    [ ${#sources[@]} -gt 0 ] || return 0
    awk -v bans="$(table bans.txt)" -v includes="$(table includes.txt)" \
        -v libraries="$(table libraries.txt)" -f "$here/code.awk" "${sources[@]}"
}

symbol_is_allowed() {
    local pattern
    for pattern in "${allowed_symbols[@]}"; do
        # shellcheck disable=SC2053 # a pattern on purpose
        [[ $1 == $pattern ]] && return 0
    done
    return 1
}

check_symbols() {
    local folder=$build/CMakeFiles/fp_reference_impl.dir objects defined object symbol status=0
    mapfile -t objects < <(find "$folder" -name '*.o' 2>/dev/null | sort)
    if [ ${#objects[@]} = 0 ]; then
        echo "$folder:0: symbols: no object files there"
        return 1
    fi
    mapfile -t allowed_symbols < <(table symbols.txt)
    defined=" $(nm --defined-only -g -j "${objects[@]}" | tr '\n' ' ') "
    for object in "${objects[@]}"; do
        while read -r symbol; do
            [[ $defined == *" $symbol "* ]] || symbol_is_allowed "$symbol" && continue
            echo "${object#"$folder"/}:0: symbols: reference code must not use $symbol"
            status=1
        done < <(nm -u -j "$object")
    done
    return $status
}

status=0
check_text || status=1
check_code || status=1
if [ -n "$build" ]; then
    check_symbols || status=1
fi
exit $status
