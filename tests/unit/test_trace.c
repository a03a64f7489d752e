#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/trace.h"
#include "tests/lib/death.h"

static void emit_step(struct trace *trace, int64_t step, const char *sql)
{
    trace_set_now(trace, step, step * NS_PER_S);
    trace_event(trace, "db.exec", "worker-1", "sql", sql, NULL);
}

static void emit_three(struct trace *trace)
{
    emit_step(trace, 1, "begin");
    emit_step(trace, 2, "acquire");
    emit_step(trace, 3, "commit");
}

static char *record_three(void)
{
    struct trace *trace = trace_new();
    emit_three(trace);
    char *lines = fp_strdup(strbuf_str(trace_lines(trace)));
    trace_free(trace);
    return lines;
}

static void emit_golden(struct trace *trace)
{
    trace_set_now(trace, 12, 300 * NS_PER_S);
    trace_begin(trace, "db.exec", "worker-1");
    trace_text(trace, "sql", "acquire");
    trace_number(trace, "rows", -1);
    trace_text(trace, "owner", NULL);
    trace_text(trace, "note", "say \"hi\"\n");
    trace_end(trace);
}

#define GOLDEN_LINE                                                                                \
    "{\"step\":12,\"t\":300000000000,\"ev\":\"db.exec\",\"who\":\"worker-1\","                     \
    "\"sql\":\"acquire\",\"rows\":-1,\"owner\":null,\"note\":\"say \\\"hi\\\"\\n\"}"

static void test_trace_event_gives_the_golden_line(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    emit_golden(trace);
    assert_string_equal(strbuf_str(trace_lines(trace)), GOLDEN_LINE "\n");
    trace_event(trace, "run.end", "harness", NULL);
    assert_string_equal(strbuf_str(trace_lines(trace)),
                        GOLDEN_LINE "\n{\"step\":12,\"t\":300000000000,\"ev\":\"run.end\","
                                    "\"who\":\"harness\"}\n");
    assert_int_equal(trace_event_count(trace), 2);
    trace_free(trace);
}

static void test_trace_event_pairs_read_as_fields(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    trace_event(trace, "x", "who", "k1", "v1", "k2", NULL, "k3", "v3", NULL);
    assert_string_equal(strbuf_str(trace_lines(trace)),
                        "{\"step\":0,\"t\":0,\"ev\":\"x\",\"who\":\"who\",\"k1\":\"v1\","
                        "\"k2\":null,\"k3\":\"v3\"}\n");
    trace_free(trace);
}

/* Pinned: recorded hashes must stay comparable. When this changes on purpose, FP_ENGINE_VERSION
 * goes up. */
static void test_trace_hash_of_known_events_is_the_pinned_one(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    assert_true(trace_hash(trace) == 0);
    emit_golden(trace);
    assert_true(trace_hash(trace) == UINT64_C(0x58F78EF3B7D1E87D));
    trace_reset(trace);
    emit_three(trace);
    assert_true(trace_hash(trace) == UINT64_C(0xD4DDF224D752B446));
    trace_free(trace);
}

static void test_trace_hash_depends_on_the_order(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    trace_event(trace, "a", "w", NULL);
    trace_event(trace, "b", "w", NULL);
    uint64_t forward = trace_hash(trace);
    trace_reset(trace);
    trace_event(trace, "b", "w", NULL);
    trace_event(trace, "a", "w", NULL);
    assert_true(trace_hash(trace) != forward);
    trace_free(trace);
}

static void check_golden(void *self, const struct event *event)
{
    int *call_count = self;
    (*call_count)++;
    assert_int_equal(event->step, 12);
    assert_int_equal(event->t_ns, 300 * NS_PER_S);
    assert_true(event_is(event, "db.exec"));
    assert_false(event_is(event, "db.exe"));
    assert_string_equal(event->who, "worker-1");
    assert_int_equal(event->field_count, 4);
    assert_string_equal(event->line, GOLDEN_LINE);
    assert_string_equal(event_text(event, "sql"), "acquire");
    assert_string_equal(event_text(event, "note"), "say \"hi\"\n");
    assert_null(event_text(event, "owner"));
    assert_null(event_text(event, "rows"));
    assert_null(event_text(event, "absent"));
    assert_int_equal(event_number(event, "rows", 7), -1);
    assert_int_equal(event_number(event, "owner", 7), 7);
    assert_int_equal(event_number(event, "absent", 7), 7);
    assert_false(event->fields[2].is_number);
    assert_true(event->fields[1].is_number);
}

