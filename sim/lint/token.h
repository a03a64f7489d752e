/* SQL text as tokens, as PostgreSQL reads it: comments (also nested ones), strings with quotes,
 * escapes and dollar signs, quoted identifiers. What stands in them is never taken for SQL. */
#ifndef FENCEPOST_LINT_TOKEN_H
#define FENCEPOST_LINT_TOKEN_H

#include "sim/core/arena.h"

enum token_kind {
    TOKEN_WORD,   /* a keyword or an unquoted name, in lower case */
    TOKEN_NAME,   /* a quoted identifier, without its quotes */
    TOKEN_STRING, /* without its quotes; escapes of E'' strings are left as they are */
    TOKEN_BODY,   /* a string between dollar quotes: often SQL itself */
    TOKEN_NUMBER,
    TOKEN_PARAM, /* $1, or :name and %(name)s of a client library */
    TOKEN_SIGN,  /* an operator or a bracket, comma, point, semicolon */
    TOKEN_END,   /* after the last; `text` says what is wrong with the text, or is "" */
};

struct token {
    struct token *next; /* NULL after TOKEN_END */
    enum token_kind kind;
    const char *text;
    int line, column; /* from 1; of a TOKEN_BODY: of its first character */
};

/* All tokens of the text, which begins at this line and column. They live in the arena. Never NULL:
 * the last one is TOKEN_END. */
const struct token *tokens_of(struct arena *arena, const char *text, int line, int column);

bool token_is_word(const struct token *token, const char *word);
bool token_is_sign(const struct token *token, const char *sign);
/* Can it be the name of something? */
bool token_is_name(const struct token *token);

#endif
