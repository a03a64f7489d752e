#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "faults/fault.h"
#include "reports/events.h"
#include "reports/json.h"
#include "reports/progress.h"
#include "reports/replay.h"
#include "reports/sums.h"
#include "reports/terminal.h"

enum { HELD, CAUGHT, BROKEN, PENDING, MISSED, ITEM_COUNT };

static struct scenario scenarios[ITEM_COUNT];
static struct campaign_scenario items[ITEM_COUNT];
static struct campaign_report report;
static struct strbuf text;
static struct tally *reached, *measured;
static const struct effect_view effects[] = {{.service = "post", .op = "send"}};
static const char *const summary_metrics[] = {"held_seconds", NULL};
static const struct strategy measuring = {.name = "measuring",
                                          .effects = effects,
                                          .effect_count = FP_COUNT(effects),
                                          .summary_metrics = summary_metrics};

static void describe(int index, const char *name, const char *variant)
{
    struct scenario *scenario = &scenarios[index];
    *scenario = (struct scenario){.name = (char *)name,
                                  .file = (char *)"scenarios/it's one.yaml",
                                  .variant = (char *)variant,
                                  .strategy = strategies[0],
                                  .invariant_count = 2};
    scenario->invariants[0] = invariants[0];
    scenario->invariants[1] = invariants[1];
    items[index] = (struct campaign_scenario){.scenario = scenario, .seed_count = 100, .met = true};
    items[index].counts = (struct run_counts){.steps = 5000,
                                              .virtual_ns = 90 * NS_PER_MIN,
                                              .statements = 1234,
                                              .contended = 7,
                                              .parked = 6,
                                              .deadlocks = 5,
                                              .ghosts = 4,
                                              .gates = 3,
                                              .crashes = 2,
                                              .repeats = 1};
    items[index].hash = UINT64_C(0x1234);
    items[index].checked_count = 2;
}

static void expect_violation(int index)
{
    scenarios[index].expect = EXPECT_VIOLATION;
    scenarios[index].expect_invariant = invariants[0];
}

static void make_held(void)
{
    describe(HELD, "held", "hardened");
    items[HELD].outcomes[RUN_PASS] = 100;
    scenarios[HELD].fault_count = 3;
    scenarios[HELD].faults[0].kind = fault_kinds[0];
    scenarios[HELD].faults[1].kind = fault_kinds[1];
    scenarios[HELD].faults[2].kind = fault_kinds[0];
    items[HELD].counts.fired[0] = 80;
    items[HELD].counts.fired[1] = 31;
    items[HELD].counts.fired[2] = 8;
    for (int i = 0; i < 3; i++)
        items[HELD].counts.visited[i] = 100;
    items[HELD].reached = reached;
    tally_clear(reached);
    tally_add(reached, "rest", 100);
    tally_add(reached, "jobs CREATE FAILED QUOTA", 12345);
    items[HELD].measured = measured;
    tally_clear(measured);
    tally_add(measured, "duplicate_effects", 2);
    tally_add(measured, "held_seconds 000000000020000", 3);
    tally_add(measured, "held_seconds 000000090000000", 2);
}

static void make_caught(void)
{
    describe(CAUGHT, "caught", "as_written");
    expect_violation(CAUGHT);
    items[CAUGHT].outcomes[RUN_PASS] = 63;
    items[CAUGHT].outcomes[RUN_VIOLATION] = 37;
    items[CAUGHT].by_invariant[0] = 37;
    items[CAUGHT].first_failure = (struct campaign_failure){true,
                                                            FAILURE_EXPECTED,
                                                            3,
                                                            invariants[0],
                                                            131,
                                                            (char *)"two owners",
                                                            (char *)"out/failures/caught-3.jsonl",
                                                            NULL,
                                                            0};
}

static void make_broken(void)
{
    describe(BROKEN, "broken", "hardened");
    items[BROKEN].met = false;
    items[BROKEN].outcomes[RUN_PASS] = 97;
    items[BROKEN].outcomes[RUN_VIOLATION] = 3;
    items[BROKEN].by_invariant[1] = 3;
    items[BROKEN].first_failure = (struct campaign_failure){true,
                                                            FAILURE_UNEXPECTED,
                                                            UINT64_C(9007199254740993),
                                                            invariants[1],
                                                            148,
                                                            (char *)"two live locks",
                                                            NULL,
                                                            (char *)"out/failures/b-small.yaml",
                                                            29};
    scenarios[BROKEN].overrides[0] = (char *)"topology.workers=5";
    scenarios[BROKEN].override_count = 1;
}

