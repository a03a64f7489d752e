#include "sim/cli/args.h"

#include <inttypes.h>
#include <string.h>

#include "sim/core/duration.h"
#include "sim/scenario/diag.h"

#define HELP_COLUMN 26

struct parse {
    const struct option *options;
    size_t option_count;
    void *config;
    struct args *args;
    struct strbuf *why;
};

/* ---- values ---- */

bool args_parse_integer(const char *text, int64_t *number)
{
    bool is_negative = text[0] == '-';
    const char *digit = text + (is_negative ? 1 : 0);
    int64_t value = 0;
    if (*digit == '\0')
        return false;
    for (; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        int amount = is_negative ? '0' - *digit : *digit - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, amount, &value))
            return false;
    }
    *number = value;
    return true;
}

static void put_expected(const struct option *option, struct strbuf *out)
{
    char low[DURATION_TEXT_SIZE], high[DURATION_TEXT_SIZE];
    const char *comma = "";
    switch (option->type) {
    case OPTION_INTEGER:
        strbuf_printf(out, "an integer, %" PRId64 "..%" PRId64, option->low, option->high);
        break;
    case OPTION_DURATION:
        strbuf_printf(out, "a duration such as 90s or 1h30m, %s..%s",
                      duration_text(option->low, low), duration_text(option->high, high));
        break;
    case OPTION_WORD:
        for (size_t i = 0; option->words[i]; i++, comma = ", ")
            strbuf_printf(out, "%s%s", comma, option->words[i]);
        break;
    case OPTION_TEXT:
    case OPTION_LIST:
        strbuf_puts(out, option->value);
        break;
    case OPTION_FLAG:
        break;
    }
}

static bool refuse_value(struct parse *parse, const struct option *option, const char *text)
{
    strbuf_printf(parse->why, "--%s: found `%s`, expected ", option->name, text);
    put_expected(option, parse->why);
    return false;
}

static bool in_range(const struct option *option, int64_t number)
{
    return number >= option->low && number <= option->high;
}

static bool is_word(const struct option *option, const char *text)
{
    for (size_t i = 0; option->words[i]; i++)
        if (strcmp(option->words[i], text) == 0)
            return true;
    return false;
}

static bool add_to_list(struct parse *parse, const struct option *option, struct args_list *list,
                        const char *text)
{
    if (list->count == ARGS_LIST_COUNT_MAX) {
        strbuf_printf(parse->why, "--%s: given more than %d times", option->name,
                      ARGS_LIST_COUNT_MAX);
        return false;
    }
    list->values[list->count++] = text;
    return true;
}

static bool take_value(struct parse *parse, const struct option *option, const char *text)
{
    void *place = (char *)parse->config + option->offset;
    int64_t number = 0;
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return true;
    case OPTION_TEXT:
        *(const char **)place = text;
        return text[0] != '\0' || refuse_value(parse, option, text);
    case OPTION_WORD:
        *(const char **)place = text;
        return is_word(option, text) || refuse_value(parse, option, text);
    case OPTION_INTEGER:
        if (!args_parse_integer(text, &number) || !in_range(option, number))
            return refuse_value(parse, option, text);
        *(int64_t *)place = number;
        return true;
    case OPTION_DURATION:
        if (!duration_parse(text, &number) || !in_range(option, number))
            return refuse_value(parse, option, text);
        *(int64_t *)place = number;
        return true;
    case OPTION_LIST:
        return add_to_list(parse, option, place, text);
    }
    FP_ASSERT(!"no such type of option");
    return false;
}

/* ---- options ---- */

static size_t find_option(const struct option *options, size_t option_count, const char *name,
                          size_t name_size)
{
    for (size_t i = 0; i < option_count; i++)
        if (strlen(options[i].name) == name_size && memcmp(options[i].name, name, name_size) == 0)
            return i;
    return option_count;
}

static bool refuse_option(struct parse *parse, const char *name, size_t name_size)
{
    const char *names[ARGS_OPTION_COUNT_MAX + 1];
    char word[64];
    size_t word_size = name_size < sizeof word ? name_size : sizeof word - 1;
    memcpy(word, name, word_size);
    word[word_size] = '\0';
    for (size_t i = 0; i < parse->option_count; i++)
        names[i] = parse->options[i].name;
    names[parse->option_count] = "help";
    const char *nearest = suggest(word, names, parse->option_count + 1);
    strbuf_printf(parse->why, "there is no option --%s", word);
    if (nearest)
        strbuf_printf(parse->why, ", did you mean --%s?", nearest);
    return false;
}

static bool mark_given(struct parse *parse, size_t index)
{
    const struct option *option = &parse->options[index];
    uint64_t bit = UINT64_C(1) << index;
    if ((parse->args->given & bit) && option->type != OPTION_LIST && option->type != OPTION_FLAG) {
        strbuf_printf(parse->why, "--%s: given twice", option->name);
        return false;
    }
    parse->args->given |= bit;
    return true;
}

