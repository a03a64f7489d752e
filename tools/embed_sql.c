/* Turns .sql files into C, so that SQL stays in files that psql can run.
 *
 *     embed_sql PREFIX OUT.h OUT.c [--whole FILE...] [--named FILE...]
 *
 * A whole file dir/schema.sql becomes `const char PREFIX_schema_sql[]`. A named file is a list of
 * blocks, each one statement:
 *
 *     -- name: acquire_insert
 *     -- Comment lines up to the statement are for the reader and are not embedded.
 *     INSERT INTO locks (resource, owner) VALUES ($1, $2);
 *
 * and each becomes `const struct rt_sql PREFIX_acquire_insert` with the name, the text and 2, the
 * number of its parameters; `PREFIX_statements` lists them all.
 * Mistakes are printed as file:line: message, all of them, and nothing is written then. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COUNT_MAX 1024
#define NAME_SIZE_MAX 64
#define PARAM_COUNT_MAX 64

struct output {
    const char *prefix;
    FILE *header;
    FILE *source;
    int mistake_count;
    int name_count;
    struct {
        char name[NAME_SIZE_MAX];
        const char *file;
        int line;
    } names[NAME_COUNT_MAX];
};

/* One `-- name:` block while it is read. */
struct block {
    const char *file;
    char name[NAME_SIZE_MAX];
    int line;      /* of its `-- name:` */
    int text_line; /* where the statement begins; 0: not yet */
    char *text;    /* up to the next block; freed with free() */
    size_t size;
};

__attribute__((format(printf, 4, 5))) static void mistake(struct output *out, const char *file,
                                                          int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    out->mistake_count++;
}

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "embed_sql: %s: %s\n", what, strerror(errno));
    exit(1);
}

static FILE *memory_open(char **text, size_t *size)
{
    FILE *stream = open_memstream(text, size);
    if (!stream)
        give_up("memory");
    return stream;
}

/* The whole file, terminated. Caller frees. */
static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        give_up(path);
    char *text = NULL;
    size_t size = 0;
    FILE *copy = memory_open(&text, &size);
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        fputc(c, copy);
    if (ferror(file) || fclose(copy))
        give_up(path);
    fclose(file);
    return text;
}

/* Writes only what differs, so that nothing is compiled again for a change that changes nothing. */
static void file_write(const char *path, const char *text, size_t size)
{
    FILE *old = fopen(path, "rb");
    if (old) {
        fclose(old);
        char *old_text = file_read(path);
        bool same = strcmp(old_text, text) == 0;
        free(old_text);
        if (same)
            return;
    }
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file))
        give_up(path);
}

/* ---- a statement's parameters ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_end(char c)
{
    return c == '\0';
}

/* Past the closing `quote`; a doubled one stays inside. NULL: it is never closed. */
static const char *skip_quoted(const char *at, char quote, bool backslashes)
{
    assert(*at == quote);
    for (at++; !is_end(*at); at++)
        if (backslashes && *at == '\\' && !is_end(at[1]))
            at++;
        else if (*at == quote && at[1] == quote)
            at++;
        else if (*at == quote)
            return at + 1;
    return NULL;
}

static const char *skip_block_comment(const char *at)
{
    assert(at[0] == '/' && at[1] == '*');
    int depth = 0;
    while (!is_end(*at)) {
        if (at[0] == '/' && at[1] == '*') {
            depth++;
            at += 2;
        } else if (at[0] == '*' && at[1] == '/') {
            at += 2;
            if (--depth == 0)
                return at;
        } else {
            at++;
        }
    }
    return NULL;
}

/* At the $ of $tag$. Past the closing tag; `at` itself when none begins here; NULL: not closed. */
static const char *skip_dollar_quoted(const char *at)
{
    assert(*at == '$');
    const char *tag_end = at + 1;
    while (is_word(*tag_end))
        tag_end++;
    if (*tag_end != '$' || isdigit((unsigned char)at[1]))
        return at;
    size_t tag_size = (size_t)(tag_end - at) + 1;
    for (const char *end = at + tag_size; !is_end(*end); end++)
        if (strncmp(end, at, tag_size) == 0)
            return end + tag_size;
    return NULL;
}

/* Past one word, with the string that E'...' opens. NULL: the string is not closed. */
static const char *skip_word(const char *at)
{
    bool escape_string = (*at == 'E' || *at == 'e') && at[1] == '\'';
    if (escape_string)
        return skip_quoted(at + 1, '\'', true);
    while (is_word(*at) || *at == '$')
        at++;
    return at;
}

/* Past whatever is not plain text at `at`: words, strings, comments. `at` itself: it is plain.
 * NULL: something is opened here and never closed. */