static void make_others(void)
{
    describe(PENDING, "pending", "hardened");
    items[PENDING].met = false;
    items[PENDING].outcomes[RUN_PASS] = 99;
    items[PENDING].outcomes[RUN_UNKNOWN] = 1;
    items[PENDING].first_unknown = (struct campaign_failure){
        true, FAILURE_UNKNOWN, 8, NULL, 900, (char *)"a job is still PENDING", NULL, NULL, 0};
    describe(MISSED, "missed", "weak: no_fencing");
    expect_violation(MISSED);
    items[MISSED].met = false;
    items[MISSED].outcomes[RUN_PASS] = 100;
}

static int make(void **state)
{
    (void)state;
    if (!reached) {
        reached = tally_new();
        measured = tally_new();
    }
    make_held();
    make_caught();
    make_broken();
    make_others();
    report = (struct campaign_report){
        .scenarios = items,
        .scenario_count = ITEM_COUNT,
        .wall_ns = 10 * NS_PER_S,
        .start_ns = 1500 * NS_PER_MS,
        .lane_count = 2,
        .environment = {.kind = "local", .version = "15.18", .parking = true}};
    strbuf_clear(&text);
    return 0;
}

static int release(void **state)
{
    (void)state;
    strbuf_release(&text);
    strbuf_release(&report.trouble);
    tally_free(reached);
    tally_free(measured);
    return 0;
}

/* ---- for people ---- */

#define TABLE_GOLDEN                                                                               \
    "        scenario  variant           seeds  result  [faults that struck]\n"                    \
    "  ok    held      hardened            100  held in 100 seeds  [crash 88, pause 31]\n"         \
    "  ok    caught    as_written          100  caught: single_owner broken in 37 of 100 seeds "   \
    "(expected)\n"                                                                                 \
    "  FAIL  broken    hardened            100  VIOLATION lock_exclusive in 3 of 100\n"            \
    "  ??    pending   hardened            100  unknown: 1 of 100 seeds did not come to rest\n"    \
    "  FAIL  missed    weak: no_fencing    100  expected violation of single_owner NOT found in "  \
    "100 seeds\n"                                                                                  \
    "\n"

#define TOTALS_GOLDEN                                                                              \
    "tried        5 scenarios, 500 seeds, 25,000 steps, 7.5 virtual hours, in 10.0 s: "            \
    "50 seeds/s, 2,500 steps/s\n"                                                                  \
    "             on 2 servers of PostgreSQL 15.18, which took 1.5 s to start and stop\n"          \
    "database     6,170 statements: contended 35, parked 30, deadlocks 25, ghosts 20, gates 15\n"  \
    "determinism  checked 10 runs twice, 0 diverged\n"                                             \
    "\n"                                                                                           \
    "broken designs that were caught, and how to look at each:\n"                                  \
    "  caught (as_written) breaks single_owner\n"                                                  \
    "    ./fencepost replay out/failures/caught-3.jsonl\n"

#define FINDINGS_GOLDEN                                                                            \
    "\n"                                                                                           \
    "the smallest that still fails: ./fencepost run out/failures/b-small.yaml (29 steps)\n"        \
    "VIOLATION of lock_exclusive in broken (hardened), seed 9007199254740993\n"                    \
    "  step 148\n"                                                                                 \
    "  two live locks\n"                                                                           \
    "  ./fencepost replay 'scenarios/it'\\''s one.yaml' --seed 9007199254740993 "                  \
    "--set topology.workers=5\n"                                                                   \
    "\n"                                                                                           \
    "no verdict in pending (hardened), seed 8\n"                                                   \
    "  step 900\n"                                                                                 \
    "  a job is still PENDING\n"                                                                   \
    "  ./fencepost replay 'scenarios/it'\\''s one.yaml' --seed 8\n"                                \
    "\n"                                                                                           \
    "expected violation NOT found in missed (weak: no_fencing)\n"                                  \
    "  single_owner held in all of 100 seeds; more seeds may find it\n"                            \
    "  ./fencepost run 'scenarios/it'\\''s one.yaml' --seeds 1000\n"

static void test_reports_terminal_is_the_golden_text(void **state)
{
    (void)state;
    report_terminal(&report, false, &text);
    assert_string_equal(strbuf_str(&text), TABLE_GOLDEN TOTALS_GOLDEN FINDINGS_GOLDEN);
}

