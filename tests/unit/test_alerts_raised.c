#define CHECK_FIXTURE_INVARIANT "alerts_raised"
#include "tests/lib/check_fixture.h"

/* A condition may last so long without an alert. */
#define GRACE_NS (2 * FIXTURE_ROUND_NS)

static void tick(void)
{
    trace_event(fixture.trace, "db.exec", "worker-1/job", NULL);
}

static void janitor(const char *kind)
{
    trace_event(fixture.trace, kind, "janitor-1", NULL);
}

static void alert(const char *name, const char *subject)
{
    trace_event(fixture.trace, "alert", "janitor-1", "alert", name, "severity", "warning",
                "subject", subject, NULL);
}

static void clear(const char *name, const char *subject)
{
    trace_event(fixture.trace, "alert.cleared", "janitor-1", "alert", name, "subject", subject,
                NULL);
}

/* A lock that is stale from 65 minutes on. */
static void take_lock(void)
{
    lock("insert", "demo", "j1", "1", NS_PER_HOUR);
    later(65 * NS_PER_MIN);
    tick();
}

static void test_alerts_raised_stale_lock_alerted_in_time_passes(void **state)
{
    (void)state;
    take_lock();
    later(GRACE_NS);
    alert("Stale", "demo");
    later(GRACE_NS);
    tick();
    assert_holds();
}

static void test_alerts_raised_stale_lock_without_alert_fails(void **state)
{
    (void)state;
    take_lock();
    later(GRACE_NS);
    tick();
    assert_holds();
    later(1);
    tick();
    assert_broken("no Stale by 1h15m");
}

static void test_alerts_raised_stale_lock_with_alert_about_another_fails(void **state)
{
    (void)state;
    take_lock();
    lock("insert", "other", "j2", "1", 0);
    alert("Stale", "other");
    later(GRACE_NS + 1);
    tick();
    assert_broken("the lock on demo was stale from 1h5m on");
}

static void test_alerts_raised_lock_gone_in_time_needs_none(void **state)
{
    (void)state;
    take_lock();
    later(GRACE_NS);
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    later(NS_PER_HOUR);
    tick();
    assert_holds();
}

static void test_alerts_raised_end_of_condition_does_not_excuse_silence(void **state)
{
    (void)state;
    take_lock();
    later(GRACE_NS + 1);
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    assert_broken("no Stale");
}

static void test_alerts_raised_renewed_lock_needs_none(void **state)
{
    (void)state;
    lock("insert", "demo", "j1", "1", NS_PER_HOUR);
    later(50 * NS_PER_MIN);
    lock("update", "demo", "j1", "1", 2 * NS_PER_HOUR);
    later(50 * NS_PER_MIN);
    tick();
    assert_holds();
}

static void test_alerts_raised_still_firing_is_an_alert(void **state)
{
    (void)state;
    take_lock();
    alert("Stale", "demo");
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    lock("insert", "demo", "j2", "2", NS_PER_HOUR);
    later(NS_PER_HOUR);
    tick();
    assert_holds();
    clear("Stale", "demo");
    lock("delete", "demo", "j2", "2", NS_PER_HOUR);
    lock("insert", "demo", "j3", "3", NS_PER_HOUR);
    later(NS_PER_HOUR);
    tick();
    assert_broken("no Stale");
}

static void test_alerts_raised_at_the_end_too(void **state)
{
    (void)state;
    take_lock();
    later(GRACE_NS + 1);
    end_run(false);
    assert_broken("no Stale");
}

/* ---- without a cause ---- */

static void test_alerts_raised_before_its_cause_fails(void **state)
{
    (void)state;
    lock("insert", "demo", "j1", "1", NS_PER_HOUR);
    later(65 * NS_PER_MIN - 1);
    alert("Stale", "demo");
    assert_broken("janitor-1 raised Stale about demo at 1h4m59s999ms999us999ns without a cause");
}

static void test_alerts_raised_shortly_after_its_cause_passes(void **state)
{
    (void)state;
    take_lock();
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    later(GRACE_NS);
    alert("Stale", "demo");
    assert_holds();
}

static void test_alerts_raised_long_after_its_cause_fails(void **state)
{
    (void)state;
    take_lock();
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    later(GRACE_NS + 1);
    alert("Stale", "demo");
    assert_broken("without a cause");
}

static void test_alerts_raised_other_alerts_are_left_alone(void **state)
{
    (void)state;
    alert("Other", "demo");
    assert_holds();
}

/* ---- jobs ---- */

