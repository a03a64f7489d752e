#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake_registry.h"
#include "sim/hunt/selftest.h"

#define ALL_NAMES "no_fencing, no_heartbeat, short_lease"

static struct scenario *loaded[16];
static size_t loaded_count;
static struct selftest_report report;

/* ---- fixtures ---- */

static const struct scenario *add(const char *name, const char *variant, const char *expect)
{
    struct diags *diags = fp_alloc(sizeof *diags);
    char *text = fp_format("scenario: %s\nabout: x\nstrategy: job_locks\nvariant: %s\n"
                           "invariants: [all]\nexpect: %s\n",
                           name, variant, expect);
    diags_init(diags, name);
    struct scenario *scenario = scenario_parse(name, text, strlen(text), diags);
    assert_non_null(scenario);
    diags_release(diags);
    free(diags);
    free(text);
    assert_true(loaded_count < FP_COUNT(loaded));
    loaded[loaded_count++] = scenario;
    return scenario;
}

static const struct scenario *add_weak(const char *name, const char *weaknesses)
{
    char *variant = fp_format("{weaknesses: [%s]}", weaknesses);
    const struct scenario *scenario = add(name, variant, "{violates: single_owner}");
    free(variant);
    return scenario;
}

static void plan(const struct selftest_wish *wish)
{
    static const struct selftest_wish everything;
    selftest_plan(wish ? wish : &everything, (const struct scenario *const *)loaded, loaded_count,
                  &report);
}

static int tear_down(void **state)
{
    (void)state;
    selftest_report_release(&report);
    while (loaded_count > 0)
        scenario_free(loaded[--loaded_count]);
    return 0;
}

static const struct selftest_row *row_of(const char *weakness)
{
    for (size_t i = 0; i < report.row_count; i++)
        if (strcmp(report.rows[i].weakness->name, weakness) == 0)
            return &report.rows[i];
    fail_msg("no row of %s", weakness);
    return NULL;
}

/* ---- which scenario ---- */

static void test_plan_scenario_bears_the_name_comes_first(void **state)
{
    (void)state;
    add_weak("alone", "short_lease");
    const struct scenario *named = add_weak("short-lease", ALL_NAMES);
    plan(NULL);
    const struct selftest_row *row = row_of("short_lease");
    assert_int_equal(row->candidate_count, 2);
    assert_ptr_equal(selftest_scenario(row), named);
}

static void test_plan_fewest_weaknesses_come_next_then_the_name(void **state)
{
    (void)state;
    add_weak("three", ALL_NAMES);
    const struct scenario *later = add_weak("two-b", "no_fencing, short_lease");
    const struct scenario *sooner = add_weak("two-a", "no_fencing, no_heartbeat");
    const struct scenario *one = add_weak("z", "no_fencing");
    plan(NULL);
    const struct selftest_row *row = row_of("no_fencing");
    assert_int_equal(row->candidate_count, 4);
    assert_ptr_equal(row->candidates[0], one);
    assert_ptr_equal(row->candidates[1], sooner);
    assert_ptr_equal(row->candidates[2], later);
}

static void test_plan_scenario_of_another_kind_is_no_candidate(void **state)
{
    (void)state;
    add("as-written", "as_written", "{violates: single_owner}");
    add("holds", "hardened", "pass");
    add("survives", "{weaknesses: [no_fencing]}", "pass");
    add("another", "{weaknesses: [no_fencing]}", "{violates: settles}");
    add_weak("not-it", "short_lease");
    plan(NULL);
    assert_int_equal(row_of("no_fencing")->candidate_count, 0);
    assert_null(selftest_scenario(row_of("no_fencing")));
    assert_int_equal(row_of("short_lease")->candidate_count, 1);
}

static void test_plan_too_many_candidates_keeps_the_best(void **state)
{
    (void)state;
    for (int i = 0; i < SELFTEST_CANDIDATE_COUNT_MAX + 2; i++) {
        char name[] = {'w', (char)('z' - i), '\0'};
        add_weak(name, "no_fencing, short_lease");
    }
    const struct scenario *best = add_weak("zz", "no_fencing");
    plan(NULL);
    const struct selftest_row *row = row_of("no_fencing");
    assert_int_equal(row->candidate_count, SELFTEST_CANDIDATE_COUNT_MAX);
    assert_ptr_equal(row->candidates[0], best);
    assert_string_equal(row->candidates[1]->name, "wq");
    assert_string_equal(row->candidates[SELFTEST_CANDIDATE_COUNT_MAX - 1]->name, "ww");
}

/* ---- what else is planned ---- */

static void test_plan_everything_has_all_rows_and_all_weak_scenarios(void **state)
{
    (void)state;
    add("as-written", "as_written", "{violates: single_owner}");
    add("holds", "hardened", "pass");
    add("survives", "{weaknesses: [no_heartbeat]}", "pass");
    plan(NULL);
    assert_int_equal(report.row_count, 3);
    assert_int_equal(report.hardened_count, 2);
    assert_string_equal(report.hardened[0].scenario->name, "as-written");
    assert_int_equal(report.hardened[0].scenario->weaknesses, 0);
    assert_string_equal(report.hardened[0].scenario->variant, "hardened");
    assert_string_equal(report.hardened[1].scenario->name, "survives");
}