static void test_reports_findings_alone_are_the_last_part(void **state)
{
    (void)state;
    report_terminal_findings(&report, false, &text);
    assert_string_equal(strbuf_str(&text), FINDINGS_GOLDEN);
}

static void test_reports_reached_lists_what_was(void **state)
{
    (void)state;
    report_terminal_reached(&report, &text);
    assert_string_equal(strbuf_str(&text), "\nreached in held (hardened), 100 seeds:\n"
                                           "  jobs CREATE FAILED QUOTA  12,345\n"
                                           "  rest                      100\n");
}

static void test_reports_measured_of_those_who_measure(void **state)
{
    (void)state;
    report_terminal_measured(&report, &text);
    assert_string_equal(strbuf_str(&text), ""); /* the strategy has nothing to measure */
    scenarios[HELD].strategy = &measuring;
    report_terminal_measured(&report, &text);
    assert_string_equal(strbuf_str(&text), "\nmeasured in held (hardened), 100 seeds:\n"
                                           "  duplicate_effects  2\n"
                                           "  held_seconds       5, median 20ms, max 1m30s\n");
}

static void test_reports_all_as_expected_gives_no_findings(void **state)
{
    (void)state;
    report.scenario_count = 2;
    report_terminal_findings(&report, false, &text);
    assert_string_equal(strbuf_str(&text), "");
}

static void test_reports_colour_is_there_only_when_asked(void **state)
{
    (void)state;
    report_terminal(&report, false, &text);
    assert_null(strchr(strbuf_str(&text), '\033'));
    strbuf_clear(&text);
    report_terminal(&report, true, &text);
    assert_non_null(strstr(strbuf_str(&text), "\033[32mok  \033[0m"));
    assert_non_null(strstr(strbuf_str(&text), "\033[1;31mVIOLATION of lock_exclusive\033[0m"));
}

/* Expected and unexpected in one scenario: the unexpected one is what counts. */
static void test_reports_other_violation_than_expected_is_a_violation(void **state)
{
    (void)state;
    items[CAUGHT].met = false;
    items[CAUGHT].outcomes[RUN_VIOLATION] = 40;
    items[CAUGHT].by_invariant[1] = 3;
    items[CAUGHT].first_failure.kind = FAILURE_UNEXPECTED;
    items[CAUGHT].first_failure.invariant = invariants[1];
    report_terminal(&report, false, &text);
    assert_non_null(strstr(strbuf_str(&text), "  FAIL  caught    as_written          100  "
                                              "VIOLATION lock_exclusive in 3 of 100\n"));
    assert_non_null(strstr(strbuf_str(&text), "\nVIOLATION of lock_exclusive in caught"));
}

/* One that may break as well is none that counts. */
static void test_reports_also_expected_is_caught(void **state)
{
    (void)state;
    scenarios[CAUGHT].expect_also[0] = invariants[1];
    scenarios[CAUGHT].expect_also_count = 1;
    items[CAUGHT].outcomes[RUN_VIOLATION] = 40;
    items[CAUGHT].by_invariant[1] = 3;
    report_terminal(&report, false, &text);
    assert_non_null(strstr(strbuf_str(&text), "caught: single_owner broken in 37 of 100 seeds"));
    assert_null(strstr(strbuf_str(&text), "lock_exclusive in caught"));
}

static void test_reports_divergence_and_trouble_are_said(void **state)
{
    (void)state;
    items[HELD].met = false;
    items[HELD].diverged_count = 1;
    items[HELD].first_divergence = (struct campaign_failure){
        true, FAILURE_UNKNOWN, 5, NULL, 12, (char *)"recorded: a\nhappened: b", NULL, NULL, 0};
    report.lane_failed = true;
    strbuf_puts(&report.trouble, "lane 1 ended with signal 9");
    report_terminal(&report, false, &text);
    assert_non_null(strstr(strbuf_str(&text), "DIVERGED: 1 of 2 seeds did something else"));
    assert_non_null(
        strstr(strbuf_str(&text), "a run diverged in held (hardened), seed 5\n  step 12\n"));
    assert_non_null(strstr(strbuf_str(&text), "\ntrouble      lane 1 ended with signal 9\n"));
    strbuf_release(&report.trouble);
}

