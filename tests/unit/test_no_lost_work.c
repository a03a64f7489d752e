#define CHECK_FIXTURE_INVARIANT "no_lost_work"
#include "tests/lib/check_fixture.h"

static void call(const char *resource, const char *op, const char *result)
{
    trace_event(fixture.trace, "effect.start", "worker-1", "resource", resource, "op", op, "result",
                result, NULL);
}

static void row_of(const char *id, const char *status)
{
    job("insert", id, "demo", "CREATE", status, NULL, NULL);
}

static void test_no_lost_work_done_passes(void **state)
{
    (void)state;
    row_of("j1", "SUCCEEDED");
    end_run(true);
    assert_holds();
}

static void test_no_lost_work_refused_for_good_passes(void **state)
{
    (void)state;
    call("post:j1", "send", "ERR_SERVICE_REJECTED");
    row_of("j1", "FAILED");
    end_run(true);
    assert_holds();
}

static void test_no_lost_work_failed_without_refusal_fails(void **state)
{
    (void)state;
    call("post:j1", "send", "ERR_SERVICE_THROTTLED");
    call("post:j1", "print", "ERR_SERVICE_REJECTED");
    call("post:j2", "send", "ERR_SERVICE_REJECTED");
    row_of("j1", "FAILED");
    end_run(true);
    assert_broken("jobs j1 is FAILED at the end, though post has never refused to send it");
}

static void test_no_lost_work_left_fails(void **state)
{
    (void)state;
    row_of("j1", "PENDING");
    end_run(false);
    assert_broken("jobs j1 is still PENDING at the end: nobody came back to it");
}

static void test_no_lost_work_refused_and_left_fails(void **state)
{
    (void)state;
    call("post:j1", "send", "ERR_SERVICE_REJECTED");
    row_of("j1", "RUNNING");
    end_run(false);
    assert_broken("jobs j1 is still RUNNING at the end");
}

static void test_no_lost_work_meanwhile_passes(void **state)
{
    (void)state;
    row_of("j1", "RUNNING");
    assert_holds();
}

static void test_no_lost_work_unreadable_refusal_is_unknown(void **state)
{
    (void)state;
    trace_event(fixture.trace, "effect.start", "worker-1", "result", "ERR_SERVICE_REJECTED", NULL);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_no_lost_work_done_passes),
        CHECK_TEST(test_no_lost_work_refused_for_good_passes),
        CHECK_TEST(test_no_lost_work_failed_without_refusal_fails),
        CHECK_TEST(test_no_lost_work_left_fails),
        CHECK_TEST(test_no_lost_work_refused_and_left_fails),
        CHECK_TEST(test_no_lost_work_meanwhile_passes),
        CHECK_TEST(test_no_lost_work_unreadable_refusal_is_unknown),
    };
    return cmocka_run_group_tests_name("no_lost_work", tests, NULL, NULL);
}
