#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "sim/hunt/failure.h"

#define EVENT_COUNT 3

static char dir[] = "/tmp/fp-failure-XXXXXX";
static char *path; /* in dir, in a folder that is made on the way */
static struct strbuf why;

static char source[] = "scenario: demo # \"quoted\" \xc3\xa4\n";
static char override[] = "topology.workers=5";

static struct scenario scenario = {
    .name = (char *)"demo",
    .file = (char *)"scenarios/demo.yaml",
    .source = source,
    .variant = (char *)"weak: no_fencing",
    .overrides = {override},
    .override_count = 1,
};

/* A lane without a server, whose last run is made by hand. */
static struct run_lane *make_lane(void)
{
    struct run_lane *lane = run_lane_new(NULL);
    struct choices *choices = (struct choices *)run_lane_choices(lane);
    struct trace *trace = (struct trace *)run_lane_trace(lane);
    for (int i = 0; i < 40; i++)
        choice_below(choices_stream(choices, "schedule"), UINT32_MAX);
    choices_stream(choices, "fault.0.crash");
    for (int64_t step = 1; step <= EVENT_COUNT; step++) {
        trace_set_now(trace, step, step * NS_PER_S);
        trace_event(trace, "db.exec", "worker-1", "sql", "acq\"uire\n", NULL);
    }
    return lane;
}

static bool write_sample(const char *file, struct run_lane *lane)
{
    struct run_result result;
    run_result_init(&result);
    result.outcome = RUN_VIOLATION;
    result.seed = INT64_MAX;
    result.hash = UINT64_C(0x00ab00000000cdef);
    result.step = 2;
    result.invariant = invariants[0];
    strbuf_puts(&result.sentence, "two \"owners\"");
    bool good = failure_write(file, &scenario, lane, &result, "15.18", &why);
    run_result_release(&result);
    return good;
}

static char *slurp(const char *file, size_t *size)
{
    FILE *input = fopen(file, "rb");
    assert_non_null(input);
    char *text = fp_alloc(1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, input);
    fclose(input);
    return text;
}

static void spill(const char *file, const char *bytes, size_t size)
{
    FILE *output = fopen(file, "wb");
    assert_non_null(output);
    assert_int_equal(fwrite(bytes, 1, size, output), size);
    assert_int_equal(fclose(output), 0);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    path = fp_format("%s/a/b/x.jsonl", dir);
    struct run_lane *lane = make_lane();
    assert_true(write_sample(path, lane));
    run_lane_free(lane);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char *command = fp_format("rm -rf %s", dir);
    int status = system(command);
    free(command);
    free(path);
    strbuf_release(&why);
    return status;
}

static int clear(void **state)
{
    (void)state;
    strbuf_clear(&why);
    return 0;
}

/* ---- the round trip ---- */

static void test_failure_written_file_reads_back(void **state)
{
    (void)state;
    struct failure *failure = failure_read(path, &why);
    assert_string_equal(strbuf_str(&why), "");
    assert_non_null(failure);
    assert_string_equal(failure->file, path);
    assert_string_equal(failure->scenario_file, "scenarios/demo.yaml");
    assert_string_equal(failure->scenario_source, source);
    assert_int_equal(failure->override_count, 1);
    assert_string_equal(failure->overrides[0], override);
    assert_true(failure->seed == INT64_MAX);
    assert_int_equal(failure->engine_version, FP_ENGINE_VERSION);
    assert_string_equal(failure->server_version, "15.18");
    assert_string_equal(failure->outcome, "violation");
    assert_string_equal(failure->invariant, invariants[0]->name);
    assert_string_equal(failure->sentence, "two \"owners\"");
    assert_int_equal(failure->step, 2);
    assert_true(failure->hash == UINT64_C(0x00ab00000000cdef));
    assert_int_equal(failure->event_count, EVENT_COUNT);
    failure_free(failure);
}

static void test_failure_choices_and_events_come_back_exactly(void **state)
{
    (void)state;
    struct run_lane *lane = make_lane();
    struct failure *failure = failure_read(path, &why);
    assert_non_null(failure);
    size_t value_count;
    const uint32_t *values = choices_values(run_lane_choices(lane), 0, &value_count);
    assert_int_equal(failure->stream_count, 2);
    assert_string_equal(failure->streams[0].name, "schedule");
    assert_int_equal(failure->streams[0].value_count, value_count);
    assert_memory_equal(failure->streams[0].values, values, value_count * sizeof values[0]);
    assert_string_equal(failure->streams[1].name, "fault.0.crash");
    assert_int_equal(failure->streams[1].value_count, 0);
    assert_string_equal(failure->lines, strbuf_str(trace_lines(run_lane_trace(lane))));
    failure_free(failure);
    run_lane_free(lane);
}