static void test_reports_nothing_run_gives_no_summary(void **state)
{
    (void)state;
    for (int i = 0; i < ITEM_COUNT; i++)
        items[i] = (struct campaign_scenario){.scenario = &scenarios[i]};
    report.lane_failed = true;
    strbuf_puts(&report.trouble, "no PostgreSQL");
    report_terminal(&report, false, &text);
    assert_string_equal(strbuf_str(&text), "");
    assert_string_equal(sums_verdict(&report), "infrastructure");
    strbuf_release(&report.trouble);
}

static void test_reports_interrupt_and_time_are_said(void **state)
{
    (void)state;
    report.out_of_time = true;
    report_terminal(&report, false, &text);
    assert_non_null(strstr(strbuf_str(&text), "\ntime         ran out before all seeds"));
    strbuf_clear(&text);
    report.interrupted = true;
    report_terminal(&report, false, &text);
    assert_non_null(strstr(strbuf_str(&text), "\ninterrupted  this is what was done"));
}

/* ---- for machines ---- */

static json_t *parse(void)
{
    json_error_t error;
    json_t *root = json_loads(strbuf_str(&text), JSON_REJECT_DUPLICATES, &error);
    if (!root)
        print_message("%s\n%s\n", error.text, strbuf_str(&text));
    assert_non_null(root);
    return root;
}

static void assert_keys(const json_t *object, const char *const *keys)
{
    assert_true(json_is_object(object));
    for (size_t i = 0; keys[i]; i++) {
        if (!json_object_get(object, keys[i]))
            print_message("missing: %s\n", keys[i]);
        assert_non_null(json_object_get(object, keys[i]));
    }
}

static void test_reports_fault_without_a_chance_is_named(void **state)
{
    (void)state;
    report_terminal(&report, false, &text);
    assert_null(strstr(strbuf_str(&text), "no chance"));
    items[HELD].counts.visited[2] = 0;
    strbuf_clear(&text);
    report_terminal(&report, false, &text);
    assert_non_null(strstr(strbuf_str(&text), "\nno chance    faults[2].crash of held: nobody"));
    strbuf_clear(&text);
    report_json(&report, &text);
    json_t *root = parse();
    const json_t *held = json_array_get(json_object_get(root, "scenarios"), HELD);
    const json_t *names = json_object_get(held, "faults_without_chance");
    assert_int_equal(json_array_size(names), 1);
    assert_string_equal(json_string_value(json_array_get(names, 0)), "faults[2].crash");
    json_decref(root);
}

static void test_reports_sweep_says_at_how_many_points(void **state)
{
    (void)state;
    report.sweep_point_count = 80;
    scenarios[0].sweep_index = 0;
    items[0].counts.fired[0] = 80;
    report_terminal(&report, false, &text);
    assert_non_null(strstr(strbuf_str(&text), "\nsweep        80 points visited, struck at 80"));
    strbuf_clear(&text);
    report_json(&report, &text);
    json_t *root = parse();
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "sweep"), "points")),
                     80);
    json_decref(root);
}

static void test_reports_json_has_every_field_of_the_design(void **state)
{
    (void)state;
    static const char *const top[] = {"verdict",     "scenarios",   "determinism",
                                      "seeds_per_s", "steps_per_s", "wall_s",
                                      "interrupted", "counts",      NULL};
    static const char *const each[] = {"name",
                                       "file",
                                       "strategy",
                                       "variant",
                                       "seeds",
                                       "passed",
                                       "unknown",
                                       "met",
                                       "expected",
                                       "violations",
                                       "infrastructure",
                                       "steps",
                                       "hash",
                                       "counts",
                                       "virtual_s",
                                       "faults_fired",
                                       "first_failure",
                                       "first_unknown",
                                       "reached",
                                       "measured",
                                       "faults_without_chance",
                                       NULL};
    static const char *const counts[] = {"contended", "parked",  "deadlocks", "ghosts",
                                         "gates",     "crashes", "repeats",   NULL};
    static const char *const failure[] = {"seed", "invariant", "step", "file", NULL};
    static const char *const determinism[] = {"checked", "diverged", NULL};
    report_json(&report, &text);
    json_t *root = parse();
    assert_keys(root, top);
    assert_keys(json_object_get(root, "determinism"), determinism);
    json_t *list = json_object_get(root, "scenarios");
    assert_int_equal(json_array_size(list), ITEM_COUNT);
    for (size_t i = 0; i < ITEM_COUNT; i++) {
        assert_keys(json_array_get(list, i), each);
        assert_keys(json_object_get(json_array_get(list, i), "counts"), counts);
    }
    assert_keys(json_object_get(json_array_get(list, CAUGHT), "first_failure"), failure);
    json_decref(root);
}

