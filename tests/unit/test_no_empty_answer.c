#define CHECK_FIXTURE_INVARIANT "no_empty_answer"
#include "tests/lib/cache_fixture.h"

#define DAY "2026-01-01"

static void request_event(const char *kind, const char *id, const char *day, const char *instance,
                          const char *result)
{
    trace_event(fixture.trace, kind, instance, "request", id, "date", day, "instance", instance,
                result ? "result" : NULL, result, NULL);
}

static void received(const char *id)
{
    later(NS_PER_S);
    request_event("request.received", id, DAY, "api-1", NULL);
}

static void answered(const char *id, const char *result)
{
    later(NS_PER_S);
    request_event("request.answered", id, DAY, "api-1", result);
}

static void locks(const char *kind, const char *id, const char *day, const char *instance)
{
    later(NS_PER_S);
    request_event(kind, id, day, instance, NULL);
}

static void happens(const char *kind, const char *who)
{
    later(NS_PER_S);
    trace_event(fixture.trace, kind, who, NULL);
}

/* ---- what an answer may be ---- */

static void test_no_empty_answer_data_passes(void **state)
{
    (void)state;
    received("r1");
    answered("r1", "data");
    end_run(true);
    assert_holds();
}

static void test_no_empty_answer_nothing_fails(void **state)
{
    (void)state;
    received("r1");
    answered("r1", "nothing");
    assert_broken("request r1 for 2026-01-01, made at 1s of api-1, was told that there is nothing "
                  "at 2s");
}

/* Not even a fault makes nothing out of something. */
static void test_no_empty_answer_nothing_after_a_fault_fails(void **state)
{
    (void)state;
    received("r1");
    happens("fault.connection_drop", "api-1");
    answered("r1", "nothing");
    assert_broken("nothing");
}

static void test_no_empty_answer_failed_without_a_fault_fails(void **state)
{
    (void)state;
    happens("fault.connection_drop", "api-1");
    received("r1");
    answered("r1", "failed");
    assert_broken("failed though nothing had gone wrong");
}

static void test_no_empty_answer_failed_after_a_fault_passes(void **state)
{
    (void)state;
    received("r1");
    happens("db.lost", "api-2/pool-1");
    answered("r1", "failed");
    assert_holds();
}

static void test_no_empty_answer_busy_without_a_builder_fails(void **state)
{
    (void)state;
    locks("lock.acquired", "r0", DAY, "api-2");
    locks("lock.released", "r0", DAY, "api-2");
    received("r1");
    answered("r1", "busy");
    assert_broken("was told to wait though nobody was rebuilding it");
}

static void test_no_empty_answer_busy_while_another_builds_passes(void **state)
{
    (void)state;
    locks("lock.acquired", "r0", DAY, "api-2");
    received("r1");
    answered("r1", "busy");
    assert_holds();
}

static void test_no_empty_answer_busy_when_another_has_just_built_passes(void **state)
{
    (void)state;
    locks("lock.acquired", "r0", DAY, "api-2");
    received("r1");
    locks("lock.released", "r0", DAY, "api-2");
    answered("r1", "busy");
    assert_holds();
}

static void test_no_empty_answer_busy_while_another_builds_another_day_fails(void **state)
{
    (void)state;
    locks("lock.acquired", "r0", "2026-01-02", "api-2");
    received("r1");
    answered("r1", "busy");
    assert_broken("nobody was rebuilding it");
}

/* Its process has no connection left for it. */
static void test_no_empty_answer_busy_while_own_process_builds_another_day_passes(void **state)
{
    (void)state;
    locks("lock.acquired", "r0", "2026-01-02", "api-1");
    received("r1");
    answered("r1", "busy");
    assert_holds();
}

static void test_no_empty_answer_builder_that_died_is_no_builder(void **state)
{
    (void)state;
    locks("lock.acquired", "r0", DAY, "api-2");
    happens("actor.started", "api-2.2");
    received("r1");
    answered("r1", "busy");
    assert_broken("nobody was rebuilding it");
}

/* A session of one who is stopped or cut off may hold the lock. */
static void test_no_empty_answer_busy_while_somebody_is_stopped_passes(void **state)
{
    (void)state;
    happens("fault.pause", "api-2");
    received("r1");
    answered("r1", "busy");
    assert_holds();
    happens("fault.resumed", "api-2");
    received("r2");
    answered("r2", "busy");
    assert_broken("request r2");
}

