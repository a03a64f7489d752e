#define CHECK_FIXTURE_INVARIANT "valid_transition"
#include "tests/lib/check_fixture.h"

static void test_valid_transition_allowed_change_passes(void **state)
{
    (void)state;
    cluster("update", "demo", "DESTROYING", "READY");
    assert_holds();
}

static void test_valid_transition_other_change_fails(void **state)
{
    (void)state;
    later(90 * NS_PER_MIN);
    cluster("update", "demo", "DESTROYING", "DESTROYED");
    const struct finding *finding = checks_first(fixture.checks, VERDICT_FAIL, NULL);
    assert_non_null(finding);
    assert_int_equal(finding->step, 1);
    assert_string_equal(finding->sentence, "worker-1 took demo from DESTROYED to DESTROYING at "
                                           "1h30m, which no job may do");
}

static void test_valid_transition_reverse_change_fails(void **state)
{
    (void)state;
    cluster("update", "demo", "READY", "DESTROYING");
    assert_broken("from DESTROYING to READY");
}

static void test_valid_transition_each_table_has_its_own_machine(void **state)
{
    (void)state;
    job("update", "j1", "demo", "CREATE", "RUNNING", NULL, "PENDING");
    assert_holds();
    job("update", "j1", "demo", "CREATE", "CREATING", NULL, "PENDING");
    assert_broken("took j1 from PENDING to CREATING");
}

static void test_valid_transition_ended_job_that_ends_again_fails(void **state)
{
    (void)state;
    job("update", "j1", "demo", "CREATE", "SUCCEEDED", NULL, "FAILED");
    assert_broken("took j1 from FAILED to SUCCEEDED");
}

static void test_valid_transition_insert_and_delete_pass(void **state)
{
    (void)state;
    cluster("insert", "demo", "READY", NULL);
    cluster("delete", "demo", "READY", NULL);
    assert_holds();
}

static void test_valid_transition_other_table_passes(void **state)
{
    (void)state;
    trace_event(fixture.trace, "row", "worker-1", "table", "others", "op", "update", "id", "x",
                "status", "B", "was.status", "A", NULL);
    assert_holds();
}

static void test_valid_transition_change_of_another_column_passes(void **state)
{
    (void)state;
    trace_event(fixture.trace, "row", "worker-1", "table", "clusters", "op", "update", "id", "demo",
                "status", "DESTROYED", "was.token", "1", NULL);
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_valid_transition_allowed_change_passes),
        CHECK_TEST(test_valid_transition_other_change_fails),
        CHECK_TEST(test_valid_transition_reverse_change_fails),
        CHECK_TEST(test_valid_transition_each_table_has_its_own_machine),
        CHECK_TEST(test_valid_transition_ended_job_that_ends_again_fails),
        CHECK_TEST(test_valid_transition_insert_and_delete_pass),
        CHECK_TEST(test_valid_transition_other_table_passes),
        CHECK_TEST(test_valid_transition_change_of_another_column_passes),
    };
    return cmocka_run_group_tests_name("valid_transition", tests, NULL, NULL);
}
