#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sim/core/sched.h"
#include "sim/core/strbuf.h"

/* What fibers write down, in the order they run. Assertions stay on the main stack. */
static struct strbuf story;
static struct sched *sched;
static struct choices *choices;
static struct context_pool *contexts;
static int all_idle_count;
static bool go_on_when_idle;

static bool on_all_idle(void *self)
{
    (void)self;
    all_idle_count++;
    return go_on_when_idle;
}

static void on_dropped(void *self, struct fiber *fiber)
{
    (void)self;
    strbuf_printf(&story, "-%s ", fiber_name(fiber));
}

static void begin(uint64_t seed)
{
    struct sched_hooks hooks = {.all_idle = on_all_idle, .dropped = on_dropped};
    choices = choices_new(seed);
    contexts = context_pool_new();
    sched = sched_new(contexts, choices, &hooks);
    strbuf_init(&story);
    all_idle_count = 0;
    go_on_when_idle = true;
}

static int setup(void **state)
{
    (void)state;
    begin(1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sched_free(sched);
    context_pool_free(contexts);
    choices_free(choices);
    strbuf_release(&story);
    return 0;
}

/* The simplest answer to every question: the same fiber goes on. */
static void simplest(void)
{
    choices_replay(choices, "schedule", NULL, 0);
    choices_replay(choices, "slow", NULL, 0);
}

static void say(const char *text)
{
    strbuf_printf(&story, "%s%lld ", text, (long long)(sched_now_ns(sched) / NS_PER_S));
}

static void talker(void *arg)
{
    for (int i = 0; i < 3; i++) {
        say(arg);
        fiber_yield(sched);
    }
}

static void sleeper(void *arg)
{
    const char *name = arg;
    fiber_sleep_until(sched, (name[0] - '0') * NS_PER_S, false);
    say(arg);
}

static void spawn(const char *proc, fiber_body *body, const char *arg)
{
    fiber_spawn(sched, proc_new(sched, proc), NULL, body, (void *)(uintptr_t)arg);
}

static void test_sched_choice_zero_same_fiber_goes_on(void **state)
{
    (void)state;
    simplest();
    spawn("a", talker, "a");
    spawn("b", talker, "b");
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "a0 a0 a0 b0 b0 b0 ");
}

static void test_sched_same_seed_same_order(void **state)
{
    (void)state;
    char first[128];
    for (int round = 0; round < 2; round++) {
        teardown(NULL);
        begin(42);
        spawn("a", talker, "a");
        spawn("b", talker, "b");
        spawn("c", talker, "c");
        sched_run(sched, INT64_MAX, 100);
        if (round == 0)
            snprintf(first, sizeof first, "%s", strbuf_str(&story));
    }
    assert_string_equal(strbuf_str(&story), first);
    assert_string_not_equal(first, "a0 a0 a0 b0 b0 b0 c0 c0 c0 ");
}

static void test_sched_timers_fire_in_order_of_deadline(void **state)
{
    (void)state;
    simplest();
    spawn("x", sleeper, "3");
    spawn("y", sleeper, "1");
    spawn("z", sleeper, "2");
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "11 22 33 ");
}

static void test_sched_time_limit_stops_before_later_timer(void **state)
{
    (void)state;
    spawn("x", sleeper, "5");
    assert_int_equal(sched_run(sched, 4 * NS_PER_S, 100), SCHED_TIME_OUT);
    assert_string_equal(strbuf_str(&story), "");
    assert_int_equal(sched_run(sched, 5 * NS_PER_S, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "55 ");
}

static void test_sched_step_limit_ends_run(void **state)
{
    (void)state;
    spawn("a", talker, "a");
    assert_int_equal(sched_run(sched, INT64_MAX, 2), SCHED_STEPS_OUT);
    assert_string_equal(strbuf_str(&story), "a0 a0 ");
}

/* ---- crash and pause ---- */

static struct proc *victim;

static void crash_other(void *arg)
{
    (void)arg;
    proc_crash(sched, victim);
    say("after");
}

static void crash_self(void *arg)
{
    (void)arg;
    say("before");
    proc_crash(sched, victim);
    say("never");
}

static void note_cleanup(void *resource)
{
    strbuf_puts(&story, resource);
}

static void test_sched_crash_drops_all_fibers_and_cleans_up_in_reverse(void **state)
{
    (void)state;
    simplest();
    victim = proc_new(sched, "victim");
    arena_defer(proc_arena(victim), note_cleanup, (void *)(uintptr_t) "one ");
    arena_defer(proc_arena(victim), note_cleanup, (void *)(uintptr_t) "two ");
    fiber_spawn(sched, victim, NULL, sleeper, (void *)(uintptr_t) "9");
    fiber_spawn(sched, victim, "second", sleeper, (void *)(uintptr_t) "8");
    sched_run(sched, NS_PER_S, 100);
    spawn("killer", crash_other, NULL);
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "-victim -victim/second two one after0 ");
    assert_false(proc_is_alive(victim));
}

