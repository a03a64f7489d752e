#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/check/check.h"

static const char *const key[] = {"id", NULL};
static const char *const columns[] = {"status", NULL};
static const struct watched_table watched[] = {
    {.table = "clusters", .key = key, .columns = columns},
};
static const char *const allowed[][2] = {{"READY", "DESTROYING"}, {NULL, NULL}};
static const struct strategy strategy = {
    .name = "test",
    .watched = watched,
    .watched_count = FP_COUNT(watched),
    .states = {"clusters", "status", allowed},
};

struct fixture {
    struct trace *trace;
    struct checks *checks;
};

static int setup(void **state)
{
    static struct fixture fixture;
    const struct invariant *list[] = {invariant_find("valid_transitions")};
    const struct check_setup check_setup = {.strategy = &strategy};

    assert_non_null(list[0]);
    fixture = (struct fixture){.trace = trace_new()};
    fixture.checks = checks_new(list, 1, &check_setup);
    trace_observe(fixture.trace, checks_event, fixture.checks);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    trace_free(fixture->trace);
    checks_free(fixture->checks);
    return 0;
}

static void change(struct fixture *fixture, const char *table, const char *from, const char *to)
{
    trace_set_now(fixture->trace, 7, 90 * NS_PER_MIN);
    trace_event(fixture->trace, "row", "worker-1", "table", table, "op", "update", "id", "demo",
                "status", to, "was.status", from, NULL);
}

static void test_valid_transitions_allowed_change_passes(void **state)
{
    struct fixture *fixture = *state;
    change(fixture, "clusters", "READY", "DESTROYING");
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_PASS);
}

static void test_valid_transitions_other_change_fails(void **state)
{
    struct fixture *fixture = *state;
    change(fixture, "clusters", "DESTROYED", "DESTROYING");
    const struct finding *finding = checks_first(fixture->checks, VERDICT_FAIL, NULL);
    assert_non_null(finding);
    assert_int_equal(finding->step, 7);
    assert_string_equal(finding->sentence, "worker-1 took demo from DESTROYED to DESTROYING at "
                                           "1h30m, which no job may do");
}

static void test_valid_transitions_reverse_change_fails(void **state)
{
    struct fixture *fixture = *state;
    change(fixture, "clusters", "DESTROYING", "READY");
    assert_non_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
}

static void test_valid_transitions_other_table_passes(void **state)
{
    struct fixture *fixture = *state;
    change(fixture, "jobs", "DESTROYED", "DESTROYING");
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_PASS);
}

static void test_valid_transitions_change_of_another_column_passes(void **state)
{
    struct fixture *fixture = *state;
    trace_event(fixture->trace, "row", "worker-1", "table", "clusters", "op", "update", "id",
                "demo", "status", "DESTROYED", "was.token", "1", NULL);
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_PASS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_valid_transitions_allowed_change_passes),
        TEST(test_valid_transitions_other_change_fails),
        TEST(test_valid_transitions_reverse_change_fails),
        TEST(test_valid_transitions_other_table_passes),
        TEST(test_valid_transitions_change_of_another_column_passes),
    };
    return cmocka_run_group_tests_name("valid_transitions", tests, NULL, NULL);
}
