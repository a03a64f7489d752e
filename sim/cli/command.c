#include "sim/cli/command.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/interrupt.h"
#include "sim/cli/output.h"
#include "sim/scenario/diag.h"

#define COMMAND(name) extern const struct command command_##name;
#include "sim/cli/commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "sim/cli/commands.def"
#undef COMMAND
    NULL,
};

#define COMMAND_COUNT (FP_COUNT(commands) - 1)

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int command_usage(const struct command *command, const char *format, ...)
{
    va_list args;
    fputs("fencepost: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\ntry: fencepost %s%s--help\n", command ? command->name : "",
            command ? " " : "");
    return EXIT_USAGE;
}

/* ---- help ---- */

void command_overview(struct strbuf *out)
{
    strbuf_puts(out,
                "fencepost finds out whether only one worker owns a resource at a time, by running "
                "workers,\njanitors and locks over a real PostgreSQL, step by step, with faults."
                "\n\nusage: ./fencepost COMMAND [OPTION...]\n\n");
    for (size_t i = 0; commands[i]; i++)
        strbuf_printf(out, "  %-10s%s\n", commands[i]->name, commands[i]->about);
    strbuf_puts(out,
                "\nbegin with:\n"
                "  ./fencepost run scenarios                 every shipped scenario\n"
                "  ./fencepost replay out/failures/X.jsonl   a failure, once more, step by step\n"
                "  ./fencepost COMMAND --help                its options\n"
                "\nexit codes: 0 pass, 1 violation, 2 unknown, 3 infrastructure, 4 nothing ran, "
                "64 usage or\nbad scenario, 70 harness bug or a run that diverged, 130 "
                "interrupted\n");
}

void command_page(const struct command *command, struct strbuf *out)
{
    const struct operands *operands = &command->operands;
    strbuf_printf(out, "usage: ./fencepost %s%s%s%s [OPTION...]\n\n%s\n\n", command->name,
                  operands->count_high > 0 ? " " : "",
                  operands->count_high > 0 ? operands->name : "",
                  operands->count_high > 1 ? "..." : "", command->about);
    if (command->notes)
        strbuf_printf(out, "%s\n", command->notes);
    args_help(command->options, command->option_count, operands, out);
}

static int show_help(const struct command *command)
{
    struct strbuf text = STRBUF_INIT;
    command_page(command, &text);
    output_text(&text);
    strbuf_release(&text);
    return EXIT_PASS;
}

/* ---- choosing ---- */

static int refuse_name(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    const char *nearest = suggest(name, names, COMMAND_COUNT);
    if (name[0] == '-')
        return command_usage(NULL, "there is no option %s here, expected a command", name);
    if (nearest)
        return command_usage(NULL, "there is no command `%s`, did you mean `%s`?", name, nearest);
    return command_usage(NULL, "there is no command `%s`", name);
}

static int run_command(const struct command *command, int argc, char **argv)
{
    static alignas(max_align_t) unsigned char config[COMMAND_CONFIG_SIZE_MAX];
    static struct args args;
    struct strbuf why = STRBUF_INIT;
    FP_ASSERT(command->config_size <= sizeof config);
    memset(config, 0, sizeof config);
    int code = EXIT_PASS;
    switch (args_parse(command->options, command->option_count, &command->operands, argc, argv,
                       config, &args, &why)) {
    case ARGS_OK:
        code = command->run(&args, config);
        break;
    case ARGS_HELP:
        code = show_help(command);
        break;
    case ARGS_WRONG:
        code = command_usage(command, "%s", strbuf_str(&why));
        break;
    }
    strbuf_release(&why);
    return code;
}

static int overview(bool was_asked)
{
    struct strbuf text = STRBUF_INIT;
    command_overview(&text);
    if (was_asked)
        output_text(&text);
    else
        fputs(strbuf_str(&text), stderr);
    strbuf_release(&text);
    return was_asked ? EXIT_PASS : EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return overview(false);
    const char *name = argv[1];
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
        return overview(true);
    if (strcmp(name, "--version") == 0)
        name = "version";
    const struct command *command = command_find(name);
    return command ? run_command(command, argc - 2, argv + 2) : refuse_name(name);
}

/* libpq reads its defaults from there; what a user has set for a database of his own must not reach
 * our sessions. */
static void forget_libpq_environment(void)
{
    for (size_t i = 0; environ[i];) {
        char name[64];
        size_t size = strcspn(environ[i], "=");
        if (strncmp(environ[i], "PG", 2) != 0 || size >= sizeof name) {
            i++;
            continue;
        }
        memcpy(name, environ[i], size);
        name[size] = '\0';
        unsetenv(name);
    }
}

int cli_main(int argc, char **argv)
{
    forget_libpq_environment();
    output_guard();
    interrupt_install();
    int code = dispatch(argc, argv);
    return output_finish(code);
}
