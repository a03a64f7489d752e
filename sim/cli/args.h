/* Command-line options as tables: one walker does unknown options with a suggestion, missing
 * values, types and ranges; the same tables print the help. */
#ifndef FENCEPOST_ARGS_H
#define FENCEPOST_ARGS_H

#include "sim/core/base.h"
#include "sim/core/strbuf.h"

#define ARGS_OPTION_COUNT_MAX 32
#define ARGS_LIST_COUNT_MAX 64
#define ARGS_OPERAND_COUNT_MAX 4096

enum option_type {
    OPTION_FLAG,     /* bool; takes no value */
    OPTION_TEXT,     /* const char *, not empty */
    OPTION_WORD,     /* const char *, one of words */
    OPTION_INTEGER,  /* int64_t, low..high */
    OPTION_DURATION, /* int64_t, ns, low..high: "60s", "1h30m" */
    OPTION_LIST,     /* struct args_list; may be repeated */
};

struct args_list {
    const char *values[ARGS_LIST_COUNT_MAX];
    size_t count;
};

struct option {
    const char *name; /* without its dashes */
    enum option_type type;
    size_t offset; /* into the config struct */
    int64_t low, high;
    const char *const *words; /* OPTION_WORD, ended by NULL */
    const char *value;        /* how the help calls its value; NULL for a flag */
    const char *fallback;     /* read when absent; NULL: the config stays as it is */
    const char *about;
};

struct operands {
    const char *name; /* how the help calls them: "SCENARIO|FOLDER" */
    size_t count_low, count_high;
    const char *about;
};

struct args {
    const char *operands[ARGS_OPERAND_COUNT_MAX];
    size_t operand_count;
    uint64_t given; /* bit per index into the options */
};

enum args_answer { ARGS_OK, ARGS_HELP, ARGS_WRONG };

/* Read the arguments after the name of the subcommand. `--name value`, `--name=value`, `--` ends
 * the options, -h and --help give ARGS_HELP. ARGS_WRONG with one line in `why`. Everything in
 * `config` and `args` points into argv or the tables. An option other than a list is given once. */
enum args_answer args_parse(const struct option *options, size_t option_count,
                            const struct operands *operands, int argc, char **argv, void *config,
                            struct args *args, struct strbuf *why);
/* Was the option given? Its name must be in the table. */
bool args_given(const struct args *args, const struct option *options, size_t option_count,
                const char *name);

/* The part of a help page that the tables know: operands, options, defaults, ranges. */
void args_help(const struct option *options, size_t option_count, const struct operands *operands,
               struct strbuf *out);

/* Strict: only digits, maybe after a minus. False when it is no number or does not fit. */
bool args_parse_integer(const char *text, int64_t *number);

#endif