static void test_plan_one_weakness_has_its_scenarios_only(void **state)
{
    (void)state;
    const char *names[] = {"short_lease"};
    const struct selftest_wish wish = {.weaknesses = names, .weakness_count = 1};
    add_weak("other", "no_fencing");
    add_weak("mine", "short_lease");
    plan(&wish);
    assert_int_equal(report.row_count, 1);
    assert_string_equal(report.rows[0].weakness->name, "short_lease");
    assert_int_equal(report.hardened_count, 1);
    assert_string_equal(report.hardened[0].scenario->name, "mine");
}

static void test_plan_other_strategy_has_nothing(void **state)
{
    (void)state;
    const char *names[] = {"another"};
    const struct selftest_wish wish = {.strategies = names, .strategy_count = 1};
    add_weak("mine", "short_lease");
    plan(&wish);
    assert_int_equal(report.row_count, 0);
    assert_int_equal(report.hardened_count, 0);
    assert_int_equal(selftest_exit_code(&report), EXIT_NOTHING_RAN);
}

static void test_variant_changes_the_weaknesses_alone(void **state)
{
    (void)state;
    const struct scenario *scenario = add_weak("x", ALL_NAMES);
    struct scenario *two = selftest_variant(scenario, 5);
    struct scenario *none = selftest_variant(scenario, 0);
    assert_int_equal(two->weaknesses, 5);
    assert_string_equal(two->variant, "weak: no_fencing, short_lease");
    assert_ptr_equal(two->expect_invariant, scenario->expect_invariant);
    assert_string_equal(none->variant, "hardened");
    assert_string_equal(none->overrides[0], "variant=hardened");
    scenario_free(two);
    scenario_free(none);
}

/* ---- what came of it ---- */

static void test_stats_are_over_the_catches(void **state)
{
    (void)state;
    struct selftest_row row = {.try_count = 5,
                               .tries = {{true, 9, 4 * NS_PER_S},
                                         {false, 200, 60 * NS_PER_S},
                                         {true, 1, NS_PER_S},
                                         {true, 2, 8 * NS_PER_S},
                                         {true, 4, 2 * NS_PER_S}}};
    struct selftest_stats stats = selftest_stats_of(&row);
    assert_int_equal(stats.caught_count, 4);
    assert_true(stats.seeds_median == 3 && stats.seeds_worst == 9);
    assert_true(stats.s_median == 3 && stats.s_worst == 8);
    row.try_count = 3;
    stats = selftest_stats_of(&row);
    assert_true(stats.caught_count == 2 && stats.seeds_median == 5);
    row.tries[0].caught = row.tries[2].caught = false;
    stats = selftest_stats_of(&row);
    assert_true(stats.caught_count == 0 && stats.seeds_worst == 0);
}

static void test_exit_code_says_what_is_wrong(void **state)
{
    (void)state;
    struct selftest_row row = {.done = true, .try_count = 1, .tries = {{true, 1, 1}}};
    struct selftest_hardened hardened = {.done = true, .seed_count = 3};
    struct selftest_report done = {
        .rows = &row, .row_count = 1, .hardened = &hardened, .hardened_count = 1};
    assert_int_equal(selftest_exit_code(&done), EXIT_PASS);
    row.without_violation_count = 1;
    assert_true(selftest_is_doubtful(&row));
    assert_int_equal(selftest_exit_code(&done), EXIT_PASS);
    hardened.violation_count = 1;
    assert_int_equal(selftest_exit_code(&done), EXIT_VIOLATION);
    hardened.violation_count = 0;
    row.tries[0].caught = false;
    assert_true(selftest_is_missed(&row));
    assert_int_equal(selftest_exit_code(&done), EXIT_VIOLATION);
    strbuf_puts(&done.trouble, "no disk");
    assert_int_equal(selftest_exit_code(&done), EXIT_INFRASTRUCTURE);
    done.interrupted = true;
    assert_int_equal(selftest_exit_code(&done), EXIT_INTERRUPTED);
    strbuf_release(&done.trouble);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plan_scenario_bears_the_name_comes_first, tear_down),
        cmocka_unit_test_teardown(test_plan_fewest_weaknesses_come_next_then_the_name, tear_down),
        cmocka_unit_test_teardown(test_plan_scenario_of_another_kind_is_no_candidate, tear_down),
        cmocka_unit_test_teardown(test_plan_too_many_candidates_keeps_the_best, tear_down),
        cmocka_unit_test_teardown(test_plan_everything_has_all_rows_and_all_weak_scenarios,
                                  tear_down),
        cmocka_unit_test_teardown(test_plan_one_weakness_has_its_scenarios_only, tear_down),
        cmocka_unit_test_teardown(test_plan_other_strategy_has_nothing, tear_down),
        cmocka_unit_test_teardown(test_variant_changes_the_weaknesses_alone, tear_down),
        cmocka_unit_test_teardown(test_stats_are_over_the_catches, tear_down),
        cmocka_unit_test_teardown(test_exit_code_says_what_is_wrong, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
