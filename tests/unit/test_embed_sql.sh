#!/usr/bin/env bash
# tools/embed_sql: what it makes of good files, and what it says of bad ones.
set -u
root=${FENCEPOST_ROOT:-.}
embed=${FENCEPOST_BUILD:?}/embed_sql
. "$root/tests/lib/tap.sh"
cd "$tap_dir" || exit 1

# embeds TEXT: runs it over one named file; the output and the status are in $said and $status.
embeds() {
    printf '%b' "$1" >q.sql
    rm -f out.h out.c
    said=$("$embed" demo out.h out.c --named q.sql 2>&1)
    status=$?
}

# refuses NAME MESSAGE TEXT
refuses() {
    embeds "$3"
    tap_same "test_embed_sql_$1_is_refused" "1 $2" "$status $said"
    tap_ok "test_embed_sql_$1_writes_nothing" test ! -e out.c
}

# What the compiler sees is compared, not how it is written.
cat >show.c <<'END'
#include <stdio.h>
#include "demo_sql.h"
int main(void)
{
    printf("%s|%s|%d\n", demo_one.name, demo_one.text, demo_one.param_count);
    printf("%s|%s|%d\n", demo_two.name, demo_two.text, demo_two.param_count);
    printf("%s", demo_schema_sql);
    return 0;
}
END
cat >one.sql <<'END'
-- Comments before the first name are for the reader.

-- name: one
-- So are these.

INSERT INTO t (a, "b$7", c)
VALUES ($2, $1, 'it''s $9 "x" \ ??)')  -- $8
RETURNING id /* $5 /* nested */ $6 */;

-- about the next
-- name: two
SELECT E'a\'$4', $q$ $3 ; ' $q$, x$2 FROM t
END
printf 'CREATE TABLE t ();\n\n-- end\t"quoted"\n' >schema.sql
tap_ok test_embed_sql_good_files_are_taken \
    "$embed" demo demo_sql.h demo_sql.c --whole schema.sql --named one.sql
tap_ok test_embed_sql_output_compiles \
    gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Werror -I. -I"$root" show.c demo_sql.c -o show
expected='one|INSERT INTO t (a, "b$7", c)
VALUES ($2, $1, '\''it'\'\''s $9 "x" \ ??)'\'')  -- $8
RETURNING id /* $5 /* nested */ $6 */|2
two|SELECT E'\''a\'\''$4'\'', $q$ $3 ; '\'' $q$, x$2 FROM t|0
CREATE TABLE t ();

-- end@"quoted"'
expected=${expected/@/$'\t'}
tap_same test_embed_sql_statements_keep_their_text "$expected" "$(./show)"

touch -d '2001-01-01' demo_sql.c
"$embed" demo demo_sql.h demo_sql.c --whole schema.sql --named one.sql
tap_ok test_embed_sql_same_output_is_not_rewritten test demo_sql.c -ot one.sql

embeds '-- name: ten\nSELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10;\n'
tap_ok test_embed_sql_two_digits_are_one_parameter grep -qx '    10,' out.c
tap_ok test_embed_sql_statements_are_listed grep -qx '    &demo_ten,' out.c

refuses no_statement 'q.sql:1: block a has no statement' '-- name: a\n-- only a comment\n\n-- name: b\nSELECT 1;\n'
refuses no_statement_at_end 'q.sql:3: block b has no statement' '-- name: a\nSELECT 1;\n-- name: b\n'
refuses same_name_twice 'q.sql:3: the name a is used twice, first at q.sql:1' \
    '-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n'
refuses text_before_name 'q.sql:2: text before the first "-- name:"' '-- hello\nSELECT 1;\n-- name: a\nSELECT 1;\n'
refuses bad_name 'q.sql:1: "a b" is not a name: a-z, 0-9 and _, at most 63 characters' '-- name: a b\nSELECT 1;\n'
refuses two_statements 'q.sql:3: block a has more than one statement, or a comment after its end' \
    '-- name: a\n\nSELECT 1; SELECT 2;\n'
refuses open_string 'q.sql:3: a string or comment that begins here is not closed' \
    "-- name: a\nSELECT 1,\n 'x;\n"
refuses open_comment 'q.sql:2: a string or comment that begins here is not closed' '-- name: a\nSELECT /* 1;\n'
refuses parameter_gap 'q.sql:1: block a uses $3 but not $2' '-- name: a\nSELECT $1, $3;\n'
refuses parameter_zero 'q.sql:2: parameter $0 is not in 1..64' '-- name: a\nSELECT $0;\n'
embeds '-- name: a\n-- name: b c\nSELECT $0;\n-- name: d\nSELECT $0;\n'
tap_same test_embed_sql_all_mistakes_are_reported 3 "$(wc -l <<<"$said")"

"$embed" demo out.h out.c --named missing.sql 2>missing.txt
tap_same test_embed_sql_missing_file_is_named "1 embed_sql: missing.sql: No such file or directory" \
    "$? $(cat missing.txt)"
"$embed" 2>/dev/null
tap_same test_embed_sql_no_arguments_is_usage 64 $?

tap_end
