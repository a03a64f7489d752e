#define CHECK_FIXTURE_INVARIANT "no_starved_request"
#include "tests/lib/check_fixture.h"

static void request(const char *kind, const char *who, const char *number, const char *status)
{
    trace_event(fixture.trace, kind, who, "number", number, "subject", "a", "body", "r1 1",
                status ? "status" : NULL, status, NULL);
}

static void accept(const char *number, const char *who)
{
    request("request.sent", "client", number, NULL);
    request("request.accepted", who, number, NULL);
}

static void answer(const char *number, const char *status)
{
    request("request.answered", "app-1/handler-1", number, status);
}

static void put_clock(int64_t ahead_ns)
{
    trace_begin(fixture.trace, "db.clock", "harness");
    trace_number(fixture.trace, "ahead_ns", ahead_ns);
    trace_number(fixture.trace, "rate_ppm", 0);
    trace_end(fixture.trace);
}

/* ---- answered in time ---- */

static void test_no_starved_request_answered_at_the_last_moment_passes(void **state)
{
    (void)state;
    accept("1", "app-1");
    later(FIXTURE_ANSWER_NS);
    answer("1", "200");
    end_run(true);
    assert_holds();
}

static void test_no_starved_request_answered_too_late_fails(void **state)
{
    (void)state;
    accept("1", "app-1");
    later(FIXTURE_ANSWER_NS + 1);
    answer("1", "200");
    assert_broken("request 1 about a, sent at 0s and accepted by app-1, was answered");
}

static void test_no_starved_request_waiting_to_be_accepted_counts(void **state)
{
    (void)state;
    request("request.sent", "client", "1", NULL);
    later(FIXTURE_ANSWER_NS);
    request("request.accepted", "app-1", "1", NULL);
    later(1);
    answer("1", "200");
    assert_broken("request 1");
}

static void test_no_starved_request_without_answer_at_the_end_fails(void **state)
{
    (void)state;
    request("request.sent", "client", "1", NULL);
    later(FIXTURE_ANSWER_NS + 1);
    end_run(false);
    assert_broken("accepted by nobody, is without an answer");
}

static void test_no_starved_request_given_up_in_time_passes(void **state)
{
    (void)state;
    accept("1", "app-1");
    later(NS_PER_MIN);
    request("request.given_up", "client", "1", NULL);
    answer("1", "200");
    end_run(true);
    assert_holds();
}

static void test_no_starved_request_time_of_a_stopped_handler_does_not_count(void **state)
{
    (void)state;
    accept("1", "app-1.2/handler-3");
    later(NS_PER_MIN);
    trace_event(fixture.trace, "fault.pause", "app-1.2/handler-7", NULL);
    later(NS_PER_HOUR);
    trace_event(fixture.trace, "fault.resumed", "app-1.2/handler-7", NULL);
    later(FIXTURE_ANSWER_NS - NS_PER_MIN);
    answer("1", "200");
    assert_holds();
}

static void test_no_starved_request_time_of_another_stopped_app_counts(void **state)
{
    (void)state;
    accept("1", "app-1");
    trace_event(fixture.trace, "fault.pause", "app-11", NULL);
    later(NS_PER_HOUR);
    trace_event(fixture.trace, "fault.resumed", "app-11", NULL);
    answer("1", "200");
    assert_broken("after 1h");
}

static void test_no_starved_request_died_with_its_handler_passes(void **state)
{
    (void)state;
    accept("1", "app-1");
    later(FIXTURE_ANSWER_NS + 1);
    request("request.lost", "app-1", "1", NULL);
    end_run(true);
    assert_holds();
}

/* ---- refused with a reason ---- */

static void test_no_starved_request_refused_while_another_works_passes(void **state)
{
    (void)state;
    accept("1", "app-1");
    later(NS_PER_MIN);
    accept("2", "app-2");
    answer("1", "200");
    answer("2", "409");
    assert_holds();
}

static void test_no_starved_request_refused_with_nobody_there_fails(void **state)
{
    (void)state;
    accept("1", "app-1");
    answer("1", "409");
    assert_broken("request 1 about a was refused at 0s, and there had been no other");
}