static void test_alerts_raised_job_alerted_in_time_passes(void **state)
{
    (void)state;
    job("insert", "j1", "demo", "CREATE", "RUNNING", NULL, NULL);
    later(90 * NS_PER_MIN);
    alert("Long", "j1");
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_job_that_ends_needs_none(void **state)
{
    (void)state;
    job("insert", "j1", "demo", "CREATE", "RUNNING", NULL, NULL);
    later(90 * NS_PER_MIN);
    job("update", "j1", "demo", "CREATE", "SUCCEEDED", NULL, "RUNNING");
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_job_that_runs_on_fails(void **state)
{
    (void)state;
    job("insert", "j1", "demo", "CREATE", "RUNNING", NULL, NULL);
    later(90 * NS_PER_MIN + GRACE_NS + 1);
    tick();
    assert_broken("no Long by 1h40m1ns, though job j1 ran too long from 1h30m on");
}

/* ---- contention ---- */

static void refuse(int count)
{
    for (int i = 0; i < count; i++)
        trace_event(fixture.trace, "lock.refused", "worker-1", NULL);
}

static void test_alerts_raised_few_failures_need_none(void **state)
{
    (void)state;
    refuse(3);
    later(NS_PER_MIN);
    refuse(3);
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_contention_without_alert_fails(void **state)
{
    (void)state;
    refuse(2);
    later(NS_PER_MIN - 1);
    refuse(2);
    later(GRACE_NS + 1);
    tick();
    assert_broken("no Contention");
}

static void test_alerts_raised_contention_alerted_passes(void **state)
{
    (void)state;
    refuse(4);
    later(FIXTURE_ROUND_NS);
    alert("Contention", "anything");
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_contention_alert_without_cause_fails(void **state)
{
    (void)state;
    refuse(3);
    alert("Contention", "anything");
    assert_broken("without a cause");
}

/* ---- a monitor that cannot look ---- */

static void test_alerts_raised_crashed_monitor_is_excused_until_it_is_back(void **state)
{
    (void)state;
    take_lock();
    janitor("fault.crash");
    later(NS_PER_DAY);
    tick();
    assert_holds();
    trace_event(fixture.trace, "actor.started", "janitor-1.2", NULL);
    later(GRACE_NS);
    tick();
    assert_holds();
    later(1);
    tick();
    assert_broken("no Stale");
}

static void test_alerts_raised_paused_monitor_is_excused_until_it_is_back(void **state)
{
    (void)state;
    take_lock();
    janitor("fault.pause");
    later(NS_PER_DAY);
    tick();
    janitor("fault.resumed");
    assert_holds();
    later(GRACE_NS + 1);
    tick();
    assert_broken("no Stale");
}

static void test_alerts_raised_monitor_that_waits_for_a_lock_is_excused(void **state)
{
    (void)state;
    take_lock();
    trace_event(fixture.trace, "db.blocked", "janitor-1/reap", NULL);
    later(NS_PER_DAY);
    tick();
    trace_event(fixture.trace, "db.exec", "janitor-1/reap", NULL);
    assert_holds();
    later(GRACE_NS + 1);
    tick();
    assert_broken("no Stale");
}

static void test_alerts_raised_trouble_of_a_worker_excuses_nobody(void **state)
{
    (void)state;
    take_lock();
    trace_event(fixture.trace, "fault.crash", "worker-1", NULL);
    later(GRACE_NS + 1);
    tick();
    assert_broken("no Stale");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_alerts_raised_stale_lock_alerted_in_time_passes),
        CHECK_TEST(test_alerts_raised_stale_lock_without_alert_fails),
        CHECK_TEST(test_alerts_raised_stale_lock_with_alert_about_another_fails),
        CHECK_TEST(test_alerts_raised_lock_gone_in_time_needs_none),
        CHECK_TEST(test_alerts_raised_end_of_condition_does_not_excuse_silence),
        CHECK_TEST(test_alerts_raised_renewed_lock_needs_none),
        CHECK_TEST(test_alerts_raised_still_firing_is_an_alert),
        CHECK_TEST(test_alerts_raised_at_the_end_too),
        CHECK_TEST(test_alerts_raised_before_its_cause_fails),
        CHECK_TEST(test_alerts_raised_shortly_after_its_cause_passes),
        CHECK_TEST(test_alerts_raised_long_after_its_cause_fails),
        CHECK_TEST(test_alerts_raised_other_alerts_are_left_alone),
        CHECK_TEST(test_alerts_raised_job_alerted_in_time_passes),
        CHECK_TEST(test_alerts_raised_job_that_ends_needs_none),
        CHECK_TEST(test_alerts_raised_job_that_runs_on_fails),
        CHECK_TEST(test_alerts_raised_few_failures_need_none),
        CHECK_TEST(test_alerts_raised_contention_without_alert_fails),
        CHECK_TEST(test_alerts_raised_contention_alerted_passes),
        CHECK_TEST(test_alerts_raised_contention_alert_without_cause_fails),
        CHECK_TEST(test_alerts_raised_crashed_monitor_is_excused_until_it_is_back),
        CHECK_TEST(test_alerts_raised_paused_monitor_is_excused_until_it_is_back),
        CHECK_TEST(test_alerts_raised_monitor_that_waits_for_a_lock_is_excused),
        CHECK_TEST(test_alerts_raised_trouble_of_a_worker_excuses_nobody),
    };
    return cmocka_run_group_tests_name("alerts_raised", tests, NULL, NULL);
}
