#define CHECK_FIXTURE_INVARIANT "unresolved_alerted"
#include "tests/lib/check_fixture.h"

static void alert(const char *kind, const char *name, const char *subject)
{
    next_commit();
    trace_event(fixture.trace, kind, "janitor-1", "alert", name, "severity", "critical", "subject",
                subject, NULL);
}

static void insert_piece(const char *status, const char *version)
{
    trace_event(fixture.trace, "row", "setup", "table", "pieces", "op", "insert", "id", "a",
                "status", status, "lock_id", "w1", "version", version, NULL);
}

static void test_unresolved_alerted_first_told_then_committed_passes(void **state)
{
    (void)state;
    insert_piece("doing", "2");
    alert("alert", "Unclear", "a:2");
    piece("a", "unclear", "w1", "w1", "2", "2");
    end_run(true);
    assert_holds();
}

static void test_unresolved_alerted_not_told_fails(void **state)
{
    (void)state;
    insert_piece("doing", "2");
    later(NS_PER_MIN);
    piece("a", "unclear", "w1", "w1", "2", "2");
    assert_broken("a is unclear at 1m, and Unclear does not fire");
}

static void test_unresolved_alerted_told_of_another_version_fails(void **state)
{
    (void)state;
    insert_piece("doing", "2");
    alert("alert", "Unclear", "a:1");
    piece("a", "unclear", "w1", "w1", "2", "2");
    assert_broken("does not fire");
}

static void test_unresolved_alerted_told_by_another_alert_fails(void **state)
{
    (void)state;
    insert_piece("doing", "2");
    alert("alert", "Slow", "a:2");
    piece("a", "unclear", "w1", "w1", "2", "2");
    assert_broken("does not fire");
}

static void test_unresolved_alerted_cleared_too_early_fails(void **state)
{
    (void)state;
    insert_piece("doing", "2");
    alert("alert", "Unclear", "a:2");
    piece("a", "unclear", "w1", "w1", "2", "2");
    alert("alert.cleared", "Slow", "a:2");
    assert_holds();
    alert("alert.cleared", "Unclear", "a:2");
    assert_broken("a is unclear");
}

static void test_unresolved_alerted_cleared_when_resolved_passes(void **state)
{
    (void)state;
    insert_piece("doing", "2");
    alert("alert", "Unclear", "a:2");
    piece("a", "unclear", "w1", "w1", "2", "2");
    piece("a", "done", "w1", NULL, "2", "2");
    alert("alert.cleared", "Unclear", "a:2");
    end_run(true);
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_unresolved_alerted_first_told_then_committed_passes),
        CHECK_TEST(test_unresolved_alerted_not_told_fails),
        CHECK_TEST(test_unresolved_alerted_told_of_another_version_fails),
        CHECK_TEST(test_unresolved_alerted_told_by_another_alert_fails),
        CHECK_TEST(test_unresolved_alerted_cleared_too_early_fails),
        CHECK_TEST(test_unresolved_alerted_cleared_when_resolved_passes),
    };
    return cmocka_run_group_tests_name("unresolved_alerted", tests, NULL, NULL);
}