static void test_no_starved_request_refused_after_the_last_was_answered_fails(void **state)
{
    (void)state;
    accept("1", "app-1");
    answer("1", "200");
    later(1);
    accept("2", "app-2");
    answer("2", "409");
    assert_broken("nobody was at work on it: the last one before, 1, was answered at 0s");
}

static void test_no_starved_request_refused_for_what_nobody_accepted_fails(void **state)
{
    (void)state;
    request("request.sent", "client", "1", NULL);
    accept("2", "app-2");
    answer("2", "409");
    assert_broken("request 2");
}

static void test_no_starved_request_kept_out_by_a_dead_handler_for_a_while_passes(void **state)
{
    (void)state;
    accept("1", "app-1");
    request("request.lost", "app-1", "1", NULL);
    later(FIXTURE_STALE_NS);
    accept("2", "app-2");
    later(NS_PER_MIN);
    answer("2", "409");
    assert_holds();
}

static void test_no_starved_request_kept_out_by_a_dead_handler_for_longer_fails(void **state)
{
    (void)state;
    accept("1", "app-1");
    request("request.lost", "app-1", "1", NULL);
    later(FIXTURE_STALE_NS + 1);
    accept("2", "app-2");
    answer("2", "409");
    assert_broken("died with its handler at 0s");
}

/* The clock goes back to where the dead handler's lock was good. */
static void test_no_starved_request_dead_handler_is_judged_by_the_databases_clock(void **state)
{
    (void)state;
    accept("1", "app-1");
    request("request.lost", "app-1", "1", NULL);
    later(NS_PER_HOUR);
    put_clock(-NS_PER_HOUR);
    accept("2", "app-2");
    answer("2", "409");
    assert_holds();
}

static void test_no_starved_request_failed_handler_that_lives_keeps_nobody_out(void **state)
{
    (void)state;
    accept("1", "app-1");
    answer("1", "500");
    later(NS_PER_MIN);
    accept("2", "app-2");
    answer("2", "409");
    assert_broken("request 2");
}

static void test_no_starved_request_failed_handler_is_excused_by_the_clock_alone(void **state)
{
    (void)state;
    accept("1", "app-1");
    answer("1", "500");
    later(NS_PER_MIN);
    put_clock(-30 * NS_PER_S);
    accept("2", "app-2");
    answer("2", "409");
    assert_holds();
    later(FIXTURE_STALE_NS);
    accept("3", "app-2");
    answer("3", "409");
    assert_broken("request 3");
}

static void test_no_starved_request_done_is_not_excused_by_the_clock(void **state)
{
    (void)state;
    accept("1", "app-1");
    answer("1", "200");
    later(NS_PER_MIN);
    put_clock(-NS_PER_HOUR);
    accept("2", "app-2");
    answer("2", "409");
    assert_broken("request 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_no_starved_request_answered_at_the_last_moment_passes),
        TEST(test_no_starved_request_answered_too_late_fails),
        TEST(test_no_starved_request_waiting_to_be_accepted_counts),
        TEST(test_no_starved_request_without_answer_at_the_end_fails),
        TEST(test_no_starved_request_given_up_in_time_passes),
        TEST(test_no_starved_request_time_of_a_stopped_handler_does_not_count),
        TEST(test_no_starved_request_time_of_another_stopped_app_counts),
        TEST(test_no_starved_request_died_with_its_handler_passes),
        TEST(test_no_starved_request_refused_while_another_works_passes),
        TEST(test_no_starved_request_refused_with_nobody_there_fails),
        TEST(test_no_starved_request_refused_after_the_last_was_answered_fails),
        TEST(test_no_starved_request_refused_for_what_nobody_accepted_fails),
        TEST(test_no_starved_request_kept_out_by_a_dead_handler_for_a_while_passes),
        TEST(test_no_starved_request_kept_out_by_a_dead_handler_for_longer_fails),
        TEST(test_no_starved_request_dead_handler_is_judged_by_the_databases_clock),
        TEST(test_no_starved_request_failed_handler_that_lives_keeps_nobody_out),
        TEST(test_no_starved_request_failed_handler_is_excused_by_the_clock_alone),
        TEST(test_no_starved_request_done_is_not_excused_by_the_clock),
    };
    return cmocka_run_group_tests_name("no_starved_request", tests, NULL, NULL);
}