static void test_failure_header_has_every_field(void **state)
{
    (void)state;
    const char *const keys[] = {"fencepost", "format",  "engine",  "version", "commit",    "server",
                                "scenario",  "variant", "seed",    "outcome", "invariant", "step",
                                "sentence",  "hash",    "choices", "events"};
    size_t size;
    char *text = slurp(path, &size);
    json_t *root = json_loadb(text, (size_t)(strchr(text, '\n') - text), 0, NULL);
    assert_non_null(root);
    for (size_t i = 0; i < FP_COUNT(keys); i++)
        assert_non_null(json_object_get(root, keys[i]));
    assert_string_equal(json_string_value(json_object_get(root, "hash")), "00ab00000000cdef");
    json_decref(root);
    free(text);
}

static void test_failure_write_leaves_no_temporary_file(void **state)
{
    (void)state;
    char *command = fp_format("test \"$(ls %s/a/b)\" = x.jsonl", dir);
    assert_int_equal(system(command), 0);
    free(command);
}

/* ---- what cannot be written ---- */

static void test_failure_folder_that_is_a_file_is_said(void **state)
{
    (void)state;
    struct run_lane *lane = make_lane();
    char *file = fp_format("%s/deeper/y.jsonl", path);
    assert_false(write_sample(file, lane));
    assert_non_null(
        strstr(strbuf_str(&why), "x.jsonl/deeper: the folder cannot be made: Not a dir"));
    free(file);
    run_lane_free(lane);
}

static void test_failure_full_disk_is_said(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    strbuf_puts(&text, "line\n");
    /* The temporary file next to it would be in /dev; a link leads its name to the full device. */
    char *file = fp_format("%s/full.jsonl", dir);
    char *temporary = fp_format("%s.%ld.tmp", file, (long)getpid());
    assert_int_equal(symlink("/dev/full", temporary), 0);
    assert_false(failure_write_lines(file, &text, &text, &why));
    assert_non_null(
        strstr(strbuf_str(&why), "full.jsonl: cannot be written: No space left on device"));
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(access(temporary, F_OK), -1);
    free(file);
    free(temporary);
    strbuf_release(&text);
}

/* ---- what cannot be read ---- */

static void assert_refused(const char *bytes, size_t size, const char *message)
{
    char *file = fp_format("%s/bad.jsonl", dir);
    char *expected = fp_format("%s%s", file, message);
    spill(file, bytes, size);
    strbuf_clear(&why);
    struct failure *failure = failure_read(file, &why);
    if (failure || strncmp(strbuf_str(&why), expected, strlen(expected)) != 0)
        print_message("expected: %s\nfound:    %s\n", expected, strbuf_str(&why));
    assert_null(failure);
    assert_int_equal(strncmp(strbuf_str(&why), expected, strlen(expected)), 0);
    free(expected);
    free(file);
}

static void assert_text_refused(const char *text, const char *message)
{
    assert_refused(text, strlen(text), message);
}

static void test_failure_files_of_other_kinds_are_refused(void **state)
{
    (void)state;
    assert_text_refused("", ": the file is empty");
    assert_text_refused("scenario: demo\n", ":1: not a failure file: column ");
    assert_text_refused("[]\n", ":1: not a failure file of fencepost");
    assert_text_refused("{}\n", ":1: not a failure file of fencepost");
    assert_text_refused("{\"fencepost\":\"certificate\",\"format\":1}\n",
                        ":1: not a failure file of");
    assert_text_refused("{\"fencepost\":\"failure\"}\n",
                        ":1: damaged: `format` must be an integer");
    assert_text_refused("{\"fencepost\":\"failure\",\"format\":2}\n",
                        ":1: format 2 is unknown, this fencepost reads 1");
    assert_refused("\0\0\0\0", 4, ":1: not a failure file: ");
    assert_refused("\xff\xfe{}", 4, ":1: not a failure file: ");
}

static void test_failure_deep_nesting_is_refused(void **state)
{
    (void)state;
    size_t size = 1000000;
    char *text = fp_alloc(size);
    memset(text, '[', size);
    assert_refused(text, size, ":1: not a failure file: ");
    free(text);
}

static void test_failure_missing_and_huge_files_are_refused(void **state)
{
    (void)state;
    assert_null(failure_read("/nonexistent/x.jsonl", &why));
    assert_string_equal(strbuf_str(&why), "/nonexistent/x.jsonl: there is no such file");
    strbuf_clear(&why);
    assert_null(failure_read(dir, &why));
    assert_non_null(strstr(strbuf_str(&why), ": is a directory, expected a failure file"));
    char *file = fp_format("%s/huge.jsonl", dir);
    spill(file, "{", 1);
    assert_int_equal(truncate(file, (off_t)FAILURE_FILE_SIZE_MAX + 1), 0);
    strbuf_clear(&why);
    assert_null(failure_read(file, &why));
    assert_non_null(strstr(strbuf_str(&why), "huge.jsonl: larger than 256 MiB"));
    free(file);
}

