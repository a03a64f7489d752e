#include "sim/lint/token.h"

#include <ctype.h>
#include <string.h>

struct reader {
    struct arena *arena;
    const char *at;
    int line, column;
    struct token *first;
    struct token **end; /* where the next one goes */
    const char *wrong;  /* NULL: nothing */
};

/* ---- characters ---- */

/* A character of several bytes is one column. */
static bool is_continued(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static void step(struct reader *reader, size_t count)
{
    for (; count > 0 && *reader->at != '\0'; count--, reader->at++) {
        if (*reader->at == '\n') {
            reader->line++;
            reader->column = 1;
        } else if (!is_continued(reader->at[1]) || reader->at[1] == '\0') {
            reader->column++;
        }
    }
}

static bool starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool goes_on_in_name(char c)
{
    return starts_name(c) || isdigit((unsigned char)c) || c == '$';
}

static bool looks_at(const struct reader *reader, const char *text)
{
    return strncmp(reader->at, text, strlen(text)) == 0;
}

/* ---- tokens ---- */

static struct token *add(struct reader *reader, enum token_kind kind, const char *text)
{
    struct token *token = arena_alloc(reader->arena, sizeof *token);

    *token =
        (struct token){.kind = kind, .text = text, .line = reader->line, .column = reader->column};
    *reader->end = token;
    reader->end = &token->next;
    return token;
}

static char *cut(struct reader *reader, size_t size)
{
    return arena_printf(reader->arena, "%.*s", (int)size, reader->at);
}

static void add_and_step(struct reader *reader, enum token_kind kind, size_t size)
{
    add(reader, kind, cut(reader, size));
    step(reader, size);
}

/* ---- what is no token ---- */

static void skip_line(struct reader *reader)
{
    step(reader, strcspn(reader->at, "\n"));
}

static void skip_comment(struct reader *reader)
{
    int depth = 0;

    do {
        bool opens = looks_at(reader, "/*");
        bool closes = looks_at(reader, "*/");
        depth += opens - closes;
        step(reader, opens || closes ? 2 : 1);
    } while (depth > 0 && *reader->at != '\0');
    if (depth > 0)
        reader->wrong = "a comment is not ended";
}

/* ---- strings ---- */

/* From the opening quote to the closing one, or to the end of the text. */
static size_t quoted_size(const char *at, bool escapes)
{
    char quote = *at;
    size_t size = 1;

    for (; at[size] != '\0'; size++) {
        bool takes_next =
            (escapes && at[size] == '\\') || (at[size] == quote && at[size + 1] == quote);
        if (takes_next && at[size + 1] != '\0')
            size++;
        else if (at[size] == quote)
            break;
    }
    return size;
}

/* From the opening quote. A doubled quote stands for one; with `escapes` a backslash takes the next
 * character along. */
static void read_quoted(struct reader *reader, enum token_kind kind, bool escapes)
{
    char quote = *reader->at;
    struct token *token = add(reader, kind, "");
    char *text = arena_alloc(reader->arena, quoted_size(reader->at, escapes) + 1);
    size_t size = 0;

    token->text = text;
    step(reader, 1);
    while (*reader->at != '\0') {
        bool is_escape = escapes && *reader->at == '\\' && reader->at[1] != '\0';
        bool is_double = *reader->at == quote && reader->at[1] == quote;
        if (*reader->at == quote && !is_double) {
            step(reader, 1);
            return;
        }
        if (is_escape || is_double)
            step(reader, 1);
        text[size++] = *reader->at;
        step(reader, 1);
    }
    reader->wrong = kind == TOKEN_NAME ? "a quoted name is not ended" : "a string is not ended";
}

/* The size of "$tag$" where the reader stands; 0: there is none. */
static size_t dollar_tag_size(const struct reader *reader)
{
    size_t size = 1;

    if (*reader->at != '$' || isdigit((unsigned char)reader->at[1]))
        return 0;
    while (goes_on_in_name(reader->at[size]) && reader->at[size] != '$')
        size++;
    return reader->at[size] == '$' ? size + 1 : 0;
}

static void read_body(struct reader *reader, size_t tag_size)
{
    const char *tag = cut(reader, tag_size);

    step(reader, tag_size);
    const char *end = strstr(reader->at, tag);
    if (end == NULL)
        reader->wrong = "a dollar-quoted string is not ended";
    add_and_step(reader, TOKEN_BODY, end != NULL ? (size_t)(end - reader->at) : strlen(reader->at));
    step(reader, tag_size);
}

/* ---- the rest ---- */

/* The text that stays: what comes first and has letters before its quote, as in E'' and U&"". */
static bool read_prefixed(struct reader *reader)
{
    char letter = (char)tolower((unsigned char)*reader->at);
    size_t size = letter == 'u' && reader->at[1] == '&' ? 2 : 1;
    char quote = reader->at[size];

    if (letter != '\0' && strchr("ebxn", letter) != NULL && quote == '\'') {
        step(reader, 1);
        read_quoted(reader, TOKEN_STRING, letter == 'e');
        return true;
    }
    if (size == 2 && (quote == '\'' || quote == '"')) {
        step(reader, 2);
        read_quoted(reader, quote == '"' ? TOKEN_NAME : TOKEN_STRING, false);
        return true;
    }
    return false;
}

static void read_word(struct reader *reader)
{
    size_t size = 1;

    while (goes_on_in_name(reader->at[size]))
        size++;
    char *text = cut(reader, size);
    for (char *c = text; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    add(reader, TOKEN_WORD, text);
    step(reader, size);
}

static void read_number(struct reader *reader)
{
    size_t size = 1;

    while (isalnum((unsigned char)reader->at[size]) || reader->at[size] == '.' ||
           reader->at[size] == '_')
        size++;
    add_and_step(reader, TOKEN_NUMBER, size);
}

static size_t param_size(const struct reader *reader)
{
    const char *at = reader->at;
    size_t size = 1;

    if (at[0] == '$' && isdigit((unsigned char)at[1])) {
        while (isdigit((unsigned char)at[size]))
            size++;
        return size;
    }
    if (at[0] == ':' && starts_name(at[1])) {
        while (goes_on_in_name(at[size]))
            size++;
        return size;
    }
    if (at[0] == '%' && at[1] == '(') {
        size = strcspn(at, ")\n");
        return at[size] == ')' && at[size + 1] == 's' ? size + 2 : 0;
    }
    return 0;
}

/* The longest run that is one operator for us. A comment may begin in it. */
static size_t sign_size(const struct reader *reader)
{
    static const char *const signs[] = {
        "<=", ">=", "<>", "!=", "::", ":=", "||", "->>", "->", "=>"};

    for (size_t i = 0; i < FP_COUNT(signs); i++)
        if (looks_at(reader, signs[i]))
            return strlen(signs[i]);
    return 1;
}

static void read_token(struct reader *reader)
{
    char c = *reader->at;
    size_t tag_size = dollar_tag_size(reader);

    if (tag_size > 0)
        read_body(reader, tag_size);
    else if (param_size(reader) > 0)
        add_and_step(reader, TOKEN_PARAM, param_size(reader));
    else if (c == '\'' || c == '"')
        read_quoted(reader, c == '"' ? TOKEN_NAME : TOKEN_STRING, false);
    else if (read_prefixed(reader))
        return;
    else if (starts_name(c))
        read_word(reader);
    else if (isdigit((unsigned char)c))
        read_number(reader);
    else
        add_and_step(reader, TOKEN_SIGN, sign_size(reader));
}

const struct token *tokens_of(struct arena *arena, const char *text, int line, int column)
{
    struct reader reader = {.arena = arena, .at = text, .line = line, .column = column};

    reader.end = &reader.first;
    while (*reader.at != '\0')
        if (isspace((unsigned char)*reader.at))
            step(&reader, 1);
        else if (looks_at(&reader, "--") || *reader.at == '\\') /* also psql's own commands */
            skip_line(&reader);
        else if (looks_at(&reader, "/*"))
            skip_comment(&reader);
        else
            read_token(&reader);
    add(&reader, TOKEN_END, reader.wrong != NULL ? reader.wrong : "");
    return reader.first;
}

bool token_is_word(const struct token *token, const char *word)
{
    return token->kind == TOKEN_WORD && strcmp(token->text, word) == 0;
}

bool token_is_sign(const struct token *token, const char *sign)
{
    return token->kind == TOKEN_SIGN && strcmp(token->text, sign) == 0;
}

bool token_is_name(const struct token *token)
{
    return token->kind == TOKEN_WORD || token->kind == TOKEN_NAME;
}