static void test_trace_observer_gets_the_typed_fields(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    int first_count = 0, second_count = 0;
    trace_observe(trace, check_golden, &first_count);
    trace_observe(trace, check_golden, &second_count);
    emit_golden(trace);
    emit_golden(trace);
    assert_int_equal(first_count, 2);
    assert_int_equal(second_count, 2);

    trace_reset(trace);
    emit_golden(trace);
    assert_int_equal(first_count, 2);
    trace_free(trace);
}

static void check_long_texts(void *self, const struct event *event)
{
    int *call_count = self;
    (*call_count)++;
    for (int i = 0; i < event->field_count; i++) {
        assert_int_equal(strlen(event->fields[i].text), 3000);
        assert_int_equal(event->fields[i].text[0], 'a' + i);
        assert_int_equal(event->fields[i].text[2999], 'a' + i);
    }
}

/* The buffers move while the event is built; the pointers must follow. */
static void test_trace_observer_sees_texts_that_outgrew_the_buffer(void **state)
{
    (void)state;
    static const char *const keys[] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    struct trace *trace = trace_new();
    int call_count = 0;
    char text[3001];
    trace_observe(trace, check_long_texts, &call_count);
    trace_begin(trace, "long", "w");
    for (size_t i = 0; i < FP_COUNT(keys); i++) {
        memset(text, 'a' + (int)i, 3000);
        text[3000] = '\0';
        trace_text(trace, keys[i], text);
    }
    memset(text, 'z', 3000);
    trace_end(trace);
    assert_int_equal(call_count, 1);
    trace_free(trace);
}

static void check_same_memory(void *self, const struct event *event)
{
    const char **memory = self;
    if (*memory == NULL)
        *memory = event->fields[0].text;
    assert_ptr_equal(event->fields[0].text, *memory);
}

static void test_trace_texts_of_all_events_use_the_same_memory(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    const char *memory = NULL;
    trace_observe(trace, check_same_memory, &memory);
    for (int i = 0; i < 1000; i++)
        trace_event(trace, "x", "w", "key", "a text of some size", NULL);
    assert_non_null(memory);
    trace_free(trace);
}

static void check_numbers(void *self, const struct event *event)
{
    int *call_count = self;
    (*call_count)++;
    assert_int_equal(event_number(event, "plain", 7), 42);
    assert_int_equal(event_number(event, "negative", 7), -42);
    assert_true(event_number(event, "most", 7) == INT64_MAX);
    assert_true(event_number(event, "least", 7) == INT64_MIN);
    assert_int_equal(event_number(event, "past", 7), 7);
    assert_int_equal(event_number(event, "mixed", 7), 7);
    assert_int_equal(event_number(event, "space", 7), 7);
    assert_int_equal(event_number(event, "empty", 7), 7);
    assert_int_equal(event_number(event, "minus", 7), 7);
}

static void test_trace_number_in_a_text_is_read_strictly(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    int call_count = 0;
    trace_observe(trace, check_numbers, &call_count);
    trace_event(trace, "row", "harness", "plain", "42", "negative", "-42", "most",
                "9223372036854775807", "least", "-9223372036854775808", "past",
                "9223372036854775808", "mixed", "12abc", "space", " 12", "empty", "", "minus", "-",
                NULL);
    assert_int_equal(call_count, 1);
    trace_free(trace);
}

static void test_trace_kinds_are_counted_by_content(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    char kind[] = "db.exec";
    trace_event(trace, "db.exec", "w", NULL);
    trace_event(trace, kind, "w", NULL);
    strcpy(kind, "db.done");
    trace_event(trace, kind, "w", NULL);
    trace_event(trace, "db.exec", "w", NULL);
    assert_int_equal(trace_kind_count(trace), 2);
    assert_string_equal(trace_kind_name(trace, 0), "db.exec");
    assert_int_equal(trace_kind_events(trace, 0), 3);
    assert_string_equal(trace_kind_name(trace, 1), "db.done");
    assert_int_equal(trace_kind_events(trace, 1), 1);

    trace_reset(trace);
    assert_int_equal(trace_kind_count(trace), 0);
    trace_event(trace, "db.done", "w", NULL);
    assert_string_equal(trace_kind_name(trace, 0), "db.done");
    assert_int_equal(trace_kind_events(trace, 0), 1);
    trace_free(trace);
}