static const char *string_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_at(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void test_reports_json_has_what_was_measured(void **state)
{
    (void)state;
    scenarios[HELD].strategy = &measuring;
    report_json(&report, &text);
    json_t *root = parse();
    const json_t *list = json_object_get(root, "scenarios");
    const json_t *figures = json_object_get(json_array_get(list, HELD), "measured");
    const json_t *held = json_object_get(figures, "held_seconds");
    assert_int_equal(json_object_size(figures), 2);
    assert_int_equal(number_at(figures, "duplicate_effects"), 2);
    assert_int_equal(number_at(held, "count"), 5);
    assert_true(json_real_value(json_object_get(held, "median_s")) == 0.02);
    assert_true(json_real_value(json_object_get(held, "max_s")) == 90.0);
    assert_int_equal(json_object_size(json_object_get(json_array_get(list, CAUGHT), "measured")),
                     0);
    json_decref(root);
}

static void test_reports_json_values_are_those_of_the_report(void **state)
{
    (void)state;
    report_json(&report, &text);
    json_t *root = parse();
    const json_t *held = json_array_get(json_object_get(root, "scenarios"), HELD);
    const json_t *caught = json_array_get(json_object_get(root, "scenarios"), CAUGHT);
    const json_t *broken = json_array_get(json_object_get(root, "scenarios"), BROKEN);
    assert_string_equal(string_at(root, "verdict"), "violation");
    assert_true(json_real_value(json_object_get(root, "seeds_per_s")) == 50.0);
    assert_int_equal(number_at(json_object_get(root, "determinism"), "checked"), 10);
    assert_int_equal(number_at(json_object_get(root, "counts"), "ghosts"), 20);
    assert_string_equal(string_at(held, "expected"), "pass");
    assert_string_equal(string_at(held, "hash"), "0000000000001234");
    assert_int_equal(number_at(json_object_get(held, "faults_fired"), "crash"), 88);
    assert_int_equal(json_object_size(json_object_get(held, "faults_fired")), 2);
    assert_int_equal(json_object_size(json_object_get(held, "reached")), 2);
    assert_int_equal(number_at(json_object_get(held, "reached"), "jobs CREATE FAILED QUOTA"),
                     12345);
    assert_int_equal(json_object_size(json_object_get(caught, "reached")), 0);
    assert_true(json_is_null(json_object_get(held, "first_failure")));
    assert_string_equal(string_at(caught, "expected"), "violates single_owner");
    assert_true(json_is_true(json_object_get(caught, "met")));
    assert_true(number_at(json_object_get(broken, "first_failure"), "seed") == 9007199254740993);
    assert_true(json_is_null(json_object_get(json_object_get(broken, "first_failure"), "file")));
    json_decref(root);
}

static void test_reports_json_is_one_line(void **state)
{
    (void)state;
    report_json(&report, &text);
    assert_ptr_equal(strchr(strbuf_str(&text), '\n'), text.text + text.size - 1);
}

static void test_reports_verdict_follows_the_exit_code(void **state)
{
    (void)state;
    assert_string_equal(sums_verdict(&report), "violation");
    report.scenario_count = 2;
    assert_string_equal(sums_verdict(&report), "pass");
    report.interrupted = true;
    assert_string_equal(sums_verdict(&report), "pass");
    report.scenario_count = 0;
    assert_string_equal(sums_verdict(&report), "nothing");
    report.scenarios = &items[PENDING];
    report.scenario_count = 1;
    assert_string_equal(sums_verdict(&report), "unknown");
    items[PENDING].diverged_count = 1;
    assert_string_equal(sums_verdict(&report), "infrastructure");
}

/* ---- progress ---- */

static struct campaign_progress progress_sample(void)
{
    return (struct campaign_progress){.done_count = 412,
                                      .total_count = 2000,
                                      .violation_count = 2,
                                      .elapsed_ns = 2 * NS_PER_S,
                                      .left_ns = 8100 * NS_PER_MS,
                                      .seeds_per_s = 183.4,
                                      .scenario = "zombie-worker"};
}

static void test_reports_progress_line_is_the_golden_text(void **state)
{
    (void)state;
    struct campaign_progress now = progress_sample();
    progress_line(&now, &text);
    assert_string_equal(strbuf_str(&text),
                        "  412/2000 seeds  183/s  2 violations  0:09 left  zombie-worker");
    strbuf_clear(&text);
    now.violation_count = 1;
    now.expected_count = 30;
    now.left_ns = 3723 * NS_PER_S;
    progress_line(&now, &text);
    assert_string_equal(
        strbuf_str(&text),
        "  412/2000 seeds  183/s  1 violation  30 expected  1:02:03 left  zombie-worker");
}

static char *watch_twice(bool is_terminal, int64_t between_ns)
{
    char *written = NULL;
    size_t size;
    FILE *file = open_memstream(&written, &size);
    struct progress progress;
    struct campaign_progress now = progress_sample();
    progress_init(&progress, file, is_terminal);
    now.elapsed_ns = 5 * NS_PER_S;
    progress_watch(&progress, &now);
    now.elapsed_ns += between_ns;
    now.done_count = 999;
    progress_watch(&progress, &now);
    progress_end(&progress);
    fclose(file);
    return written;
}

static void test_reports_progress_is_not_drawn_too_often(void **state)
{
    (void)state;
    static const struct {
        bool is_terminal;
        int64_t between_ns;
        bool is_shown;
    } cases[] = {{true, 99 * NS_PER_MS, false},
                 {true, 100 * NS_PER_MS, true},
                 {false, 4999 * NS_PER_MS, false},
                 {false, 5 * NS_PER_S, true}};
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        char *written = watch_twice(cases[i].is_terminal, cases[i].between_ns);
        assert_non_null(strstr(written, "412/2000"));
        assert_true((strstr(written, "999/2000") != NULL) == cases[i].is_shown);
        assert_true((strchr(written, '\r') != NULL) == cases[i].is_terminal);
        assert_true((strchr(written, '\033') != NULL) == cases[i].is_terminal);
        free(written);
    }
}

