#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/cli/args.h"
#include "sim/cli/command.h"

struct config {
    int64_t seeds, time_ns;
    bool json;
    const char *out, *pg;
    struct args_list set;
};

static const char *const words[] = {"local", "docker", NULL};
static const struct option options[] = {
    {.name = "seeds",
     .type = OPTION_INTEGER,
     .offset = offsetof(struct config, seeds),
     .low = 1,
     .high = 1000,
     .value = "N",
     .fallback = "100",
     .about = "how many"},
    {.name = "time",
     .type = OPTION_DURATION,
     .offset = offsetof(struct config, time_ns),
     .low = NS_PER_S,
     .high = NS_PER_HOUR,
     .value = "D",
     .about = "how long"},
    {.name = "json", .type = OPTION_FLAG, .offset = offsetof(struct config, json), .about = "JSON"},
    {.name = "out",
     .type = OPTION_TEXT,
     .offset = offsetof(struct config, out),
     .value = "DIR",
     .about = "where"},
    {.name = "pg",
     .type = OPTION_WORD,
     .offset = offsetof(struct config, pg),
     .words = words,
     .value = "HOW",
     .fallback = "local",
     .about = "which"},
    {.name = "set",
     .type = OPTION_LIST,
     .offset = offsetof(struct config, set),
     .value = "PATH=VALUE",
     .about = "instead"},
};
static const struct operands operands = {"FILE", 1, 2, "what to run"};

static struct config config;
static struct args args;
static struct strbuf why;

static enum args_answer parse(const char *first, ...)
{
    char *argv[16];
    int argc = 0;
    va_list list;
    va_start(list, first);
    for (const char *text = first; text; text = va_arg(list, const char *))
        argv[argc++] = (char *)text;
    va_end(list);
    memset(&config, 0, sizeof config);
    strbuf_clear(&why);
    return args_parse(options, FP_COUNT(options), &operands, argc, argv, &config, &args, &why);
}

static void assert_wrong(enum args_answer answer, const char *message)
{
    assert_int_equal(answer, ARGS_WRONG);
    assert_string_equal(strbuf_str(&why), message);
}

static bool given(const char *name)
{
    return args_given(&args, options, FP_COUNT(options), name);
}

static void test_args_values_in_both_forms_are_taken(void **state)
{
    (void)state;
    assert_int_equal(parse("--seeds", "7", "a", "--time=1m30s", "--json", "--out", "x=y", NULL),
                     ARGS_OK);
    assert_int_equal(config.seeds, 7);
    assert_int_equal(config.time_ns, 90 * NS_PER_S);
    assert_true(config.json);
    assert_string_equal(config.out, "x=y");
    assert_string_equal(config.pg, "local");
    assert_int_equal(args.operand_count, 1);
    assert_string_equal(args.operands[0], "a");
    assert_true(given("seeds"));
    assert_false(given("pg"));
}

static void test_args_absent_options_have_their_fallbacks(void **state)
{
    (void)state;
    assert_int_equal(parse("a", NULL), ARGS_OK);
    assert_int_equal(config.seeds, 100);
    assert_false(config.json);
    assert_null(config.out);
    assert_false(given("seeds"));
}

static void test_args_list_keeps_the_order(void **state)
{
    (void)state;
    assert_int_equal(parse("--set", "a=1", "f", "--set=b=2", NULL), ARGS_OK);
    assert_int_equal(config.set.count, 2);
    assert_string_equal(config.set.values[0], "a=1");
    assert_string_equal(config.set.values[1], "b=2");
}

static void test_args_double_dash_ends_the_options(void **state)
{
    (void)state;
    assert_int_equal(parse("--json", "--", "--seeds", "-h", NULL), ARGS_OK);
    assert_int_equal(args.operand_count, 2);
    assert_string_equal(args.operands[0], "--seeds");
    assert_string_equal(args.operands[1], "-h");
}

static void test_args_help_wins(void **state)
{
    (void)state;
    assert_int_equal(parse("-h", NULL), ARGS_HELP);
    assert_int_equal(parse("a", "--help", "--nonsense", NULL), ARGS_HELP);
}

static void test_args_unknown_option_suggests_the_nearest(void **state)
{
    (void)state;
    assert_wrong(parse("a", "--sedes", "3", NULL),
                 "there is no option --sedes, did you mean --seeds?");
    assert_wrong(parse("a", "--sedes=3", NULL),
                 "there is no option --sedes, did you mean --seeds?");
    assert_wrong(parse("a", "--halp", NULL), "there is no option --halp, did you mean --help?");
    assert_wrong(parse("a", "--whatsoever", NULL), "there is no option --whatsoever");
    assert_wrong(parse("a", "-x", NULL), "there is no option -x");
}

static void test_args_missing_value_says_what_is_expected(void **state)
{
    (void)state;
    assert_wrong(parse("a", "--seeds", NULL),
                 "--seeds: a value is missing, expected an integer, 1..1000");
    assert_wrong(parse("a", "--out", "--json", NULL), "--out: a value is missing, expected DIR");
    assert_wrong(parse("a", "--out=", NULL), "--out: found ``, expected DIR");
    assert_wrong(parse("a", "--json=yes", NULL), "--json: takes no value");
}