static const char *skip_opaque(const char *at)
{
    if (at[0] == '-' && at[1] == '-')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*')
        return skip_block_comment(at);
    if (*at == '\'' || *at == '"')
        return skip_quoted(at, *at, false);
    if (*at == '$')
        return skip_dollar_quoted(at);
    return is_word(*at) ? skip_word(at) : at;
}

static int line_at(const struct block *block, const char *at)
{
    int line = block->text_line;
    for (const char *c = block->text; c < at; c++)
        line += *c == '\n';
    return line;
}

/* The highest $N. Mistakes: a gap below it, a second statement, something left open. */
static int count_params(struct output *out, const struct block *block)
{
    bool used[PARAM_COUNT_MAX + 1] = {false};
    int count = 0;
    const char *at = block->text;
    while (!is_end(*at)) {
        const char *next = skip_opaque(at);
        if (!next) {
            mistake(out, block->file, line_at(block, at),
                    "a string or comment that begins here is not closed");
            return 0;
        }
        if (next > at) {
            at = next;
            continue;
        }
        if (*at == ';') {
            mistake(out, block->file, line_at(block, at),
                    "block %s has more than one statement, or a comment after its end",
                    block->name);
            return 0;
        }
        if (*at == '$' && isdigit((unsigned char)at[1])) {
            char *end = NULL;
            long number = strtol(at + 1, &end, 10);
            if (number < 1 || number > PARAM_COUNT_MAX) {
                mistake(out, block->file, line_at(block, at), "parameter $%ld is not in 1..%d",
                        number, PARAM_COUNT_MAX);
                return 0;
            }
            used[number] = true;
            count = number > count ? (int)number : count;
            at = end;
            continue;
        }
        at++;
    }
    for (int i = 1; i < count; i++) {
        if (!used[i]) {
            mistake(out, block->file, block->line, "block %s uses $%d but not $%d", block->name,
                    count, i);
        }
    }
    return count;
}

/* ---- C text ---- */