static void test_trace_kinds_up_to_the_cap_are_told_apart(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    char kind[TRACE_KIND_SIZE_MAX];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < TRACE_KIND_COUNT_MAX; i++) {
            snprintf(kind, sizeof(kind), "kind.%d", i);
            trace_event(trace, kind, "w", NULL);
        }
    assert_int_equal(trace_kind_count(trace), TRACE_KIND_COUNT_MAX);
    for (size_t i = 0; i < TRACE_KIND_COUNT_MAX; i++)
        assert_int_equal(trace_kind_events(trace, i), 2);
    trace_free(trace);
}

static void test_trace_reset_starts_again_in_the_same_memory(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    emit_three(trace);
    uint64_t hash = trace_hash(trace);
    const char *memory = trace_lines(trace)->text;
    trace_reset(trace);
    assert_int_equal(trace_event_count(trace), 0);
    assert_true(trace_hash(trace) == 0);
    assert_string_equal(strbuf_str(trace_lines(trace)), "");
    emit_three(trace);
    assert_true(trace_hash(trace) == hash);
    assert_ptr_equal(trace_lines(trace)->text, memory);
    trace_free(trace);
}

static void test_trace_expect_same_run_finds_no_difference(void **state)
{
    (void)state;
    char *recorded = record_three();
    struct trace *trace = trace_new();
    trace_expect(trace, recorded);
    emit_three(trace);
    trace_expect_end(trace);
    assert_false(trace_diverged(trace)->found);

    /* A file may have lost its last newline. */
    recorded[strlen(recorded) - 1] = '\0';
    trace_reset(trace);
    trace_expect(trace, recorded);
    emit_three(trace);
    trace_expect_end(trace);
    assert_false(trace_diverged(trace)->found);
    trace_free(trace);
    free(recorded);
}

#define LINE_2 "{\"step\":2,\"t\":2000000000,\"ev\":\"db.exec\",\"who\":\"worker-1\",\"sql\":"
#define LINE_3 "{\"step\":3,\"t\":3000000000,\"ev\":\"db.exec\",\"who\":\"worker-1\",\"sql\":"

static void test_trace_expect_difference_in_the_middle_is_the_first_one(void **state)
{
    (void)state;
    char *recorded = record_three();
    struct trace *trace = trace_new();
    trace_expect(trace, recorded);
    emit_step(trace, 1, "begin");
    assert_false(trace_diverged(trace)->found);
    emit_step(trace, 2, "acquired");
    emit_step(trace, 3, "rollback");
    trace_expect_end(trace);

    const struct trace_difference *difference = trace_diverged(trace);
    assert_true(difference->found);
    assert_int_equal(difference->step, 2);
    assert_string_equal(difference->recorded, LINE_2 "\"acquire\"}");
    assert_string_equal(difference->happened, LINE_2 "\"acquired\"}");
    trace_free(trace);
    free(recorded);
}

static void test_trace_expect_run_that_goes_on_is_a_difference(void **state)
{
    (void)state;
    char *recorded = record_three();
    struct trace *trace = trace_new();
    *strstr(recorded, "{\"step\":3") = '\0';
    trace_expect(trace, recorded);
    emit_three(trace);

    const struct trace_difference *difference = trace_diverged(trace);
    assert_true(difference->found);
    assert_int_equal(difference->step, 3);
    assert_null(difference->recorded);
    assert_string_equal(difference->happened, LINE_3 "\"commit\"}");
    trace_free(trace);
    free(recorded);
}

static void test_trace_expect_run_that_ends_early_is_a_difference(void **state)
{
    (void)state;
    char *recorded = record_three();
    struct trace *trace = trace_new();
    trace_expect(trace, recorded);
    emit_step(trace, 1, "begin");
    emit_step(trace, 2, "acquire");
    assert_false(trace_diverged(trace)->found);
    trace_expect_end(trace);

    const struct trace_difference *difference = trace_diverged(trace);
    assert_true(difference->found);
    assert_int_equal(difference->step, 2);
    assert_string_equal(difference->recorded, LINE_3 "\"commit\"}");
    assert_null(difference->happened);
    trace_free(trace);
    free(recorded);
}