/* Cut at every byte: never a crash, never accepted. */
static void test_failure_cut_anywhere_is_refused(void **state)
{
    (void)state;
    size_t size;
    char *text = slurp(path, &size);
    for (size_t i = 0; i < size; i++)
        assert_refused(text, i, ":");
    size_t head_size = (size_t)(strchr(text, '\n') - text) + 1;
    assert_refused(text, head_size - 1, ":1: the file is cut off here");
    assert_refused(text, head_size, ":2: the file is cut off here: 0 of 3 events");
    assert_refused(text, size - 1, ":4: the file is cut off here");
    free(text);
}

static void assert_replaced_refused(const char *from, const char *to, const char *message)
{
    size_t size;
    char *text = slurp(path, &size);
    char *at = strstr(text, from);
    assert_non_null(at);
    char *changed = fp_format("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_text_refused(changed, message);
    free(changed);
    free(text);
}

static void test_failure_damaged_values_are_named(void **state)
{
    (void)state;
    assert_replaced_refused("\"seed\":9223372036854775807", "\"seed\":-1",
                            ":1: damaged: `seed` must be an integer, 0..9223372036854775807");
    assert_replaced_refused("\"seed\":9223372036854775807", "\"seed\":9223372036854775808",
                            ":1: not a failure file: ");
    assert_replaced_refused("\"seed\":9223372036854775807", "\"seed\":\"7\"",
                            ":1: damaged: `seed` must be an integer");
    assert_replaced_refused("00ab00000000cdef", "ab00000000cdef", ":1: damaged: `hash` must be 16");
    assert_replaced_refused("00ab00000000cdef", "00ab00000000cdeg",
                            ":1: damaged: `hash` must be 16");
    assert_replaced_refused("\"outcome\":\"violation\"", "\"outcome\":\"boom\"",
                            ":1: damaged: there is no outcome `boom`");
    assert_replaced_refused(
        "\"sentence\":", "\"other\":", ":1: damaged: `sentence` must be a text");
    assert_replaced_refused("\"engine\":2", "\"engine\":4294967296",
                            ":1: damaged: `engine` must be");
    assert_replaced_refused("\"set\":[", "\"set\":[3,", ":1: damaged: entry 0 of `set`");
    assert_replaced_refused("\"scenario\":{", "\"scenario\":[],\"old\":{",
                            ":1: damaged: `scenario`");
    assert_replaced_refused("\"fault.0.crash\":[]", "\"fault.0.crash\":7",
                            ":1: damaged: the choices of `fault.0.crash` must be a list");
    assert_replaced_refused("\"fault.0.crash\":[]", "\"fault.0.crash\":[1,4294967296]",
                            ":1: damaged: choice 1 of `fault.0.crash` must be an integer");
    assert_replaced_refused("\"fault.0.crash\":[]", "\"\":[]", ":1: damaged: a stream of choices");
    assert_replaced_refused("\"fault.0.crash\":[]", "\"schedule\":[]", ":1: not a failure file: ");
    assert_replaced_refused("\"events\":3", "\"events\":2", ":4: damaged: more events than");
    assert_replaced_refused("{\"step\":2", "\"step\":2", ":3: damaged: not an event");
}

static void test_failure_nul_byte_in_an_event_is_refused(void **state)
{
    (void)state;
    size_t size;
    char *text = slurp(path, &size);
    text[size - 5] = '\0';
    assert_refused(text, size, ":4: damaged: a NUL byte");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_failure_written_file_reads_back, clear),
        cmocka_unit_test_setup(test_failure_choices_and_events_come_back_exactly, clear),
        cmocka_unit_test_setup(test_failure_header_has_every_field, clear),
        cmocka_unit_test_setup(test_failure_write_leaves_no_temporary_file, clear),
        cmocka_unit_test_setup(test_failure_folder_that_is_a_file_is_said, clear),
        cmocka_unit_test_setup(test_failure_full_disk_is_said, clear),
        cmocka_unit_test_setup(test_failure_files_of_other_kinds_are_refused, clear),
        cmocka_unit_test_setup(test_failure_deep_nesting_is_refused, clear),
        cmocka_unit_test_setup(test_failure_missing_and_huge_files_are_refused, clear),
        cmocka_unit_test_setup(test_failure_cut_anywhere_is_refused, clear),
        cmocka_unit_test_setup(test_failure_damaged_values_are_named, clear),
        cmocka_unit_test_setup(test_failure_nul_byte_in_an_event_is_refused, clear),
    };
    return cmocka_run_group_tests_name("failure", tests, set_up, tear_down);
}