static void test_args_integers_are_strict(void **state)
{
    (void)state;
    const char *const bad[] = {
        "0", "1001", "-5", "12abc", " 12", "1.5", "0x10", "1e3", "+7", "", "99999999999999999999",
        "-"};
    for (size_t i = 0; i < FP_COUNT(bad); i++) {
        char *message = fp_format("--seeds: found `%s`, expected an integer, 1..1000", bad[i]);
        assert_wrong(parse("a", "--seeds", bad[i], NULL), message);
        free(message);
    }
    assert_int_equal(parse("a", "--seeds", "1000", NULL), ARGS_OK);
    assert_int_equal(parse("a", "--seeds", "1", NULL), ARGS_OK);
}

static void test_args_whole_range_of_integers_is_read(void **state)
{
    (void)state;
    int64_t number;
    assert_true(args_parse_integer("9223372036854775807", &number));
    assert_true(number == INT64_MAX);
    assert_true(args_parse_integer("-9223372036854775808", &number));
    assert_true(number == INT64_MIN);
    assert_false(args_parse_integer("9223372036854775808", &number));
}

static void test_args_durations_are_strict(void **state)
{
    (void)state;
    const char *const bad[] = {"10", "0s", "2h", "5x", "-1s"};
    for (size_t i = 0; i < FP_COUNT(bad); i++) {
        char *message = fp_format("--time: found `%s`, expected a duration such as 90s or 1h30m, "
                                  "1s..1h",
                                  bad[i]);
        assert_wrong(parse("a", "--time", bad[i], NULL), message);
        free(message);
    }
}

static void test_args_unknown_word_names_the_known(void **state)
{
    (void)state;
    assert_wrong(parse("a", "--pg", "remote", NULL),
                 "--pg: found `remote`, expected local, docker");
    assert_int_equal(parse("a", "--pg", "docker", NULL), ARGS_OK);
    assert_string_equal(config.pg, "docker");
}

static void test_args_repeated_option_is_refused(void **state)
{
    (void)state;
    assert_wrong(parse("a", "--seeds", "1", "--seeds=2", NULL), "--seeds: given twice");
}

static void test_args_operands_are_counted(void **state)
{
    (void)state;
    assert_wrong(parse("--json", NULL), "FILE is missing");
    assert_wrong(parse("a", "b", "c", NULL), "`c` is too much, expected only FILE");
    assert_int_equal(parse("-", NULL), ARGS_OK);
}

static void test_args_help_names_every_option(void **state)
{
    (void)state;
    struct strbuf page = STRBUF_INIT;
    args_help(options, FP_COUNT(options), &operands, &page);
    assert_string_equal(strbuf_str(&page),
                        "  FILE                      what to run\n"
                        "\n"
                        "  --seeds N                 how many [100]\n"
                        "  --time D                  how long\n"
                        "  --json                    JSON\n"
                        "  --out DIR                 where\n"
                        "  --pg HOW                  which (local, docker) [local]\n"
                        "  --set PATH=VALUE          instead (repeatable)\n"
                        "  -h, --help                this page\n");
    strbuf_release(&page);
}

/* Of the real tables: a fallback that cannot be read would only show when the command is used. */
static void test_args_real_commands_have_sound_tables(void **state)
{
    (void)state;
    static unsigned char scratch[COMMAND_CONFIG_SIZE_MAX];
    for (size_t i = 0; commands[i]; i++) {
        const struct command *command = commands[i];
        char *argv[] = {(char *)"-h"};
        assert_ptr_equal(command_find(command->name), command);
        assert_true(command->config_size <= sizeof scratch);
        assert_non_null(command->about);
        strbuf_clear(&why);
        assert_int_equal(args_parse(command->options, command->option_count, &command->operands, 1,
                                    argv, scratch, &args, &why),
                         ARGS_HELP);
        for (size_t o = 0; o < command->option_count; o++)
            assert_true((command->options[o].type == OPTION_FLAG) == !command->options[o].value);
    }
    assert_null(command_find("no-such-command"));
}

static int release(void **state)
{
    (void)state;
    strbuf_release(&why);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args_values_in_both_forms_are_taken),
        cmocka_unit_test(test_args_absent_options_have_their_fallbacks),
        cmocka_unit_test(test_args_list_keeps_the_order),
        cmocka_unit_test(test_args_double_dash_ends_the_options),
        cmocka_unit_test(test_args_help_wins),
        cmocka_unit_test(test_args_unknown_option_suggests_the_nearest),
        cmocka_unit_test(test_args_missing_value_says_what_is_expected),
        cmocka_unit_test(test_args_integers_are_strict),
        cmocka_unit_test(test_args_whole_range_of_integers_is_read),
        cmocka_unit_test(test_args_durations_are_strict),
        cmocka_unit_test(test_args_unknown_word_names_the_known),
        cmocka_unit_test(test_args_repeated_option_is_refused),
        cmocka_unit_test(test_args_operands_are_counted),
        cmocka_unit_test(test_args_help_names_every_option),
        cmocka_unit_test(test_args_real_commands_have_sound_tables),
    };
    return cmocka_run_group_tests_name("args", tests, NULL, release);
}
