#define CHECK_FIXTURE_INVARIANT "one_step_per_request"
#include "tests/lib/check_fixture.h"

static void step_by(const char *who, const char *op, const char *request)
{
    trace_event(fixture.trace, "row", who, "table", "steps", "op", op, "request", request, NULL);
}

static void step(const char *request)
{
    step_by("app-1/request", "insert", request);
}

static void answer(const char *body, const char *status)
{
    trace_event(fixture.trace, "request.answered", "app-1", "number", "1", "subject", "a", "body",
                body, "status", status, NULL);
}

static void test_one_step_each_request_its_own_passes(void **state)
{
    (void)state;
    step("r1");
    answer("r1 1", "200");
    step("r11");
    answer("r11 1", "200");
    answer("r1 2", "200");
    assert_holds();
}

static void test_one_step_second_step_for_one_request_fails(void **state)
{
    (void)state;
    step("r1");
    later(NS_PER_MIN);
    step("r1");
    assert_broken("app-1/request made another step for request r1 at 1m");
}

static void test_one_step_answered_as_done_without_a_step_fails(void **state)
{
    (void)state;
    step("r11");
    answer("r1 1", "200");
    assert_broken("request r1 was answered as done at 0s, but no step was made");
}

static void test_one_step_otherwise_answered_without_a_step_passes(void **state)
{
    (void)state;
    answer("r1 1", "409");
    answer("r1 2", "503");
    assert_holds();
}

static void test_one_step_taken_back_by_a_failover_may_be_made_again(void **state)
{
    (void)state;
    step("r1");
    step_by("failover", "delete", "r1");
    step("r1");
    assert_holds();
    step_by("failover", "delete", "r1");
    answer("r1 2", "200");
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_one_step_each_request_its_own_passes),
        TEST(test_one_step_second_step_for_one_request_fails),
        TEST(test_one_step_answered_as_done_without_a_step_fails),
        TEST(test_one_step_otherwise_answered_without_a_step_passes),
        TEST(test_one_step_taken_back_by_a_failover_may_be_made_again),
    };
    return cmocka_run_group_tests_name("one_step_per_request", tests, NULL, NULL);
}
