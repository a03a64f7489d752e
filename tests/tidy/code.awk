# The part of tidy.sh that reads C: who calls and who includes what. The tables come in as the
# variables bans, includes and libraries.

function breach(rule, what)
{
    print FILENAME ":" FNR ": " rule ": " what
    bad = 1
}

# A shell pattern of these tables (only * is special, and it crosses slashes) as a regular expression.
function pattern_regex(pattern)
{
    gsub(/\./, "[.]", pattern)
    gsub(/\*/, ".*", pattern)
    return "^" pattern "$"
}

# Does `word` match one of fields[from..count]?
function matches_any(word, fields, from, count,    i)
{
    for (i = from; i <= count; i++) {
        if (word ~ pattern_regex(fields[i])) {
            return 1
        }
    }
    return 0
}

# The line without comments and with its strings and characters emptied. Keeps the state of block
# comments from line to line.
function strip(line,    out, c, two, quote, i, n)
{
    out = ""
    quote = ""
    n = length(line)
    for (i = 1; i <= n; i++) {
        c = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (quote != "") {
            if (c == "\\") { i++ } else if (c == quote) { quote = ""; out = out c }
        } else if (two == "/*") {
            in_comment = 1
            i++
            out = out " "
        } else if (two == "//") {
            break
        } else {
            if (c == "\"" || c == "'") { quote = c }
            out = out c
        }
    }
    return out
}

function check_bans(code,    i)
{
    for (i = 1; i <= ban_count; i++) {
        if (code ~ ban_regex[i] && !ban_is_owner[i]) {
            breach("ban", ban_name[i] "() belongs to other files, see tests/tidy/bans.txt")
        }
    }
}

# The include rule of this file, once per file.
function find_include_rule(    i, count, fields)
{
    rule = ""
    for (i = 1; i <= include_count; i++) {
        count = split(include_line[i], fields, /[ \t]+/)
        if (FILENAME ~ pattern_regex(fields[1])) {
            rule = include_line[i]
            return
        }
    }
}

function check_own_include(header,    count, fields, i, folder, parts)
{
    if (rule == "") {
        return
    }
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    count = split(rule, fields, /[ \t]+/)
    split(FILENAME, parts, "/")
    for (i = 2; i <= count; i++) {
        if (fields[i] == "@own") {
            if (index(header, folder) == 1) {
                return
            }
        } else if (fields[i] == "@sql") {
            if (header == parts[2] "_sql.h") {
                return
            }
        } else if (header ~ pattern_regex(fields[i])) {
            return
        }
    }
    # A bare name is a neighbour, except for the generated ones.
    if (header !~ /\// && header !~ /_sql[.]h$/ && header != "fp_version.h") {
        return
    }
    breach("include", "\"" header "\" is not for this folder, see tests/tidy/includes.txt")
}

function check_library(header,    i, count, fields)
{
    for (i = 1; i <= library_count; i++) {
        count = split(library_line[i], fields, /[ \t]+/)
        if (header == fields[1] && !matches_any(FILENAME, fields, 2, count)) {
            breach("library", "<" header "> is not for this folder, see tests/tidy/libraries.txt")
        }
    }
}

function check_include(line,    header)
{
    header = line
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", header)
    sub(/[">].*$/, "", header)
    check_library(header)
    if (line ~ /"/) {
        check_own_include(header)
    }
}

function begin_file(    i, count, fields)
{
    in_comment = 0
    find_include_rule()
    for (i = 1; i <= ban_count; i++) {
        count = split(ban_line[i], fields, /[ \t]+/)
        ban_is_owner[i] = matches_any(FILENAME, fields, 2, count)
    }
}

BEGIN {
    ban_count = split(bans, ban_line, "\n")
    for (i = 1; i <= ban_count; i++) {
        sub(/[ \t]+$/, "", ban_line[i])
        split(ban_line[i], words, /[ \t]+/)
        ban_name[i] = words[1]
        ban_regex[i] = "(^|[^A-Za-z0-9_.>])" words[1] "[ ]*[(]"
    }
    include_count = split(includes, include_line, "\n")
    library_count = split(libraries, library_line, "\n")
}

FNR == 1 { begin_file() }

{
    was_in_comment = in_comment
    code = strip($0)
    check_bans(code)
    if (!was_in_comment && $0 ~ /^[ \t]*#[ \t]*include[ \t]*["<]/) {
        check_include($0)
    }
}

END { exit bad }