static void test_no_empty_answer_busy_while_somebody_is_cut_off_passes(void **state)
{
    (void)state;
    happens("fault.partition", "api-2");
    later(NS_PER_S);
    trace_event(fixture.trace, "fault.healed", "harness", "fault", "latency", NULL);
    received("r1");
    answered("r1", "busy");
    assert_holds();
    later(NS_PER_S);
    trace_event(fixture.trace, "fault.healed", "harness", "fault", "partition", NULL);
    received("r2");
    answered("r2", "busy");
    assert_broken("request r2");
}

/* ---- how long it may take ---- */

static void test_no_empty_answer_late_answer_fails(void **state)
{
    (void)state;
    received("r1");
    later(ANSWER_WITHIN_NS);
    answered("r1", "data");
    assert_broken("had to wait for its answer, which came at 10m2s");
}

static void test_no_empty_answer_answer_in_time_passes(void **state)
{
    (void)state;
    received("r1");
    later(ANSWER_WITHIN_NS - NS_PER_S);
    answered("r1", "data");
    assert_holds();
}

static void test_no_empty_answer_long_rebuild_of_its_own_passes(void **state)
{
    (void)state;
    received("r1");
    locks("lock.acquired", "r1", DAY, "api-1");
    later(NS_PER_HOUR);
    answered("r1", "data");
    assert_holds();
}

static void test_no_empty_answer_late_lock_fails(void **state)
{
    (void)state;
    received("r1");
    later(ANSWER_WITHIN_NS);
    locks("lock.acquired", "r1", DAY, "api-1");
    assert_broken("had to wait for others before it could rebuild it at 10m2s");
}

static void test_no_empty_answer_no_answer_at_the_end_fails(void **state)
{
    (void)state;
    received("r1");
    later(ANSWER_WITHIN_NS + 1);
    end_run(false);
    assert_broken("request r1 for 2026-01-01, made at 1s of api-1, still has no answer");
}

static void test_no_empty_answer_of_a_process_that_died_is_not_asked_for(void **state)
{
    (void)state;
    received("r1");
    happens("actor.started", "api-1.2");
    later(NS_PER_DAY);
    end_run(true);
    assert_holds();
}

static void test_no_empty_answer_of_another_process_is_asked_for(void **state)
{
    (void)state;
    received("r1");
    happens("actor.started", "api-12");
    later(NS_PER_DAY);
    end_run(true);
    assert_broken("still has no answer");
}

static void test_no_empty_answer_unreadable_answer_is_unknown(void **state)
{
    (void)state;
    received("r1");
    trace_event(fixture.trace, "request.answered", "api-1", "request", "r1", NULL);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_no_empty_answer_data_passes),
        CHECK_TEST(test_no_empty_answer_nothing_fails),
        CHECK_TEST(test_no_empty_answer_nothing_after_a_fault_fails),
        CHECK_TEST(test_no_empty_answer_failed_without_a_fault_fails),
        CHECK_TEST(test_no_empty_answer_failed_after_a_fault_passes),
        CHECK_TEST(test_no_empty_answer_busy_without_a_builder_fails),
        CHECK_TEST(test_no_empty_answer_busy_while_another_builds_passes),
        CHECK_TEST(test_no_empty_answer_busy_when_another_has_just_built_passes),
        CHECK_TEST(test_no_empty_answer_busy_while_another_builds_another_day_fails),
        CHECK_TEST(test_no_empty_answer_busy_while_own_process_builds_another_day_passes),
        CHECK_TEST(test_no_empty_answer_builder_that_died_is_no_builder),
        CHECK_TEST(test_no_empty_answer_busy_while_somebody_is_stopped_passes),
        CHECK_TEST(test_no_empty_answer_busy_while_somebody_is_cut_off_passes),
        CHECK_TEST(test_no_empty_answer_late_answer_fails),
        CHECK_TEST(test_no_empty_answer_answer_in_time_passes),
        CHECK_TEST(test_no_empty_answer_long_rebuild_of_its_own_passes),
        CHECK_TEST(test_no_empty_answer_late_lock_fails),
        CHECK_TEST(test_no_empty_answer_no_answer_at_the_end_fails),
        CHECK_TEST(test_no_empty_answer_of_a_process_that_died_is_not_asked_for),
        CHECK_TEST(test_no_empty_answer_of_another_process_is_asked_for),
        CHECK_TEST(test_no_empty_answer_unreadable_answer_is_unknown),
    };
    return cmocka_run_group_tests_name("no_empty_answer", tests, NULL, NULL);
}
