#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "reports/selftest.h"
#include "sim/check/check.h"

/* Three weaknesses: one caught, one whose scenario breaks without it too, one without a scenario;
 * and a hardened scenario that raises an alarm. */
static const struct weakness weaknesses[] = {
    {.name = "no_fencing", .source = "page 3", .breaks = "single_owner", .as_written = true},
    {.name = "deaf", .source = "planted; as ever", .breaks = "single_owner"},
    {.name = "lost", .source = "\"one could\"", .breaks = "settles"},
};
static const struct strategy strategy = {
    .name = "locks", .weaknesses = weaknesses, .weakness_count = FP_COUNT(weaknesses)};
static const struct invariant invariant = {.name = "single_owner"};
static char override[] = "variant=hardened";
static struct scenario alone = {
    .name = (char *)"no-fencing", .file = (char *)"a.yaml", .weaknesses = 1};
static struct scenario both = {.name = (char *)"both", .file = (char *)"b.yaml", .weaknesses = 3};
static struct scenario hard = {
    .name = (char *)"both", .file = (char *)"b.yaml", .overrides = {override}, .override_count = 1};
static struct selftest_row rows[] = {
    {.strategy = &strategy,
     .weakness = &weaknesses[0],
     .candidates = {&alone},
     .candidate_count = 1,
     .tries = {{true, 1, NS_PER_S / 2}, {true, 4, 2 * NS_PER_S}},
     .try_count = 2,
     .without_seed_count = 5,
     .done = true},
    {.strategy = &strategy,
     .weakness = &weaknesses[1],
     .candidates = {&alone, &both},
     .candidate_count = 2,
     .chosen = 1,
     .tries = {{false, 200, NS_PER_S}, {true, 3, NS_PER_S}},
     .try_count = 2,
     .without_seed_count = 3,
     .without_violation_count = 1,
     .done = true},
    {.strategy = &strategy, .weakness = &weaknesses[2], .done = true},
};
static struct selftest_hardened hardened[] = {
    {.scenario = &hard,
     .seed_count = 20,
     .violation_count = 2,
     .unknown_count = 1,
     .seed = 7,
     .invariant = &invariant,
     .sentence = "two \"owners\"",
     .done = true},
};
static struct selftest_report report = {.rows = rows,
                                        .row_count = FP_COUNT(rows),
                                        .hardened = hardened,
                                        .hardened_count = FP_COUNT(hardened),
                                        .lane_count = 2,
                                        .wall_ns = 3 * NS_PER_S};

#define TABLE                                                                                      \
    "| weakness | in the document | breaks | scenario | caught | seeds | seconds | without it |\n" \
    "|---|---|---|---|---|---|---|---|\n"                                                          \
    "| no_fencing | as written | single_owner | no-fencing | 2 of 2 | 2.5, 4 | 1.25, 2.00 "        \
    "| 0 of 5 |\n"                                                                                 \
    "| deaf | planted | single_owner | both (with no_fencing) | 1 of 2 | 3, 3 | 1.00, 1.00 "       \
    "| 1 of 3 |\n"                                                                                 \
    "| lost | one reading | settles | none | 0 of 0 | | | |\n"

static void assert_has(const struct strbuf *text, const char *part)
{
    if (!strstr(strbuf_str(text), part))
        fail_msg("`%s` is missing in:\n%s", part, strbuf_str(text));
}

static void test_report_selftest_names_what_is_wrong_and_how_to_see_it(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    report_selftest(&report, &text);
    assert_has(&text, "no_fencing  no-fencing    2/2     2.5      4     1.25   2.00       0/5\n");
    assert_has(&text, "2 of 3 weaknesses caught; hardened: 2 alarms in 20 seeds of 1 scenarios");
    assert_has(&text, "warning: both breaks single_owner without deaf too, in 1 of 3 seeds\n");
    assert_has(&text, "warning: both, hardened, did not settle in 1 of 20 seeds\n");
    assert_has(&text, "FALSE ALARM: both, hardened, in 2 of 20 seeds: violation of single_owner: "
                      "two \"owners\"\n"
                      "  ./fencepost replay b.yaml --seed 7 --set variant=hardened\n");
    assert_has(&text, "NOT CAUGHT: lost (locks): no scenario names it");
    assert_null(strstr(strbuf_str(&text), "NOT CAUGHT: deaf"));
    strbuf_release(&text);
}

static void test_report_selftest_json_has_every_weakness(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    report_selftest_json(&report, &text);
    json_t *root = json_loads(strbuf_str(&text), 0, NULL);
    assert_non_null(root);
    const char *name, *other, *missed, *alarm;
    double median;
    int caught, seed;
    assert_int_equal(json_unpack(root, "{s:[{s:s,s:f},{s:i,s:[s]},{s:n}],s:[s],s:[{s:s,s:i}]}",
                                 "weaknesses", "weakness", &name, "seeds_median", &median, "caught",
                                 &caught, "with", &other, "s_median", "not_caught", &missed,
                                 "hardened", "sentence", &alarm, "seed", &seed),
                     0);
    assert_string_equal(name, "no_fencing");
    assert_true(median == 2.5);
    assert_int_equal(caught, 1);
    assert_string_equal(other, "no_fencing");
    assert_string_equal(missed, "lost");
    assert_string_equal(alarm, "two \"owners\"");
    assert_int_equal(seed, 7);
    json_decref(root);
    strbuf_release(&text);
}

static void test_report_selftest_page_keeps_what_is_around_the_table(void **state)
{
    (void)state;
    struct strbuf page = STRBUF_INIT, again = STRBUF_INIT, why = STRBUF_INIT;
    const char *before = "# Locks\n<!-- selftest locks -->\nold\n<!-- end of selftest -->\nmore\n";
    assert_true(report_selftest_page(&report, &strategy, before, &page, &why));
    assert_string_equal(strbuf_str(&page), "# Locks\n<!-- selftest locks -->\n" TABLE
                                           "<!-- end of selftest -->\nmore\n");
    assert_true(report_selftest_page(&report, &strategy, strbuf_str(&page), &again, &why));
    assert_string_equal(strbuf_str(&again), strbuf_str(&page));
    strbuf_release(&page);
    strbuf_release(&again);
}

static void test_report_selftest_page_without_marks_is_refused(void **state)
{
    (void)state;
    struct strbuf page = STRBUF_INIT, why = STRBUF_INIT;
    const char *other = "<!-- selftest others -->\n<!-- end of selftest -->\n";
    assert_false(report_selftest_page(&report, &strategy, other, &page, &why));
    assert_has(&why, "<!-- selftest locks -->");
    assert_false(
        report_selftest_page(&report, &strategy, "<!-- selftest locks -->\n", &page, &why));
    assert_int_equal(page.size, 0);
    strbuf_release(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_selftest_names_what_is_wrong_and_how_to_see_it),
        cmocka_unit_test(test_report_selftest_json_has_every_weakness),
        cmocka_unit_test(test_report_selftest_page_keeps_what_is_around_the_table),
        cmocka_unit_test(test_report_selftest_page_without_marks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
