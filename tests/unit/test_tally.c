#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "sim/run/tally.h"

static const struct strategy strategy = {
    .jobs = {.table = "jobs",
             .type_column = "type",
             .status_column = "status",
             .code_column = "error_code",
             .succeeded = "SUCCEEDED",
             .failed = "FAILED"},
};

static void take(void *self, const struct event *event)
{
    tally_event(self, &strategy, event);
}

static void test_tally_keys_are_ordered_and_summed(void **state)
{
    struct tally *tally = tally_new(), *other = tally_new();
    (void)state;
    tally_add(tally, "b", 2);
    tally_add(tally, "a", 1);
    tally_add(tally, "b", 3);
    tally_add(other, "c", 0);
    tally_add(other, "a", 9);
    tally_add_all(tally, other);
    assert_int_equal(tally_size(tally), 3);
    assert_string_equal(tally_key(tally, 0), "a");
    assert_string_equal(tally_key(tally, 2), "c");
    assert_int_equal(tally_count(tally, 0), 10);
    assert_int_equal(tally_find(tally, "b"), 5);
    assert_int_equal(tally_find(tally, "c"), 0);
    assert_int_equal(tally_find(tally, "nothing"), 0);
    tally_clear(tally);
    assert_int_equal(tally_size(tally), 0);
    tally_free(tally);
    tally_free(other);
}

static void test_tally_many_keys_are_all_kept(void **state)
{
    struct tally *tally = tally_new();
    (void)state;
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i * 7 % 1000);
        tally_add(tally, key, 1);
    }
    assert_int_equal(tally_size(tally), 1000);
    assert_int_equal(tally_find(tally, "999"), 1);
    tally_free(tally);
}

static void test_tally_events_are_told_apart(void **state)
{
    struct tally *tally = tally_new();
    struct trace *trace = trace_new();
    (void)state;
    trace_observe(trace, take, tally);
    trace_event(trace, "job.finished", "w", "type", "CREATE", "error", NULL, NULL);
    trace_event(trace, "job.finished", "w", "type", "CREATE", "error", "QUOTA", NULL);
    trace_event(trace, "fault.cloud_error", "w", "kind", "throttled", NULL);
    trace_event(trace, "alert", "w", "alert", "Stale", NULL);
    trace_event(trace, "db.exec", "w", "type", "none", NULL);
    trace_event(trace, "row", "w", "table", "jobs", "type", "CREATE", "status", "PENDING", NULL);
    trace_event(trace, "row", "w", "table", "jobs", "type", "CREATE", "status", "SUCCEEDED",
                "error_code", NULL, NULL);
    trace_event(trace, "row", "w", "table", "jobs", "type", "CREATE", "status", "FAILED",
                "error_code", "QUOTA", NULL);
    trace_event(trace, "row", "w", "table", "clusters", "type", "x", "status", "FAILED", NULL);
    assert_int_equal(tally_size(tally), 6);
    assert_int_equal(tally_find(tally, "job.finished type=CREATE"), 2);
    assert_int_equal(tally_find(tally, "job.finished error=QUOTA"), 1);
    assert_int_equal(tally_find(tally, "fault.cloud_error kind=throttled"), 1);
    assert_int_equal(tally_find(tally, "alert alert=Stale"), 1);
    assert_int_equal(tally_find(tally, "jobs CREATE SUCCEEDED"), 1);
    assert_int_equal(tally_find(tally, "jobs CREATE FAILED QUOTA"), 1);
    tally_kinds(tally, trace);
    assert_int_equal(tally_find(tally, "row"), 4);
    assert_int_equal(tally_find(tally, "job.finished"), 2);
    trace_free(trace);
    tally_free(tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tally_keys_are_ordered_and_summed),
        cmocka_unit_test(test_tally_many_keys_are_all_kept),
        cmocka_unit_test(test_tally_events_are_told_apart),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
