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

static int monitor_setup(void **state)
{
    fixture_setup(state);
    janitor("actor.started");
    return 0;
}

#define ALERT_TEST(name) cmocka_unit_test_setup_teardown(name, monitor_setup, fixture_teardown)

/* A job with its lock. */
static void run_job(int64_t lease_ns)
{
    job("insert", "j1", "demo", "CREATE", "RUNNING", NULL, NULL);
    lock("insert", "demo", "j1", "1", lease_ns);
}

static void fail_job(const char *code)
{
    job("update", "j1", "demo", "CREATE", "FAILED", code, "RUNNING");
    next_commit();
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
    lock("delete", "demo", "j2", "2", NS_PER_HOUR);
    clear("Stale", "demo");
    lock("insert", "demo", "j3", "3", NS_PER_HOUR);
    later(NS_PER_HOUR);
    tick();
    assert_broken("no Stale");
}

static void test_alerts_raised_reaped_in_time_but_not_told_fails(void **state)
{
    (void)state;
    run_job(NS_PER_HOUR);
    later(66 * NS_PER_MIN);
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    fail_job("TIMEOUT");
    later(GRACE_NS);
    tick();
    assert_broken("no Stale by 1h16m, though the lock on demo was stale from 1h5m on");
}

static void test_alerts_raised_reaped_and_told_passes(void **state)
{
    (void)state;
    run_job(NS_PER_HOUR);
    later(66 * NS_PER_MIN);
    alert("Stale", "demo");
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    fail_job("TIMEOUT");
    clear("Stale", "demo");
    later(NS_PER_DAY);
    tick();
    end_run(true);
    assert_holds();
}

static void test_alerts_raised_at_the_end_too(void **state)
{
    (void)state;
    take_lock();
    later(GRACE_NS + 1);
    end_run(false);
    assert_broken("no Stale");
}

/* ---- tidied away ---- */

static void test_alerts_raised_cleared_while_its_cause_lasts_fails(void **state)
{
    (void)state;
    take_lock();
    alert("Stale", "demo");
    later(NS_PER_MIN);
    clear("Stale", "demo");
    assert_broken("janitor-1 tidied Stale about demo away at 1h6m, though the lock on demo was "
                  "stale from 1h5m on");
}

static void test_alerts_raised_cleared_by_a_worker_while_its_cause_lasts_fails(void **state)
{
    (void)state;
    run_job(NS_PER_DAY);
    later(91 * NS_PER_MIN);
    alert("Long", "j1");
    trace_event(fixture.trace, "alert.cleared", "worker-1", "alert", "Long", "subject", "j1", NULL);
    assert_broken("worker-1 tidied Long");
}

static void test_alerts_raised_cleared_with_its_cause_passes(void **state)
{
    (void)state;
    take_lock();
    alert("Stale", "demo");
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    clear("Stale", "demo");
    assert_holds();
}

