#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/check/check.h"

#define RESOURCE "demo.aws.example.com"

static const struct strategy no_strategy = {.name = "none"};

struct fixture {
    struct trace *trace;
    struct checks *checks;
    int64_t step;
};

static int setup(void **state)
{
    static struct fixture fixture;
    const struct invariant *list[] = {invariant_find("single_owner")};
    const struct check_setup check_setup = {.strategy = &no_strategy};

    assert_non_null(list[0]);
    fixture = (struct fixture){.trace = trace_new()};
    fixture.checks = checks_new(list, 1, &check_setup);
    trace_observe(fixture.trace, checks_event, fixture.checks);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    trace_free(fixture->trace);
    checks_free(fixture->checks);
    return 0;
}

struct owner {
    const char *instance;
    const char *job;
    int64_t run;
};

static const struct owner a = {"worker-1.1", "j1", 1};
static const struct owner b = {"worker-2.1", "j2", 1};

static void at(struct fixture *fixture, int64_t minutes)
{
    trace_set_now(fixture->trace, ++fixture->step, minutes * NS_PER_MIN);
}

static void start_on(struct fixture *fixture, int64_t minutes, struct owner owner,
                     const char *resource, const char *op, const char *part, int64_t effect,
                     const char *accepted)
{
    at(fixture, minutes);
    trace_begin(fixture->trace, "effect.start", "worker");
    trace_text(fixture->trace, "instance", owner.instance);
    trace_text(fixture->trace, "cluster", "demo");
    trace_text(fixture->trace, "resource", resource);
    trace_text(fixture->trace, "op", op);
    trace_text(fixture->trace, "part", part);
    trace_text(fixture->trace, "job", owner.job);
    trace_number(fixture->trace, "run", owner.run);
    trace_number(fixture->trace, "token", 0);
    trace_number(fixture->trace, "effect", effect);
    trace_text(fixture->trace, "accepted", accepted);
    trace_end(fixture->trace);
}

static void start(struct fixture *fixture, int64_t minutes, struct owner owner, const char *op,
                  const char *part, int64_t effect)
{
    start_on(fixture, minutes, owner, RESOURCE, op, part, effect, "yes");
}

static void end(struct fixture *fixture, int64_t minutes, int64_t effect)
{
    at(fixture, minutes);
    trace_begin(fixture->trace, "effect.end", "harness");
    trace_number(fixture->trace, "effect", effect);
    trace_text(fixture->trace, "result", "ERR_OK");
    trace_end(fixture->trace);
}

static void assert_passes(struct fixture *fixture)
{
    assert_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_PASS);
}

static void assert_fails(struct fixture *fixture, int64_t step, const char *sentence)
{
    const struct invariant *which = NULL;
    const struct finding *finding = checks_first(fixture->checks, VERDICT_FAIL, &which);

    assert_non_null(finding);
    assert_string_equal(which->name, "single_owner");
    assert_string_equal(finding->sentence, sentence);
    assert_int_equal(finding->step, step);
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_FAIL);
}

static void test_single_owner_one_owner_passes(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    start(fixture, 2, a, "create", "dns", 2);
    end(fixture, 3, 1);
    end(fixture, 4, 2);
    start(fixture, 5, a, "create", "workers", 3);
    assert_passes(fixture);
}

static void test_single_owner_takeover_passes(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    end(fixture, 2, 1);
    start(fixture, 70, b, "create", "network", 2);
    end(fixture, 72, 2);
    start(fixture, 73, b, "create", "dns", 3);
    assert_passes(fixture);
}

static void test_single_owner_overlap_fails(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 68, a, "create", "workers", 1);
    start(fixture, 70, b, "destroy", "control-plane", 2);
    assert_fails(fixture, 2,
                 "worker-2.1 (job j2) destroyed control-plane of demo.aws.example.com at 1h10m "
                 "while worker-1.1 (job j1) was creating workers (since 1h8m)");
}

static void test_single_owner_start_at_the_end_passes(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 68, a, "create", "workers", 1);
    end(fixture, 70, 1);
    start(fixture, 70, b, "destroy", "workers", 2);
    assert_passes(fixture);
}

static void test_single_owner_return_after_takeover_fails(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    end(fixture, 2, 1);
    start(fixture, 70, b, "destroy", "network", 2);
    end(fixture, 72, 2);
    start(fixture, 80, a, "scale", "workers", 3);
    assert_fails(fixture, 5,
                 "worker-1.1 (job j1) scaled workers of demo.aws.example.com at 1h20m after "
                 "worker-2.1 (job j2) had taken over (it destroyed network at 1h10m)");
}

static void test_single_owner_first_failure_stays(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    start(fixture, 2, b, "create", "dns", 2);
    start(fixture, 3, a, "create", "dns", 3);
    assert_fails(fixture, 2,
                 "worker-2.1 (job j2) created dns of demo.aws.example.com at 2m while worker-1.1 "
                 "(job j1) was creating network (since 1m)");
}

static void test_single_owner_refused_effect_passes(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    end(fixture, 2, 1);
    start(fixture, 70, b, "destroy", "network", 2);
    start_on(fixture, 71, a, RESOURCE, "create", "dns", 3, "no");
    end(fixture, 71, 3);
    end(fixture, 72, 2);
    start(fixture, 73, b, "destroy", "dns", 4);
    assert_passes(fixture);
}

static void test_single_owner_refused_end_does_not_end_another(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    start_on(fixture, 2, b, RESOURCE, "create", "dns", 2, "no");
    end(fixture, 3, 2);
    start(fixture, 4, b, "create", "dns", 3);
    assert_non_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
}

static void test_single_owner_other_resource_passes(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    start_on(fixture, 2, b, "demo.gcp.example.com", "create", "network", 2, "yes");
    start(fixture, 3, a, "create", "dns", 3);
    assert_passes(fixture);
}

/* The same job in another run, or in another life of the same process, is another owner. */
static void test_single_owner_other_run_fails(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    start(fixture, 2, (struct owner){"worker-1.1", "j1", 2}, "create", "dns", 2);
    assert_non_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
}

static void test_single_owner_other_life_fails(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, 1, a, "create", "network", 1);
    start(fixture, 2, (struct owner){"worker-1.2", "j1", 1}, "create", "dns", 2);
    assert_non_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
}

static void test_single_owner_unreadable_effect_is_unknown(void **state)
{
    struct fixture *fixture = *state;
    at(fixture, 1);
    trace_event(fixture->trace, "effect.start", "worker", "accepted", "yes", NULL);
    assert_null(checks_first(fixture->checks, VERDICT_FAIL, NULL));
    assert_int_equal(checks_verdict(fixture->checks), VERDICT_UNKNOWN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_single_owner_one_owner_passes),
        TEST(test_single_owner_takeover_passes),
        TEST(test_single_owner_overlap_fails),
        TEST(test_single_owner_start_at_the_end_passes),
        TEST(test_single_owner_return_after_takeover_fails),
        TEST(test_single_owner_first_failure_stays),
        TEST(test_single_owner_refused_effect_passes),
        TEST(test_single_owner_refused_end_does_not_end_another),
        TEST(test_single_owner_other_resource_passes),
        TEST(test_single_owner_other_run_fails),
        TEST(test_single_owner_other_life_fails),
        TEST(test_single_owner_unreadable_effect_is_unknown),
    };
    return cmocka_run_group_tests_name("single_owner", tests, NULL, NULL);
}