/* ---- events ---- */

static const char sample_events[] =
    "{\"step\":1,\"t\":0,\"ev\":\"rest\",\"who\":\"harness\"}\n"
    "{\"step\":2,\"t\":4200000000000,\"ev\":\"effect.start\",\"who\":\"worker-2\",\"effect\":3,"
    "\"resource\":\"demo.aws\",\"op\":\"destroy\",\"part\":\"control-plane\",\"job\":\"j2\","
    "\"run\":1,"
    "\"token\":7,\"accepted\":\"yes\",\"result\":\"ERR_OK\"}\n"
    "{\"step\":2,\"t\":5000000,\"ev\":\"db.exec\",\"who\":\"worker-1/job\",\"sql\":\"commit\","
    "\"result\":\"COMMIT\"}\n"
    "{\"step\":2,\"t\":5000000,\"ev\":\"db.exec\",\"who\":\"worker-1/job\",\"sql\":\"get\","
    "\"params\":\"a\",\"sqlstate\":\"40P01\",\"message\":\"deadlock\"}\n"
    "{\"step\":3,\"t\":1,\"ev\":\"row\",\"who\":\"w\",\"table\":\"t\",\"was\":null}\n"
    "not an event\n";

static void test_reports_events_read_as_phrases(void **state)
{
    (void)state;
    report_events(sample_events, -1, 5, &text);
    assert_string_equal(
        strbuf_str(&text),
        "  1h10m       worker-2            effect.start    destroy control-plane of demo.aws, "
        "accepted: yes (job j2, run 1, token 7)\n"
        "  5ms         worker-1/job        db.exec         commit -> COMMIT\n"
        "  5ms         worker-1/job        db.exec         get (a) -> 40P01 deadlock\n"
        "  1ns         w                   row             table t, was null\n"
        "  not an event\n");
}

static void test_reports_events_end_with_the_step(void **state)
{
    (void)state;
    report_events(sample_events, 1, 15, &text);
    assert_string_equal(strbuf_str(&text), "  0s          harness             rest\n");
}

/* ---- replays ---- */

static struct failure recorded;
static struct run_result result;