static void test_alerts_raised_cleared_by_one_who_was_paused_passes(void **state)
{
    (void)state;
    take_lock();
    alert("Stale", "demo");
    janitor("fault.pause");
    later(NS_PER_HOUR);
    janitor("fault.resumed");
    clear("Stale", "demo");
    assert_holds();
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
    run_job(2 * NS_PER_DAY);
    later(90 * NS_PER_MIN);
    alert("Long", "j1");
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_job_alerted_too_early_fails(void **state)
{
    (void)state;
    run_job(NS_PER_DAY);
    later(90 * NS_PER_MIN - 1);
    alert("Long", "j1");
    assert_broken("janitor-1 raised Long about j1 at 1h29m59s999ms999us999ns without a cause");
}

/* Its transaction was slow: the start is half an hour before the commit. */
static void test_alerts_raised_job_counts_from_its_own_start(void **state)
{
    (void)state;
    later(30 * NS_PER_MIN);
    job_since("insert", "j1", "demo", "CREATE", "RUNNING", NULL, NULL, 0);
    lock("insert", "demo", "j1", "1", NS_PER_DAY);
    later(60 * NS_PER_MIN);
    alert("Long", "j1");
    assert_holds();
}

/* Nobody could see it before. */
static void test_alerts_raised_job_committed_late_has_its_time_from_then_on(void **state)
{
    (void)state;
    later(3 * NS_PER_HOUR);
    job_since("insert", "j1", "demo", "CREATE", "RUNNING", NULL, NULL, 0);
    lock("insert", "demo", "j1", "1", NS_PER_DAY);
    later(GRACE_NS);
    tick();
    assert_holds();
    later(1);
    tick();
    assert_broken("no Long by 3h10m1ns, though job j1 ran too long from 3h on");
}

static void test_alerts_raised_job_that_ends_needs_none(void **state)
{
    (void)state;
    run_job(2 * NS_PER_DAY);
    later(90 * NS_PER_MIN);
    job("update", "j1", "demo", "CREATE", "SUCCEEDED", NULL, "RUNNING");
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_job_that_runs_on_fails(void **state)
{
    (void)state;
    run_job(NS_PER_DAY);
    later(90 * NS_PER_MIN + GRACE_NS + 1);
    tick();
    assert_broken("no Long by 1h40m1ns, though job j1 ran too long from 1h30m on");
}

/* ---- a clock that is stepped ---- */

static void step_clock(const char *ahead_ns)
{
    trace_event(fixture.trace, "db.clock", "database", "ahead_ns", ahead_ns, "rate_ppm", "0", NULL);
}

/* Forward: what would have been due in an hour is due now. */
static void test_alerts_raised_clock_forward_makes_a_lock_stale_at_once(void **state)
{
    (void)state;
    lock("insert", "demo", "j1", "1", NS_PER_HOUR);
    later(5 * NS_PER_MIN);
    step_clock("3600000000000");
    later(GRACE_NS);
    tick();
    assert_holds();
    later(1);
    tick();
    assert_broken("no Stale by 15m1ns, though the lock on demo was stale from 5m on");
}

static void test_alerts_raised_clock_back_puts_off_what_is_due(void **state)
{
    (void)state;
    run_job(NS_PER_DAY);
    later(5 * NS_PER_MIN);
    step_clock("-3600000000000");
    later(140 * NS_PER_MIN);
    tick();
    assert_holds();
    alert("Long", "j1");
    assert_broken("without a cause");
}

static void test_alerts_raised_alert_by_the_clock_before_its_step_passes(void **state)
{
    (void)state;
    take_lock();
    step_clock("-3600000000000");
    alert("Stale", "demo");
    assert_holds();
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

/* The series is over when it has fewer than four within a minute. */
static void test_alerts_raised_contention_cleared_when_it_is_over_passes(void **state)
{
    (void)state;
    refuse(1);
    later(NS_PER_MIN / 2);
    refuse(3);
    alert("Contention", "anything");
    later(NS_PER_MIN / 2 - 1);
    tick();
    later(1);
    clear("Contention", "anything");
    assert_holds();
}

static void test_alerts_raised_contention_cleared_while_it_lasts_fails(void **state)
{
    (void)state;
    refuse(1);
    later(NS_PER_MIN / 2);
    refuse(3);
    alert("Contention", "anything");
    later(NS_PER_MIN / 2 - 1);
    clear("Contention", "anything");
    assert_broken("tidied Contention");
}

/* ---- dead letters ---- */

static void letter(const char *kind, const char *who)
{
    trace_event(fixture.trace, kind, who, "group", "g", "body", "j1 demo", NULL);
}

static void settle_letter(const char *kind, const char *result)
{
    letter("dead.received", "janitor-1");
    trace_event(fixture.trace, kind, "janitor-1", "result", result, NULL);
}

static void test_alerts_raised_letter_without_alert_fails(void **state)
{
    (void)state;
    letter("queue.dead", "queue");
    later(NS_PER_HOUR + 10 * NS_PER_MIN + GRACE_NS);
    tick();
    assert_holds();
    later(1);
    tick();
    assert_broken("no Letter by 1h20m1ns, though the message of job j1 was a dead letter for too "
                  "long from 1h on");
}

static void test_alerts_raised_letter_put_back_needs_none(void **state)
{
    (void)state;
    letter("queue.dead", "queue");
    later(NS_PER_HOUR);
    settle_letter("dead.redriven", err_name(ERR_OK));
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_letter_put_back_in_vain_fails(void **state)
{
    (void)state;
    letter("queue.dead", "queue");
    settle_letter("dead.redriven", err_name(ERR_QUEUE_STALE_RECEIPT));
    later(NS_PER_DAY);
    tick();
    assert_broken("no Letter");
}

static void test_alerts_raised_letter_alerted_too_early_fails(void **state)
{
    (void)state;
    letter("queue.dead", "queue");
    later(NS_PER_HOUR - 1);
    alert("Letter", "j1");
    assert_broken("without a cause");
}

static void test_alerts_raised_letter_cleared_before_it_is_gone_fails(void **state)
{
    (void)state;
    letter("queue.dead", "queue");
    later(NS_PER_HOUR);
    alert("Letter", "j1");
    clear("Letter", "j1");
    assert_broken("tidied Letter");
}

/* ---- lost and doubled locks ---- */

static void lose_lock(void)
{
    run_job(NS_PER_HOUR);
    next_commit();
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    next_commit();
}

static void test_alerts_raised_lockless_job_without_alert_fails(void **state)
{
    (void)state;
    lose_lock();
    later(GRACE_NS);
    tick();
    assert_holds();
    later(1);
    tick();
    assert_broken("no Lockless by 10m1ns, though a job on demo ran without a lock from 0s on");
}

static void test_alerts_raised_lockless_job_that_ends_well_needs_none(void **state)
{
    (void)state;
    lose_lock();
    job("update", "j1", "demo", "CREATE", "SUCCEEDED", NULL, "RUNNING");
    later(NS_PER_DAY);
    tick();
    end_run(true);
    assert_holds();
}

static void test_alerts_raised_lockless_job_failed_but_not_told_fails_at_the_end(void **state)
{
    (void)state;
    lose_lock();
    fail_job("LOCK_LOST");
    end_run(true);
    assert_broken("no Lockless by 0s");
}

static void test_alerts_raised_lockless_job_failed_and_told_passes(void **state)
{
    (void)state;
    lose_lock();
    alert("Lockless", "demo");
    fail_job("LOCK_LOST");
    end_run(true);
    assert_holds();
}

static void test_alerts_raised_lockless_without_cause_fails(void **state)
{
    (void)state;
    run_job(NS_PER_HOUR);
    next_commit();
    alert("Lockless", "demo");
    assert_broken("without a cause");
}

static void test_alerts_raised_two_locks_without_alert_fails(void **state)
{
    (void)state;
    run_job(NS_PER_HOUR);
    job("insert", "j2", "demo", "CREATE", "RUNNING", NULL, NULL);
    lock("insert", "demo", "j2", "2", NS_PER_HOUR);
    next_commit();
    later(GRACE_NS + 1);
    tick();
    assert_broken("no Double by 10m1ns, though the lock on demo was held twice from 0s on");
}

static void test_alerts_raised_two_locks_ended_but_not_told_fails(void **state)
{
    (void)state;
    run_job(NS_PER_HOUR);
    job("insert", "j2", "demo", "CREATE", "RUNNING", NULL, NULL);
    lock("insert", "demo", "j2", "2", NS_PER_HOUR);
    next_commit();
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    lock("delete", "demo", "j2", "2", NS_PER_HOUR);
    job("update", "j2", "demo", "CREATE", "FAILED", "HELD_TWICE", "RUNNING");
    fail_job("HELD_TWICE");
    end_run(true);
    assert_broken("no Double");
}

/* ---- a monitor that cannot look ---- */

static void test_alerts_raised_without_monitor_nobody_is_silent(void **state)
{
    (void)state;
    fixture_teardown(state);
    fixture_setup(state);
    take_lock();
    later(NS_PER_DAY);
    tick();
    assert_holds();
}

static void test_alerts_raised_one_crashed_monitor_does_not_excuse_another(void **state)
{
    (void)state;
    trace_event(fixture.trace, "actor.started", "janitor-2", NULL);
    take_lock();
    janitor("fault.crash");
    later(GRACE_NS + 1);
    tick();
    assert_broken("no Stale");
}

static void test_alerts_raised_wait_of_a_life_that_ended_excuses_nobody(void **state)
{
    (void)state;
    trace_event(fixture.trace, "db.blocked", "janitor-1/reap", NULL);
    janitor("fault.crash");
    trace_event(fixture.trace, "actor.started", "janitor-1.2", NULL);
    take_lock();
    later(GRACE_NS + 1);
    tick();
    assert_broken("no Stale");
}

static void test_alerts_raised_late_alert_of_a_paused_monitor_passes(void **state)
{
    (void)state;
    take_lock();
    janitor("fault.pause");
    lock("delete", "demo", "j1", "1", NS_PER_HOUR);
    later(NS_PER_DAY);
    tick();
    janitor("fault.resumed");
    alert("Stale", "demo");
    assert_holds();
}

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
        ALERT_TEST(test_alerts_raised_stale_lock_alerted_in_time_passes),
        ALERT_TEST(test_alerts_raised_stale_lock_without_alert_fails),
        ALERT_TEST(test_alerts_raised_stale_lock_with_alert_about_another_fails),
        ALERT_TEST(test_alerts_raised_lock_gone_in_time_needs_none),
        ALERT_TEST(test_alerts_raised_end_of_condition_does_not_excuse_silence),
        ALERT_TEST(test_alerts_raised_renewed_lock_needs_none),
        ALERT_TEST(test_alerts_raised_still_firing_is_an_alert),
        ALERT_TEST(test_alerts_raised_reaped_in_time_but_not_told_fails),
        ALERT_TEST(test_alerts_raised_reaped_and_told_passes),
        ALERT_TEST(test_alerts_raised_at_the_end_too),
        ALERT_TEST(test_alerts_raised_cleared_while_its_cause_lasts_fails),
        ALERT_TEST(test_alerts_raised_cleared_by_a_worker_while_its_cause_lasts_fails),
        ALERT_TEST(test_alerts_raised_cleared_with_its_cause_passes),
        ALERT_TEST(test_alerts_raised_cleared_by_one_who_was_paused_passes),
        ALERT_TEST(test_alerts_raised_before_its_cause_fails),
        ALERT_TEST(test_alerts_raised_shortly_after_its_cause_passes),
        ALERT_TEST(test_alerts_raised_long_after_its_cause_fails),
        ALERT_TEST(test_alerts_raised_other_alerts_are_left_alone),
        ALERT_TEST(test_alerts_raised_job_alerted_in_time_passes),
        ALERT_TEST(test_alerts_raised_job_alerted_too_early_fails),
        ALERT_TEST(test_alerts_raised_job_counts_from_its_own_start),
        ALERT_TEST(test_alerts_raised_job_committed_late_has_its_time_from_then_on),
        ALERT_TEST(test_alerts_raised_job_that_ends_needs_none),
        ALERT_TEST(test_alerts_raised_job_that_runs_on_fails),
        ALERT_TEST(test_alerts_raised_clock_forward_makes_a_lock_stale_at_once),
        ALERT_TEST(test_alerts_raised_clock_back_puts_off_what_is_due),
        ALERT_TEST(test_alerts_raised_alert_by_the_clock_before_its_step_passes),
        ALERT_TEST(test_alerts_raised_few_failures_need_none),
        ALERT_TEST(test_alerts_raised_contention_without_alert_fails),
        ALERT_TEST(test_alerts_raised_contention_alerted_passes),
        ALERT_TEST(test_alerts_raised_contention_alert_without_cause_fails),
        ALERT_TEST(test_alerts_raised_contention_cleared_when_it_is_over_passes),
        ALERT_TEST(test_alerts_raised_contention_cleared_while_it_lasts_fails),
        ALERT_TEST(test_alerts_raised_letter_without_alert_fails),
        ALERT_TEST(test_alerts_raised_letter_put_back_needs_none),
        ALERT_TEST(test_alerts_raised_letter_put_back_in_vain_fails),
        ALERT_TEST(test_alerts_raised_letter_alerted_too_early_fails),
        ALERT_TEST(test_alerts_raised_letter_cleared_before_it_is_gone_fails),
        ALERT_TEST(test_alerts_raised_lockless_job_without_alert_fails),
        ALERT_TEST(test_alerts_raised_lockless_job_that_ends_well_needs_none),
        ALERT_TEST(test_alerts_raised_lockless_job_failed_but_not_told_fails_at_the_end),
        ALERT_TEST(test_alerts_raised_lockless_job_failed_and_told_passes),
        ALERT_TEST(test_alerts_raised_lockless_without_cause_fails),
        ALERT_TEST(test_alerts_raised_two_locks_without_alert_fails),
        ALERT_TEST(test_alerts_raised_two_locks_ended_but_not_told_fails),
        ALERT_TEST(test_alerts_raised_without_monitor_nobody_is_silent),
        ALERT_TEST(test_alerts_raised_one_crashed_monitor_does_not_excuse_another),
        ALERT_TEST(test_alerts_raised_wait_of_a_life_that_ended_excuses_nobody),
        ALERT_TEST(test_alerts_raised_late_alert_of_a_paused_monitor_passes),
        ALERT_TEST(test_alerts_raised_crashed_monitor_is_excused_until_it_is_back),
        ALERT_TEST(test_alerts_raised_paused_monitor_is_excused_until_it_is_back),
        ALERT_TEST(test_alerts_raised_monitor_that_waits_for_a_lock_is_excused),
        ALERT_TEST(test_alerts_raised_trouble_of_a_worker_excuses_nobody),
    };
    return cmocka_run_group_tests_name("alerts_raised", tests, NULL, NULL);
}