static void test_sched_crash_of_own_process_never_returns(void **state)
{
    (void)state;
    victim = proc_new(sched, "victim");
    fiber_spawn(sched, victim, NULL, crash_self, NULL);
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "before0 -victim ");
}

static void pause_victim(void *arg)
{
    (void)arg;
    proc_pause(sched, victim, 7 * NS_PER_S);
    say("paused");
}

static void spawn_victim_and_pauser(void)
{
    simplest();
    victim = proc_new(sched, "victim");
    fiber_spawn(sched, victim, NULL, sleeper, (void *)(uintptr_t) "2");
    spawn("pauser", pause_victim, NULL);
    spawn("other", sleeper, "3");
}

static void test_sched_sleep_into_the_past_only_yields(void **state)
{
    (void)state;
    spawn("x", sleeper, "0");
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "00 ");
}

static void test_sched_pause_makes_timers_late(void **state)
{
    (void)state;
    spawn_victim_and_pauser();
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "paused0 33 27 ");
}

static void test_sched_resume_all_fires_what_is_overdue(void **state)
{
    (void)state;
    spawn_victim_and_pauser();
    sched_run(sched, 3 * NS_PER_S, 100);
    proc_resume_all(sched);
    sched_run(sched, 3 * NS_PER_S, 100);
    assert_string_equal(strbuf_str(&story), "paused0 33 23 ");
}

/* ---- waiting ---- */

static struct fiber *waiter;

static void wait_body(void *arg)
{
    (void)arg;
    say(fiber_block_until(sched, "test", 5 * NS_PER_S, false) ? "woken" : "late");
    say(fiber_block_until(sched, "test", 5 * NS_PER_S, false) ? "woken" : "late");
}

static void wake_body(void *arg)
{
    (void)arg;
    fiber_sleep_until(sched, NS_PER_S, false);
    fiber_wake(sched, waiter);
}

static void test_sched_block_ends_by_wake_or_deadline(void **state)
{
    (void)state;
    simplest();
    waiter = fiber_spawn(sched, proc_new(sched, "w"), NULL, wait_body, NULL);
    spawn("waker", wake_body, NULL);
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_DEAD);
    assert_string_equal(strbuf_str(&story), "woken1 late5 ");
}

static void idler(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 3; i++)
        fiber_sleep_until(sched, i * NS_PER_S, true);
}

static void test_sched_all_idle_is_told_and_may_end_run(void **state)
{
    (void)state;
    spawn("idler", idler, NULL);
    go_on_when_idle = false;
    assert_int_equal(sched_run(sched, INT64_MAX, 100), SCHED_STOPPED);
    assert_int_equal(all_idle_count, 1);
    spawn("busy", sleeper, "2");
    go_on_when_idle = true;
    sched_run(sched, NS_PER_S, 100);
    assert_int_equal(all_idle_count, 1);
}

/* ---- slowness ---- */

static void far_sleeper(void *arg)
{
    (void)arg;
    fiber_sleep_until(sched, NS_PER_HOUR, false);
}

static void test_sched_slowness_is_bounded(void **state)
{
    (void)state;
    spawn("far", far_sleeper, NULL);
    sched_run(sched, 1, 100);
    spawn("a", talker, "a");
    sched_set_slowness(sched, 1000000);
    uint32_t slow_once[] = {1, 0, 0, 0};
    choices_replay(choices, "slow", slow_once, 4);
    sched_run(sched, 59 * NS_PER_MIN, 100);
    assert_string_equal(strbuf_str(&story), "a30 a30 a30 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_sched_choice_zero_same_fiber_goes_on),
        TEST(test_sched_same_seed_same_order),
        TEST(test_sched_timers_fire_in_order_of_deadline),
        TEST(test_sched_time_limit_stops_before_later_timer),
        TEST(test_sched_step_limit_ends_run),
        TEST(test_sched_crash_drops_all_fibers_and_cleans_up_in_reverse),
        TEST(test_sched_crash_of_own_process_never_returns),
        TEST(test_sched_sleep_into_the_past_only_yields),
        TEST(test_sched_pause_makes_timers_late),
        TEST(test_sched_resume_all_fires_what_is_overdue),
        TEST(test_sched_block_ends_by_wake_or_deadline),
        TEST(test_sched_all_idle_is_told_and_may_end_run),
        TEST(test_sched_slowness_is_bounded),
    };
    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
