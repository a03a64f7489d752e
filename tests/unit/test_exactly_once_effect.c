#define CHECK_FIXTURE_INVARIANT "exactly_once_effect"
#include "tests/lib/check_fixture.h"

static void effect(const char *op, const char *subject, const char *result, const char *repeated)
{
    trace_event(fixture.trace, "effect.end", "service", "service", "post", "op", op, "subject",
                subject, "instance", "worker-1", "repeated", repeated, "result", result, NULL);
}

static void sent(const char *subject)
{
    effect("send", subject, "ERR_OK", "no");
}

static void row_of(const char *id, const char *status)
{
    job("insert", id, "demo", "CREATE", status, NULL, NULL);
}

static void test_exactly_once_twice_fails(void **state)
{
    (void)state;
    sent("j1");
    later(NS_PER_MIN);
    sent("j2");
    assert_holds();
    sent("j1");
    assert_broken("post: send of j1 was done twice: by worker-1 at 0s, and again by worker-1");
}

static void test_exactly_once_other_operations_and_subjects_pass(void **state)
{
    (void)state;
    sent("j1");
    effect("print", "j1", "ERR_OK", "no");
    sent("j2");
    assert_holds();
}

static void test_exactly_once_what_had_no_effect_does_not_count(void **state)
{
    (void)state;
    sent("j1");
    effect("send", "j1", "ERR_OK", "yes");
    effect("send", "j1", "ERR_FENCED", "no");
    effect("send", "j1", "ERR_SERVICE_TIMEOUT", "no");
    assert_holds();
}

/* Those of the cloud say nothing of services. */
static void test_exactly_once_effects_of_others_do_not_count(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        trace_event(fixture.trace, "effect.end", "cloud", "effect", "1", "result", "ERR_OK", NULL);
    assert_holds();
}

static void test_exactly_once_unreadable_effect_is_unknown(void **state)
{
    (void)state;
    trace_event(fixture.trace, "effect.end", "service", "repeated", "no", "result", "ERR_OK", NULL);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

static void test_exactly_once_rows_that_agree_pass(void **state)
{
    (void)state;
    row_of("j1", "SUCCEEDED");
    row_of("j2", "FAILED");
    row_of("j3", "RUNNING"); /* says nothing either way */
    row_of("j4", "RUNNING");
    sent("j1");
    sent("j3");
    end_run(true);
    assert_holds();
}

static void test_exactly_once_row_that_claims_too_much_fails(void **state)
{
    (void)state;
    row_of("j1", "SUCCEEDED");
    effect("print", "j1", "ERR_OK", "no");
    assert_holds();
    end_run(true);
    assert_broken("jobs j1 is SUCCEEDED at the end, but post never did its send");
}

static void test_exactly_once_row_that_claims_too_little_fails(void **state)
{
    (void)state;
    row_of("j1", "FAILED");
    sent("j1");
    assert_holds();
    end_run(true);
    assert_broken("jobs j1 is FAILED at the end, but post did its send at 0s for worker-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_exactly_once_twice_fails),
        CHECK_TEST(test_exactly_once_other_operations_and_subjects_pass),
        CHECK_TEST(test_exactly_once_what_had_no_effect_does_not_count),
        CHECK_TEST(test_exactly_once_effects_of_others_do_not_count),
        CHECK_TEST(test_exactly_once_unreadable_effect_is_unknown),
        CHECK_TEST(test_exactly_once_rows_that_agree_pass),
        CHECK_TEST(test_exactly_once_row_that_claims_too_much_fails),
        CHECK_TEST(test_exactly_once_row_that_claims_too_little_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
