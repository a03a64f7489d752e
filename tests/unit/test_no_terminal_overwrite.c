#define CHECK_FIXTURE_INVARIANT "no_terminal_overwrite"
#include "tests/lib/check_fixture.h"

static void change(const char *from, const char *to)
{
    next_commit();
    job("update", "j1", "demo", "CREATE", to, NULL, from);
}

static void test_no_terminal_overwrite_first_last_word_passes(void **state)
{
    (void)state;
    change("PENDING", "RUNNING");
    change("RUNNING", "SUCCEEDED");
    assert_holds();
}

static void test_no_terminal_overwrite_other_last_word_fails(void **state)
{
    (void)state;
    later(NS_PER_MIN);
    change("FAILED", "SUCCEEDED");
    const struct finding *finding = checks_first(fixture.checks, VERDICT_FAIL, NULL);
    assert_non_null(finding);
    assert_int_equal(finding->step, 2);
    assert_string_equal(finding->sentence, "worker-1 took jobs j1 from FAILED to SUCCEEDED at 1m, "
                                           "though FAILED was the last word");
}

static void test_no_terminal_overwrite_beginning_again_fails(void **state)
{
    (void)state;
    change("SUCCEEDED", "RUNNING");
    assert_broken("from SUCCEEDED to RUNNING");
}

static void test_no_terminal_overwrite_same_word_again_passes(void **state)
{
    (void)state;
    trace_event(fixture.trace, "row", "worker-1", "table", "jobs", "op", "update", "id", "j1",
                "status", "FAILED", "was.error_code", "A", NULL);
    assert_holds();
}

static void test_no_terminal_overwrite_delete_and_insert_pass(void **state)
{
    (void)state;
    job("delete", "j1", "demo", "CREATE", "FAILED", NULL, NULL);
    job("insert", "j1", "demo", "CREATE", "PENDING", NULL, NULL);
    assert_holds();
}

static void test_no_terminal_overwrite_table_without_last_words_passes(void **state)
{
    (void)state;
    cluster("update", "demo", "PENDING", "FAILED");
    assert_holds();
}

static void test_no_terminal_overwrite_failover_passes(void **state)
{
    (void)state;
    trace_event(fixture.trace, "row", "failover", "table", "jobs", "op", "update", "id", "j1",
                "status", "RUNNING", "was.status", "SUCCEEDED", NULL);
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_no_terminal_overwrite_first_last_word_passes),
        CHECK_TEST(test_no_terminal_overwrite_other_last_word_fails),
        CHECK_TEST(test_no_terminal_overwrite_beginning_again_fails),
        CHECK_TEST(test_no_terminal_overwrite_same_word_again_passes),
        CHECK_TEST(test_no_terminal_overwrite_delete_and_insert_pass),
        CHECK_TEST(test_no_terminal_overwrite_table_without_last_words_passes),
        CHECK_TEST(test_no_terminal_overwrite_failover_passes),
    };
    return cmocka_run_group_tests_name("no_terminal_overwrite", tests, NULL, NULL);
}