/* One "--name...", maybe with the argument after it, which is then used up. */
static bool take_option(struct parse *parse, const char *argument, const char *next, int *used)
{
    const char *name = argument + 2;
    const char *equals = strchr(name, '=');
    size_t name_size = equals ? (size_t)(equals - name) : strlen(name);
    size_t index = find_option(parse->options, parse->option_count, name, name_size);
    if (index == parse->option_count)
        return refuse_option(parse, name, name_size);
    const struct option *option = &parse->options[index];
    if (!mark_given(parse, index))
        return false;
    if (option->type == OPTION_FLAG && equals) {
        strbuf_printf(parse->why, "--%s: takes no value", option->name);
        return false;
    }
    if (option->type == OPTION_FLAG || equals)
        return take_value(parse, option, equals ? equals + 1 : "");
    if (!next || strncmp(next, "--", 2) == 0) {
        strbuf_printf(parse->why, "--%s: a value is missing, expected ", option->name);
        put_expected(option, parse->why);
        return false;
    }
    *used += 1;
    return take_value(parse, option, next);
}

static bool take_operand(struct parse *parse, const struct operands *operands, const char *text)
{
    struct args *args = parse->args;
    size_t most = operands->count_high < ARGS_OPERAND_COUNT_MAX ? operands->count_high
                                                                : ARGS_OPERAND_COUNT_MAX;
    if (args->operand_count >= most) {
        strbuf_printf(parse->why, "`%s` is too much, expected %s%s", text,
                      most == 0 ? "no argument" : "only ", most == 0 ? "" : operands->name);
        return false;
    }
    args->operands[args->operand_count++] = text;
    return true;
}

static void take_fallbacks(struct parse *parse)
{
    for (size_t i = 0; i < parse->option_count; i++) {
        const struct option *option = &parse->options[i];
        bool good = !option->fallback || take_value(parse, option, option->fallback);
        FP_ASSERT(good);
    }
}

static enum args_answer take_all(struct parse *parse, const struct operands *operands, int argc,
                                 char **argv)
{
    bool options_ended = false;
    for (int i = 0; i < argc; i++) {
        const char *argument = argv[i];
        bool good = true;
        if (options_ended || argument[0] != '-' || argument[1] == '\0') {
            good = take_operand(parse, operands, argument);
        } else if (strcmp(argument, "--") == 0) {
            options_ended = true;
        } else if (strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0) {
            return ARGS_HELP;
        } else if (argument[1] != '-') {
            strbuf_printf(parse->why, "there is no option %s", argument);
            good = false;
        } else {
            good = take_option(parse, argument, i + 1 < argc ? argv[i + 1] : NULL, &i);
        }
        if (!good)
            return ARGS_WRONG;
    }
    return ARGS_OK;
}

enum args_answer args_parse(const struct option *options, size_t option_count,
                            const struct operands *operands, int argc, char **argv, void *config,
                            struct args *args, struct strbuf *why)
{
    FP_ASSERT(option_count <= ARGS_OPTION_COUNT_MAX);
    struct parse parse = {options, option_count, config, args, why};
    args->operand_count = 0;
    args->given = 0;
    take_fallbacks(&parse);
    enum args_answer answer = take_all(&parse, operands, argc, argv);
    if (answer == ARGS_OK && args->operand_count < operands->count_low) {
        strbuf_printf(why, "%s is missing", operands->name);
        return ARGS_WRONG;
    }
    return answer;
}

bool args_given(const struct args *args, const struct option *options, size_t option_count,
                const char *name)
{
    size_t index = find_option(options, option_count, name, strlen(name));
    FP_ASSERT(index < option_count);
    return (args->given >> index & 1) != 0;
}

/* ---- help ---- */

static void put_row(struct strbuf *out, const char *left, const char *about)
{
    strbuf_printf(out, "  %-*s", HELP_COLUMN, left);
    if (strlen(left) >= HELP_COLUMN)
        strbuf_printf(out, "\n  %-*s", HELP_COLUMN, "");
    strbuf_puts(out, about);
}

static void put_limits(const struct option *option, struct strbuf *out)
{
    struct strbuf expected = STRBUF_INIT;
    if (option->type == OPTION_WORD) {
        put_expected(option, &expected);
        strbuf_printf(out, " (%s)", strbuf_str(&expected));
    }
    if (option->type == OPTION_LIST)
        strbuf_puts(out, " (repeatable)");
    if (option->fallback)
        strbuf_printf(out, " [%s]", option->fallback);
    strbuf_putc(out, '\n');
    strbuf_release(&expected);
}

void args_help(const struct option *options, size_t option_count, const struct operands *operands,
               struct strbuf *out)
{
    if (operands->count_high > 0) {
        put_row(out, operands->name, operands->about);
        strbuf_puts(out, "\n\n");
    }
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &options[i];
        struct strbuf left = STRBUF_INIT;
        strbuf_printf(&left, "--%s%s%s", option->name, option->value ? " " : "",
                      option->value ? option->value : "");
        put_row(out, strbuf_str(&left), option->about);
        put_limits(option, out);
        strbuf_release(&left);
    }
    put_row(out, "-h, --help", "this page\n");
}
