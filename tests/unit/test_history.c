#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/run/history.h"

static struct history history;
static struct trace *trace;

static int set_up(void **state)
{
    (void)state;
    trace = trace_new();
    history_clear(&history);
    trace_observe(trace, history_event, &history);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    trace_free(trace);
    return 0;
}

/* A letter is an event: a and b what workers 1 and 2 learn, c and d what they commit. */
static uint64_t of(const char *events)
{
    int64_t step = 0;
    trace_reset(trace);
    trace_observe(trace, history_event, &history);
    history_clear(&history);
    for (; *events != '\0'; events++) {
        const char *who = *events == 'a' || *events == 'c' ? "worker-1/job" : "worker-2/job";
        trace_set_now(trace, ++step, 5);
        trace_event(trace, *events <= 'b' ? "db.exec" : "row", who, "sql", "x", NULL);
    }
    return history_hash(&history);
}

static void test_history_order_between_processes_does_not_count(void **state)
{
    (void)state;
    assert_true(of("ab") == of("ba"));
    assert_true(of("aab") == of("aba"));
    assert_true(of("ac") != of("ca")); /* within one it does */
    assert_true(of("ab") != of("aa"));
    assert_true(of("") != of("a"));
}

static void test_history_order_of_commits_counts(void **state)
{
    (void)state;
    assert_true(of("cd") != of("dc"));
    assert_true(of("acd") == of("acd"));
    assert_true(of("bcd") == of("cbd")); /* learning is not committing */
}

static void test_history_cells_count(void **state)
{
    (void)state;
    uint64_t before = of("a");
    history_cell(&history, "worker-1/job", "1");
    uint64_t one = history_hash(&history);
    assert_true(of("a") == before);
    history_cell(&history, "worker-1/job", "2");
    assert_true(history_hash(&history) != one);
    assert_true(of("a") == before);
    history_cell(&history, "worker-1/job", NULL);
    assert_true(history_hash(&history) != before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_history_order_between_processes_does_not_count, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_history_order_of_commits_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_history_cells_count, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