static struct replay_report make_replay(struct trace *trace)
{
    strbuf_clear(&result.sentence);
    result.outcome = RUN_VIOLATION;
    result.seed = 7;
    result.hash = 0xab;
    result.step = 131;
    result.counts.steps = 148;
    result.invariant = invariants[0];
    strbuf_puts(&result.sentence, "two owners");
    recorded = (struct failure){.file = (char *)"x.jsonl",
                                .outcome = (char *)"violation",
                                .invariant = (char *)invariants[0]->name,
                                .step = 131,
                                .hash = 0xab};
    return (struct replay_report){
        .scenario = &scenarios[HELD], .failure = &recorded, .result = &result, .trace = trace};
}

static void test_reports_replay_that_reproduces_says_so(void **state)
{
    (void)state;
    struct replay_report replay = make_replay(NULL);
    assert_false(replay_report_differs(&replay));
    report_replay(&replay, false, &text);
    assert_string_equal(strbuf_str(&text),
                        "replayed: same 148 steps, same hash 00000000000000ab, violation of "
                        "single_owner at step 131: two owners\n");
    strbuf_clear(&text);
    report_replay_json(&replay, &text);
    json_t *root = parse();
    assert_true(json_is_true(json_object_get(root, "reproduced")));
    json_decref(root);
}

static void test_reports_replay_with_another_verdict_differs(void **state)
{
    (void)state;
    struct replay_report replay = make_replay(NULL);
    recorded.invariant = (char *)"lock_exclusive";
    assert_true(replay_report_differs(&replay));
    report_replay(&replay, false, &text);
    assert_non_null(
        strstr(strbuf_str(&text), "but the verdict is another: violation of single_owner"));
    assert_non_null(
        strstr(strbuf_str(&text), "\nrecorded: violation of lock_exclusive at step 131"));
}

static void test_reports_replay_that_diverges_shows_both(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    trace_event(trace, "rest", "harness", NULL);
    struct replay_report replay = make_replay(trace);
    result.outcome = RUN_DIVERGED;
    result.step = 9;
    strbuf_clear(&result.sentence);
    strbuf_puts(&result.sentence, "recorded: a\nhappened: b");
    assert_true(replay_report_differs(&replay));
    report_replay(&replay, true, &text);
    assert_string_equal(strbuf_str(&text), "the last events:\n"
                                           "  0s          harness             rest\n\n"
                                           "diverged at step 9\nrecorded: a\nhappened: b\n");
    trace_free(trace);
    run_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_reports_terminal_is_the_golden_text, make),
        cmocka_unit_test_setup(test_reports_findings_alone_are_the_last_part, make),
        cmocka_unit_test_setup(test_reports_reached_lists_what_was, make),
        cmocka_unit_test_setup(test_reports_measured_of_those_who_measure, make),
        cmocka_unit_test_setup(test_reports_json_has_what_was_measured, make),
        cmocka_unit_test_setup(test_reports_all_as_expected_gives_no_findings, make),
        cmocka_unit_test_setup(test_reports_colour_is_there_only_when_asked, make),
        cmocka_unit_test_setup(test_reports_other_violation_than_expected_is_a_violation, make),
        cmocka_unit_test_setup(test_reports_also_expected_is_caught, make),
        cmocka_unit_test_setup(test_reports_divergence_and_trouble_are_said, make),
        cmocka_unit_test_setup(test_reports_nothing_run_gives_no_summary, make),
        cmocka_unit_test_setup(test_reports_interrupt_and_time_are_said, make),
        cmocka_unit_test_setup(test_reports_fault_without_a_chance_is_named, make),
        cmocka_unit_test_setup(test_reports_sweep_says_at_how_many_points, make),
        cmocka_unit_test_setup(test_reports_json_has_every_field_of_the_design, make),
        cmocka_unit_test_setup(test_reports_json_values_are_those_of_the_report, make),
        cmocka_unit_test_setup(test_reports_json_is_one_line, make),
        cmocka_unit_test_setup(test_reports_verdict_follows_the_exit_code, make),
        cmocka_unit_test_setup(test_reports_progress_line_is_the_golden_text, make),
        cmocka_unit_test_setup(test_reports_progress_is_not_drawn_too_often, make),
        cmocka_unit_test_setup(test_reports_events_read_as_phrases, make),
        cmocka_unit_test_setup(test_reports_events_end_with_the_step, make),
        cmocka_unit_test_setup(test_reports_replay_that_reproduces_says_so, make),
        cmocka_unit_test_setup(test_reports_replay_with_another_verdict_differs, make),
        cmocka_unit_test_setup(test_reports_replay_that_diverges_shows_both, make),
    };
    return cmocka_run_group_tests_name("reports", tests, NULL, release);
}
