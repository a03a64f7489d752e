#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/run/measured.h"
#include "sim/world/metrics.h"
#include "sim/world/service.h"

static const struct effect_view effects[] = {{.service = "post", .op = "send"}};
static const char *const names[] = {"held_seconds", "held_seconds_long", "idle_seconds", NULL};
static const struct strategy strategy = {
    .effects = effects, .effect_count = FP_COUNT(effects), .summary_metrics = names};
static const struct strategy nothing = {.name = "nothing"};

struct fixture {
    struct metrics *metrics;
    struct service *service;
    struct tally *tally;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){metrics_new(), service_new(), tally_new()};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    metrics_free(fixture->metrics);
    service_free(fixture->service);
    tally_free(fixture->tally);
    return 0;
}

static void observe(struct fixture *fixture, const char *name, int64_t duration_ns)
{
    assert_true(metrics_observe(fixture->metrics, 0, name, NULL, NULL, duration_ns));
}

static struct measured read_at(const struct fixture *fixture, size_t index)
{
    struct measured measured;
    assert_true(measured_at(&strategy, fixture->tally, index, &measured));
    return measured;
}

static void test_measured_median_and_maximum_over_runs(void **state)
{
    struct fixture *fixture = *state;
    observe(fixture, "held_seconds", 2 * NS_PER_S);
    observe(fixture, "held_seconds", 45 * NS_PER_S);
    observe(fixture, "held_seconds_long", 90 * NS_PER_S); /* a name that begins with another */
    measured_take(&strategy, fixture->metrics, fixture->service, fixture->tally);
    metrics_reset(fixture->metrics);
    observe(fixture, "held_seconds", 20 * NS_PER_MS);
    measured_take(&strategy, fixture->metrics, fixture->service, fixture->tally);
    struct measured held = read_at(fixture, 1);
    assert_string_equal(held.name, "held_seconds");
    assert_true(held.is_duration);
    assert_int_equal(held.count, 3);
    assert_int_equal(held.median_ns, 2 * NS_PER_S);
    assert_int_equal(held.max_ns, 45 * NS_PER_S);
    assert_int_equal(read_at(fixture, 2).max_ns, 90 * NS_PER_S);
}

static void test_measured_of_an_even_number_is_the_lower_one(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 1; i <= 4; i++)
        observe(fixture, "held_seconds", i * NS_PER_S);
    measured_take(&strategy, fixture->metrics, fixture->service, fixture->tally);
    assert_int_equal(read_at(fixture, 1).median_ns, 2 * NS_PER_S);
}

static void test_measured_keeps_three_digits(void **state)
{
    struct fixture *fixture = *state;
    observe(fixture, "held_seconds", 123456 * NS_PER_US);
    measured_take(&strategy, fixture->metrics, fixture->service, fixture->tally);
    assert_int_equal(read_at(fixture, 1).max_ns, 123 * NS_PER_MS);
}

static void test_measured_nothing_observed_is_zero(void **state)
{
    struct fixture *fixture = *state;
    struct measured measured;
    measured_take(&strategy, fixture->metrics, fixture->service, fixture->tally);
    assert_string_equal(read_at(fixture, 0).name, "duplicate_effects");
    assert_false(read_at(fixture, 0).is_duration);
    assert_int_equal(read_at(fixture, 0).count, 0);
    assert_int_equal(read_at(fixture, 3).count, 0);
    assert_int_equal(read_at(fixture, 3).max_ns, 0);
    assert_false(measured_at(&strategy, fixture->tally, 4, &measured));
    assert_false(measured_at(&nothing, fixture->tally, 0, &measured));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_measured_median_and_maximum_over_runs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_measured_of_an_even_number_is_the_lower_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_measured_keeps_three_digits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_measured_nothing_observed_is_zero, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("measured", tests, NULL, NULL);
}