static void write_literal(FILE *file, const char *text)
{
    fputs("\n    \"", file);
    for (; !is_end(*text); text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n')
            fputs(is_end(text[1]) ? "\\n" : "\\n\"\n    \"", file);
        else if (c == '"' || c == '\\' || c == '?') /* ? for trigraphs */
            fprintf(file, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(file, "\\%03o", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void write_block(struct output *out, const struct block *block, int param_count)
{
    fprintf(out->header, "extern const struct rt_sql %s_%s;\n", out->prefix, block->name);
    fprintf(out->source, "\nconst struct rt_sql %s_%s = {\n    \"%s\",", out->prefix, block->name,
            block->name);
    write_literal(out->source, block->text);
    fprintf(out->source, ",\n    %d,\n};\n", param_count);
}

/* All statements, in the order of the files, ended by NULL. */
static void write_list(struct output *out)
{
    fprintf(out->header, "extern const struct rt_sql *const %s_statements[];\n", out->prefix);
    fprintf(out->source, "\nconst struct rt_sql *const %s_statements[] = {\n", out->prefix);
    for (int i = 0; i < out->name_count; i++)
        fprintf(out->source, "    &%s_%s,\n", out->prefix, out->names[i].name);
    fputs("    NULL,\n};\n", out->source);
}

/* ---- reading blocks ---- */

static bool name_is_good(const char *name)
{
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return size > 0 && size < NAME_SIZE_MAX && is_end(name[size]) && !isdigit((unsigned char)*name);
}

/* False, with a mistake, when the name was there before. */
static bool name_add(struct output *out, const char *name, const char *file, int line)
{
    for (int i = 0; i < out->name_count; i++) {
        if (strcmp(out->names[i].name, name) == 0) {
            mistake(out, file, line, "the name %s is used twice, first at %s:%d", name,
                    out->names[i].file, out->names[i].line);
            return false;
        }
    }
    if (out->name_count == NAME_COUNT_MAX) {
        mistake(out, file, line, "more than %d names", NAME_COUNT_MAX);
        return false;
    }
    assert(strlen(name) < NAME_SIZE_MAX);
    strcpy(out->names[out->name_count].name, name);
    out->names[out->name_count].file = file;
    out->names[out->name_count].line = line;
    out->name_count++;
    return true;
}

/* Blank lines and lines that are only a comment. */
static bool line_is_empty(const char *line)
{
    line += strspn(line, " \t\r");
    return *line == '\n' || is_end(*line) || strncmp(line, "--", 2) == 0;
}

/* Drop what follows the statement: blank lines, comment lines, one semicolon. */
static void trim_end(char *text)
{
    for (;;) {
        size_t size = strlen(text);
        while (size > 0 && isspace((unsigned char)text[size - 1]))
            text[--size] = '\0';
        char *last = strrchr(text, '\n');
        if (!last || !line_is_empty(last + 1))
            break;
        *last = '\0';
    }
    size_t size = strlen(text);
    if (size > 0 && text[size - 1] == ';')
        text[size - 1] = '\0';
}

static void block_end(struct output *out, struct block *block)
{
    if (is_end(*block->name))
        return;
    trim_end(block->text);
    if (is_end(*block->text)) {
        mistake(out, block->file, block->line, "block %s has no statement", block->name);
        return;
    }
    int param_count = count_params(out, block);
    write_block(out, block, param_count);
}

/* The name behind `-- name:`, or NULL for any other line. Points into a static buffer. */
static const char *line_name(const char *line)
{
    static char name[256];
    static const char mark[] = "-- name:";
    if (strncmp(line, mark, sizeof mark - 1) != 0)
        return NULL;
    const char *start = line + sizeof mark - 1;
    start += strspn(start, " \t");
    size_t size = strcspn(start, "\r\n");
    while (size > 0 && isspace((unsigned char)start[size - 1]))
        size--;
    snprintf(name, sizeof name, "%.*s", (int)size, start);
    return name;
}

/* Starts a block; with a bad name the block has none and its text is ignored. */
static void block_begin(struct output *out, struct block *block, const char *name, int line)
{
    block->name[0] = '\0';
    block->line = line;
    block->text_line = 0;
    if (!name_is_good(name)) {
        mistake(out, block->file, line,
                "\"%s\" is not a name: a-z, 0-9 and _, at most %d characters", name,
                NAME_SIZE_MAX - 1);
        return;
    }
    if (name_add(out, name, block->file, line))
        strcpy(block->name, name);
}

static void embed_named(struct output *out, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        give_up(path);
    struct block block = {.file = path};
    FILE *text = memory_open(&block.text, &block.size);
    char *line = NULL;
    size_t capacity = 0;
    int block_count = 0;
    for (int number = 1; getline(&line, &capacity, file) >= 0; number++) {
        const char *name = line_name(line);
        if (name) {
            fclose(text);
            block_end(out, &block);
            free(block.text);
            text = memory_open(&block.text, &block.size);
            block_begin(out, &block, name, number);
            block_count++;
            continue;
        }
        if (block.text_line == 0 && line_is_empty(line))
            continue;
        if (block_count == 0) {
            mistake(out, path, number, "text before the first \"-- name:\"");
            break;
        }
        if (block.text_line == 0)
            block.text_line = number;
        fputs(line, text);
    }
    fclose(text);
    block_end(out, &block);
    free(block.text);
    free(line);
    fclose(file);
}

static void embed_whole(struct output *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[256];
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot)
        *dot = '\0';
    if (!name_is_good(name)) {
        mistake(out, path, 1, "the file's name must be of a-z, 0-9 and _");
        return;
    }
    char *text = file_read(path);
    fprintf(out->header, "extern const char %s_%s_sql[];\n", out->prefix, name);
    fprintf(out->source, "\nconst char %s_%s_sql[] =", out->prefix, name);
    write_literal(out->source, text);
    fputs(";\n", out->source);
    free(text);
}

int main(int argc, char **argv)
{
    if (argc < 4 || !name_is_good(argv[1])) {
        fputs("usage: embed_sql PREFIX OUT.h OUT.c [--whole FILE...] [--named FILE...]\n", stderr);
        return 64;
    }
    static struct output out;
    char *header = NULL, *source = NULL;
    size_t header_size = 0, source_size = 0;
    out.prefix = argv[1];
    out.header = memory_open(&header, &header_size);
    out.source = memory_open(&source, &source_size);
    fprintf(out.header, "/* Generated by embed_sql; do not edit. */\n#pragma once\n\n"
                        "#include \"sim/rt.h\"\n\n");
    fprintf(out.source, "/* Generated by embed_sql; do not edit. */\n#include \"%s_sql.h\"\n",
            out.prefix);

    void (*embed)(struct output *, const char *) = NULL;
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "--whole") == 0) {
            embed = embed_whole;
        } else if (strcmp(argv[i], "--named") == 0) {
            embed = embed_named;
        } else if (embed) {
            embed(&out, argv[i]);
        } else {
            fprintf(stderr, "embed_sql: %s comes before --whole or --named\n", argv[i]);
            return 64;
        }
    }
    if (out.name_count > 0)
        write_list(&out);
    fclose(out.header);
    fclose(out.source);
    if (out.mistake_count == 0) {
        file_write(argv[2], header, header_size);
        file_write(argv[3], source, source_size);
    }
    free(header);
    free(source);
    return out.mistake_count ? 1 : 0;
}
