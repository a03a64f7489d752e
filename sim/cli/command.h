/* A subcommand: a table of options and a function. One file each, one line in commands.def. */
#ifndef FENCEPOST_COMMAND_H
#define FENCEPOST_COMMAND_H

#include "sim/cli/args.h"

#define COMMAND_CONFIG_SIZE_MAX 2048

struct command {
    const char *name;
    const char *about; /* one line, for the overview */
    const char *notes; /* paragraphs for its help, ended by a newline; NULL: none */
    struct operands operands;
    const struct option *options;
    size_t option_count;
    size_t config_size; /* zeroed, then filled by the options; at most COMMAND_CONFIG_SIZE_MAX */
    /* Returns the exit code. */
    int (*run)(const struct args *args, const void *config);
};

/* All of them, ended by NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);

/* The whole program: what main returns. */
int cli_main(int argc, char **argv);

/* "fencepost: ..." and "try: fencepost COMMAND --help" on standard error; returns EXIT_USAGE. */
int command_usage(const struct command *command, const char *format, ...) FP_PRINTF(2, 3);
void command_overview(struct strbuf *out);
void command_page(const struct command *command, struct strbuf *out);

#endif