/* The recorded line begins like the one that happened, and the other way round. */
static void test_trace_expect_line_cut_short_or_longer_is_a_difference(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    trace_expect(trace, LINE_2);
    emit_step(trace, 2, "acquire");
    assert_true(trace_diverged(trace)->found);
    assert_string_equal(trace_diverged(trace)->recorded, LINE_2);

    trace_reset(trace);
    assert_false(trace_diverged(trace)->found);
    trace_expect(trace, LINE_2 "\"acquire\"} \n");
    emit_step(trace, 2, "acquire");
    assert_true(trace_diverged(trace)->found);
    assert_string_equal(trace_diverged(trace)->recorded, LINE_2 "\"acquire\"} ");
    trace_free(trace);
}

static void test_trace_expect_end_without_a_recording_does_nothing(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    emit_three(trace);
    trace_expect_end(trace);
    assert_false(trace_diverged(trace)->found);
    trace_free(trace);
}

static void emit_again(void *self, const struct event *event)
{
    (void)event;
    trace_event(self, "x", "w", NULL);
}

static void emit_from_an_observer(void)
{
    struct trace *trace = trace_new();
    trace_observe(trace, emit_again, trace);
    trace_event(trace, "x", "w", NULL);
}

static void begin_twice(void)
{
    struct trace *trace = trace_new();
    trace_begin(trace, "x", "w");
    trace_begin(trace, "x", "w");
}

static void add_a_field_to_no_event(void)
{
    trace_number(trace_new(), "k", 1);
}

static void add_too_many_fields(void)
{
    struct trace *trace = trace_new();
    trace_begin(trace, "x", "w");
    for (int i = 0; i <= EVENT_FIELD_COUNT_MAX; i++)
        trace_number(trace, "k", i);
}

static void expect_after_an_event(void)
{
    struct trace *trace = trace_new();
    trace_event(trace, "x", "w", NULL);
    trace_expect(trace, "");
}

static void test_trace_misuse_is_a_harness_bug(void **state)
{
    (void)state;
    assert_int_equal(death_of(emit_from_an_observer).exit_code, EXIT_HARNESS_BUG);
    assert_int_equal(death_of(begin_twice).exit_code, EXIT_HARNESS_BUG);
    assert_int_equal(death_of(add_a_field_to_no_event).exit_code, EXIT_HARNESS_BUG);
    assert_int_equal(death_of(add_too_many_fields).exit_code, EXIT_HARNESS_BUG);
    assert_int_equal(death_of(expect_after_an_event).exit_code, EXIT_HARNESS_BUG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_event_gives_the_golden_line),
        cmocka_unit_test(test_trace_event_pairs_read_as_fields),
        cmocka_unit_test(test_trace_hash_of_known_events_is_the_pinned_one),
        cmocka_unit_test(test_trace_hash_depends_on_the_order),
        cmocka_unit_test(test_trace_observer_gets_the_typed_fields),
        cmocka_unit_test(test_trace_observer_sees_texts_that_outgrew_the_buffer),
        cmocka_unit_test(test_trace_texts_of_all_events_use_the_same_memory),
        cmocka_unit_test(test_trace_number_in_a_text_is_read_strictly),
        cmocka_unit_test(test_trace_kinds_are_counted_by_content),
        cmocka_unit_test(test_trace_kinds_up_to_the_cap_are_told_apart),
        cmocka_unit_test(test_trace_reset_starts_again_in_the_same_memory),
        cmocka_unit_test(test_trace_expect_same_run_finds_no_difference),
        cmocka_unit_test(test_trace_expect_difference_in_the_middle_is_the_first_one),
        cmocka_unit_test(test_trace_expect_run_that_goes_on_is_a_difference),
        cmocka_unit_test(test_trace_expect_run_that_ends_early_is_a_difference),
        cmocka_unit_test(test_trace_expect_line_cut_short_or_longer_is_a_difference),
        cmocka_unit_test(test_trace_expect_end_without_a_recording_does_nothing),
        cmocka_unit_test(test_trace_misuse_is_a_harness_bug),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
