#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/scenario/reference.h"
#include "sim/scenario/scenario.h"
#include "tests/unit/fake_registry.h"

/* Four lines, so that what a test adds begins in line 5. */
#define HEAD "scenario: demo\nabout: a test\nstrategy: job_locks\nexpect: pass\n"

static struct diags diags;

static int set_up(void **state)
{
    (void)state;
    diags_init(&diags, "t.yaml");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    diags_release(&diags);
    return 0;
}

static struct scenario *parse(const char *text)
{
    return scenario_parse("t.yaml", text, strlen(text), &diags);
}

static struct scenario *parse_good(const char *text)
{
    struct scenario *scenario = parse(text);
    struct strbuf out = STRBUF_INIT;
    diags_print(&diags, &out);
    assert_string_equal(strbuf_str(&out), "");
    strbuf_release(&out);
    assert_non_null(scenario);
    return scenario;
}

static void assert_diags(const char *expected)
{
    struct strbuf out = STRBUF_INIT;
    diags_print(&diags, &out);
    assert_string_equal(strbuf_str(&out), expected);
    strbuf_release(&out);
}

static void assert_refused(const char *text, const char *expected)
{
    assert_null(parse(text));
    assert_diags(expected);
    diags_release(&diags);
    diags_init(&diags, "t.yaml");
}

/* ---- what is accepted ---- */

static void test_scenario_minimal_has_all_defaults(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good(HEAD);
    assert_string_equal(scenario->file, "t.yaml");
    assert_string_equal(scenario->source, HEAD);
    assert_string_equal(scenario->name, "demo");
    assert_string_equal(scenario->about, "a test");
    assert_ptr_equal(scenario->strategy, &fake_strategy);
    assert_string_equal(scenario->variant, "hardened");
    assert_int_equal(scenario->weaknesses, 0);
    assert_int_equal(scenario->role_counts[0], 2);
    assert_int_equal(scenario->role_counts[1], 1);
    assert_int_equal(scenario->role_counts[2], 1);
    assert_int_equal(scenario->standby_count, 0);
    assert_int_equal(scenario->fault_count, 0);
    assert_int_equal(scenario->invariant_count, 2);
    assert_int_equal(scenario->gate_count, 0);
    assert_int_equal(scenario->slowness_per_million, 20000);
    assert_int_equal(scenario->chaos_ns, 4 * NS_PER_HOUR);
    assert_int_equal(scenario->settle_ns, 6 * NS_PER_HOUR);
    assert_int_equal(scenario->step_count_max, 20000);
    assert_int_equal(scenario->expect, EXPECT_PASS);
    assert_int_equal(workload_count(scenario->workload, "jobs"), 0);
    scenario_free(scenario);
}

static const char full_text[] =
    "scenario: worker-crash\n"
    "about: \"a worker dies\"\n"
    "strategy: job_locks\n"
    "variant: {weaknesses: [short_lease, no_fencing]}\n"
    "topology:\n"
    "  postgres: {standbys: 1}\n"
    "  workers: 3\n"
    "  janitors: 0\n"
    "workload:\n"
    "  clusters: [{name: demo, status: READY}, {name: b, note: hm, kind: DESTROY}]\n"
    "  jobs: [{type: CREATE, cluster: demo, at: 1h30m, count: 9}]\n"
    "faults:\n"
    "  - crash: {target: any-worker, points: [db.exec, cloud.call], times: 2, restart_after: "
    "never}\n"
    "  - pause: {target: worker-3, probability: 0.02, for: 20m..90m, loud: true, after: 1s}\n"
    "  - crash:\n"
    "invariants: [single_owner]\n"
    "gates: [pg_try_advisory_xact_lock]\n"
    "scheduling: {slowness: 0.5}\n"
    "limits: {chaos: 2h, settle: 1d, steps: 100}\n"
    "expect: {violates: single_owner}\n";

static void test_scenario_full_fills_every_part(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good(full_text);
    assert_string_equal(scenario->variant, "weak: no_fencing, short_lease");
    assert_int_equal(scenario->weaknesses, 5);
    assert_int_equal(scenario->role_counts[0], 3);
    assert_int_equal(scenario->role_counts[1], 0);
    assert_int_equal(scenario->standby_count, 1);
    assert_int_equal(scenario->invariant_count, 1);
    assert_ptr_equal(scenario->invariants[0], &fake_single_owner);
    assert_int_equal(scenario->gate_count, 1);
    assert_string_equal(scenario->gates[0], "pg_try_advisory_xact_lock");
    assert_int_equal(scenario->slowness_per_million, 500000);
    assert_int_equal(scenario->chaos_ns, 2 * NS_PER_HOUR);
    assert_int_equal(scenario->settle_ns, NS_PER_DAY);
    assert_int_equal(scenario->step_count_max, 100);
    assert_int_equal(scenario->expect, EXPECT_VIOLATION);
    assert_ptr_equal(scenario->expect_invariant, &fake_single_owner);
    assert_int_equal(scenario->expect_also_count, 0);
    assert_true(scenario_expects(scenario, &fake_single_owner));
    assert_false(scenario_expects(scenario, &fake_settles));
    scenario_free(scenario);
}

static void test_scenario_also_names_what_else_may_break(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good("scenario: demo\nabout: a test\nstrategy: job_locks\n"
                                           "expect: {violates: single_owner, also: [settles]}\n");
    assert_ptr_equal(scenario->expect_invariant, &fake_single_owner);
    assert_int_equal(scenario->expect_also_count, 1);
    assert_true(scenario_expects(scenario, &fake_single_owner));
    assert_true(scenario_expects(scenario, &fake_settles));
    scenario_free(scenario);
}

static void test_scenario_faults_fill_their_configs(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good(full_text);
    assert_int_equal(scenario->fault_count, 3);
    assert_string_equal(scenario->faults[0].stream_name, "fault.0.crash");
    assert_string_equal(scenario->faults[1].stream_name, "fault.1.pause");
    const struct fake_crash *crash = scenario->faults[0].config;
    assert_int_equal(crash->common.target.kind, TARGET_ROLE);
    assert_string_equal(crash->common.target.name, "worker");
    assert_int_equal(crash->common.points, POINT_BIT(POINT_DB_EXEC) | POINT_BIT(POINT_CLOUD_CALL));
    assert_int_equal(crash->common.times, 2);
    assert_int_equal(crash->restart_after_ns, -1);
    const struct fake_pause *pause = scenario->faults[1].config;
    assert_int_equal(pause->common.target.kind, TARGET_NAME);
    assert_string_equal(pause->common.target.name, "worker-3");
    assert_int_equal(pause->common.probability_per_million, 20000);
    assert_int_equal(pause->common.after_ns, NS_PER_S);
    assert_int_equal(pause->duration.low_ns, 20 * NS_PER_MIN);
    assert_int_equal(pause->duration.high_ns, 90 * NS_PER_MIN);
    assert_true(pause->loud);
    const struct fake_crash *defaults = scenario->faults[2].config;
    assert_int_equal(defaults->common.target.kind, TARGET_ANY);
    assert_int_equal(defaults->common.points, 0);
    assert_int_equal(defaults->common.probability_per_million, 50000);
    assert_int_equal(defaults->common.times, 1);
    assert_int_equal(defaults->restart_after_ns, 10 * NS_PER_MIN);
    scenario_free(scenario);
}

static void test_scenario_workload_gives_values_and_defaults(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good(full_text);
    const struct workload *workload = scenario->workload;
    assert_int_equal(workload_count(workload, "clusters"), 2);
    assert_string_equal(workload_text(workload, "clusters", 0, "name"), "demo");
    assert_string_equal(workload_text(workload, "clusters", 0, "status"), "READY");
    assert_string_equal(workload_text(workload, "clusters", 0, "platform"), "aws");
    assert_string_equal(workload_text(workload, "clusters", 0, "note"), "");
    assert_string_equal(workload_text(workload, "clusters", 0, "kind"), "");
    assert_string_equal(workload_text(workload, "clusters", 1, "status"), "PENDING");
    assert_string_equal(workload_text(workload, "clusters", 1, "note"), "hm");
    assert_string_equal(workload_text(workload, "clusters", 1, "kind"), "DESTROY");
    assert_int_equal(workload_count(workload, "jobs"), 1);
    assert_string_equal(workload_text(workload, "jobs", 0, "type"), "CREATE");
    assert_int_equal(workload_number(workload, "jobs", 0, "at"), 90 * NS_PER_MIN);
    assert_int_equal(workload_number(workload, "jobs", 0, "count"), 9);
    scenario_free(scenario);
}

static void test_scenario_as_written_has_the_documents_weaknesses(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good(HEAD "variant: as_written\n");
    assert_string_equal(scenario->variant, "as_written");
    assert_int_equal(scenario->weaknesses, 5);
    scenario_free(scenario);
}

static void test_scenario_byte_order_mark_and_crlf_are_accepted(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good("\xef\xbb\xbfscenario: demo\r\nabout: x\r\n"
                                           "strategy: job_locks\r\nexpect: pass\r\n");
    assert_string_equal(scenario->about, "x");
    scenario_free(scenario);
}

/* libfyaml 0.7.12 has two faults here: it leaks, and its iterators repeat the quotes. */
static void test_scenario_text_with_many_escapes_is_read_whole(void **state)
{
    (void)state;
    struct scenario *scenario = parse_good("scenario: demo\nabout: ''''''''''''''''''''''\n"
                                           "strategy: job_locks\nexpect: pass\n");
    assert_string_equal(scenario->about, "''''''''''");
    scenario_free(scenario);
}

/* ---- what is refused ---- */

static void test_scenario_several_mistakes_are_all_reported_in_order(void **state)
{
    (void)state;
    assert_refused(
        "scenario: a b\nstrategy: job_lock\nexpcet: pass\nlimits: {steps: 5, chaos: 10}\n",
        "t.yaml:1:1: the key `about` is missing: expected a text\n"
        "t.yaml:1:11: scenario: expected a name of letters, digits, `-` and `_`, at most "
        "64 characters, found `a b`\n"
        "t.yaml:2:11: unknown strategy `job_lock`, did you mean `job_locks`?\n"
        "t.yaml:3:1: unknown key `expcet`, did you mean `expect`?\n"
        "t.yaml:4:17: limits.steps: expected an integer from 100 to 1000000, found `5`\n"
        "t.yaml:4:27: limits.chaos: expected a duration such as 90m, from 1s to 30d, "
        "found `10`, which has no unit (ns, us, ms, s, m, h or d)\n");
}

static void test_scenario_more_mistakes_than_the_most_are_counted(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    strbuf_puts(&text, HEAD);
    for (int i = 0; i < 120; i++)
        strbuf_printf(&text, "zzz%d: 1\n", i);
    assert_null(parse(strbuf_str(&text)));
    assert_int_equal(diags.count, DIAG_COUNT_MAX);
    assert_int_equal(diags.dropped_count, 20);
    strbuf_release(&text);
}

static void test_scenario_yaml_beyond_plain_is_refused(void **state)
{
    (void)state;
    assert_refused(HEAD "limits: &a {steps: 100}\n",
                   "t.yaml:5:10: anchors (&) are not supported, write the plain value\n");
    assert_refused(HEAD "limits: {steps: !!int 100}\n",
                   "t.yaml:5:17: tags (!) are not supported, write the plain value\n");
    assert_refused(HEAD "limits: *a\n",
                   "t.yaml:5:9: aliases (*) are not supported, write the value out\n");
    assert_refused(HEAD "limits: {<<: {}}\n",
                   "t.yaml:5:10: merge keys (<<) are not supported, write the keys out\n");
    assert_refused(HEAD "about: again\n",
                   "t.yaml:5:1: duplicate key `about`, it stands in line 2 already\n");
    assert_refused(HEAD "[a, b]: c\n", "t.yaml:5:1: a key must be a word, found a list\n");
    assert_refused(HEAD ": c\n", "t.yaml:1:1: a key must be a word, found nothing\n");
    assert_refused(HEAD "---\nb: c\n",
                   "t.yaml:5:1: a second document begins here, a scenario file holds one\n");
}

static void test_scenario_text_that_is_no_mapping_is_refused(void **state)
{
    (void)state;
    assert_refused("", "t.yaml: there is no scenario in this file, only comments or nothing\n");
    assert_refused("# x\n",
                   "t.yaml: there is no scenario in this file, only comments or nothing\n");
    assert_refused("- a\n", "t.yaml:1:1: expected a mapping that begins with `scenario: name`, "
                            "found a list\n");
    assert_refused("\"abc\"", "t.yaml:1:1: expected a mapping that begins with `scenario: name`, "
                              "found the quoted text `abc`\n");
}

static void test_scenario_bytes_that_are_no_text_are_refused(void **state)
{
    (void)state;
    assert_refused("a: \xc3(\n", "t.yaml:1:4: the byte 0xc3 is not valid UTF-8\n");
    assert_refused("a: b\n\xed\xa0\x80: 1\n", "t.yaml:2:1: the byte 0xed is not valid UTF-8\n");
    assert_refused("a: \xc0\x80\n", "t.yaml:1:4: the byte 0xc0 is not valid UTF-8\n");
    assert_refused("\xff\xfe"
                   "a",
                   "t.yaml:1:1: the byte 0xff is not valid UTF-8\n");
    assert_refused("a: \x01\n", "t.yaml:1:4: the control character 0x01 is not allowed\n");
    assert_refused(HEAD "gates: [\"a\\0b\"]\n",
                   "t.yaml:5:9: an escape in this text makes a character that is not allowed\n");
    assert_null(scenario_parse("t.yaml", "a: \0b", 5, &diags));
    assert_diags("t.yaml:1:4: the control character 0x00 is not allowed\n");
}

static void test_scenario_syntax_error_is_reported_with_its_place(void **state)
{
    (void)state;
    assert_refused("a: [1, 2\n", "t.yaml:2:1: not valid YAML: flow sequence without a closing "
                                 "bracket\n");
    assert_refused("a:\n\tb: 1\n",
                   "t.yaml:2:1: not valid YAML: tab character may not be used as indentation\n");
    assert_refused("a: 1\n\tb: 2\n", "t.yaml:1:4: not valid YAML: invalid multiline plain key\n"
                                     "t.yaml:2:1: a tab in the indentation, YAML wants spaces\n");
    assert_refused(HEAD "faults: [{crash: {points: [dbexec, []]}}]\n",
                   "t.yaml:5:28: unknown point `dbexec` in faults[0].crash.points, did you mean "
                   "`db.exec`?\n"
                   "t.yaml:5:36: expected the name of a point in faults[0].crash.points, found a "
                   "list\n");
}

static void test_scenario_deep_nesting_is_refused(void **state)
{
    (void)state;
    size_t size = 200000;
    char *text = malloc(size);
    memset(text, '[', size);
    assert_null(scenario_parse("t.yaml", text, size, &diags));
    assert_diags("t.yaml:1:17: nested deeper than 16 levels\n");
    free(text);
}

static void test_scenario_overlong_collections_are_refused(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < 300; i++)
        strbuf_printf(&text, "k%d: 1\n", i);
    assert_refused(text.text, "t.yaml:1:1: this mapping has more than 256 entries\n");
    strbuf_clear(&text);
    strbuf_puts(&text, "a: [");
    for (int i = 0; i < 5000; i++)
        strbuf_puts(&text, "1,");
    assert_refused(text.text, "t.yaml:1:4: this list has more than 4096 entries\n");
    strbuf_release(&text);
}

static void test_scenario_wrong_types_say_what_was_expected(void **state)
{
    (void)state;
    assert_refused(HEAD "topology: [1]\n",
                   "t.yaml:5:11: topology: expected a mapping, found a list\n");
    assert_refused(HEAD "faults: {}\n", "t.yaml:5:9: faults: expected a list, found a mapping\n");
    assert_refused(HEAD "limits:\n", "t.yaml:5:1: limits: expected a mapping, found nothing\n");
    assert_refused(
        HEAD "topology: {workers: \"3\"}\n",
        "t.yaml:5:21: topology.workers: expected an integer from 0 to 64, found the quoted "
        "text `3`\n");
    assert_refused(
        HEAD "topology: {workers: 12abc}\n",
        "t.yaml:5:21: topology.workers: expected an integer from 0 to 64, found `12abc`\n");
    assert_refused(
        HEAD "scheduling: {slowness: 1.5}\n",
        "t.yaml:5:24: scheduling.slowness: expected a probability from 0 to 1 with at most "
        "6 decimals, found `1.5`\n");
    assert_refused(
        HEAD "faults: [{pause: {for: 90m..20m, loud: yes}}]\n",
        "t.yaml:5:24: faults[0].pause.for: expected a duration such as 90m or a range such "
        "as 20m..90m, from 1s to 1d, found `90m..20m`, whose first end is the longer one\n"
        "t.yaml:5:40: faults[0].pause.loud: expected true or false, found `yes`\n");
}

static void test_scenario_unknown_variant_is_refused(void **state)
{
    (void)state;
    assert_refused(HEAD "variant: hardend\n",
                   "t.yaml:5:10: variant: expected hardened, as_written or {weaknesses: [names]}, "
                   "found `hardend`, did you mean `hardened`?\n");
    assert_refused(
        HEAD "variant: {weaknesses: [no_fence, no_fencing, no_fencing, [x]]}\n",
        "t.yaml:5:24: unknown weakness `no_fence` of job_locks, did you mean `no_fencing`?\n"
        "t.yaml:5:46: variant.weaknesses: `no_fencing` is named twice\n"
        "t.yaml:5:58: variant.weaknesses: expected the name of a weakness, found a list\n");
    assert_refused(
        HEAD "variant: {weaknesses: []}\n",
        "t.yaml:5:23: variant.weaknesses: the list is empty, write `variant: hardened` for "
        "none\n");
}

static void test_scenario_targets_must_exist(void **state)
{
    (void)state;
    assert_refused(
        HEAD "faults:\n"
             "- crash: {target: any-workr}\n"
             "- crash: {target: worker-3}\n"
             "- crash: {target: worker-0}\n"
             "- crash: {target: clock-2}\n"
             "- crash: {target: somebody}\n"
             "topology: {janitors: 0}\n"
             "gates: [x, x, Y()]\n",
        "t.yaml:6:19: unknown target `any-workr` in faults[0].crash, did you mean "
        "`any-worker`?\n"
        "t.yaml:7:19: faults[1].crash.target: there is no `worker-3`, topology.workers is 2\n"
        "t.yaml:8:19: faults[2].crash.target: there is no `worker-0`, topology.workers is 2\n"
        "t.yaml:9:19: faults[3].crash.target: there is no `clock-2`, there is always one\n"
        "t.yaml:10:19: unknown target `somebody` in faults[4].crash, known: any, "
        "any-worker, worker-1, any-janitor, janitor-1, any-clock, clock-1\n"
        "t.yaml:12:12: gates: `x` is named twice\n"
        "t.yaml:12:15: gates: expected the name of an SQL function in lower case, without "
        "schema and parentheses, found `Y()`\n");
    assert_refused(HEAD "topology: {janitors: 0}\nfaults: [{crash: {target: any-janitor}}]\n",
                   "t.yaml:6:27: faults[0].crash.target: there is no `any-janitor`, "
                   "topology.janitors is 0\n");
    assert_refused(HEAD "topology: {workers: x}\nfaults: [{crash: {target: worker-9}}]\n",
                   "t.yaml:5:21: topology.workers: expected an integer from 0 to 64, found `x`\n");
}

static void test_scenario_fault_that_cannot_strike_is_refused(void **state)
{
    (void)state;
    assert_refused(
        HEAD "faults:\n"
             "- crash: {points: [db.exec, wake, db.exec]}\n"
             "- crash: {points: []}\n"
             "- pause: {for: 1m, points: db.exec, how: idle}\n"
             "- pause: {for: 1m, how: idle}\n"
             "- crash: {after: 2h, before: 1h}\n"
             "- crash: {after: 4h}\n"
             "- crash: {probability: 0}\n"
             "- crash: {probability: 0.1, nth: 3}\n"
             "- {crash: {}, pause: {}}\n"
             "- crsh: {}\n"
             "- crash: 1\n",
        "t.yaml:6:29: faults[0].crash.points: crash cannot strike at `wake`, only at: db.exec, "
        "cloud.call, sleep\n"
        "t.yaml:6:35: faults[0].crash.points: `db.exec` is named twice\n"
        "t.yaml:7:19: faults[1].crash.points: expected a point or a list of points, found a "
        "list without entries\n"
        "t.yaml:8:28: faults[2].pause.points: it cannot strike at `db.exec` with its other "
        "fields as they are\n"
        "t.yaml:9:10: faults[3].pause: there is no point where it could strike\n"
        "t.yaml:10:30: faults[4].crash.before: 1h is not later than `after`, 2h\n"
        "t.yaml:11:18: faults[5].crash.after: 4h is not before the end of chaos at 4h, it "
        "would never strike\n"
        "t.yaml:12:24: faults[6].crash.probability: with 0 it would never strike\n"
        "t.yaml:13:24: faults[7].crash: `probability` and `nth` exclude each other, give "
        "one of them\n"
        "t.yaml:14:3: faults[8]: expected one fault such as crash: {times: 1}, found a "
        "mapping that has not exactly one key\n"
        "t.yaml:15:3: unknown fault `crsh`, did you mean `crash`?\n"
        "t.yaml:16:10: faults[10].crash: expected a mapping, found `1`\n");
}

static void test_scenario_workload_mistakes_are_reported(void **state)
{
    (void)state;
    assert_refused(
        HEAD "workload:\n"
             "  clusters: [{name: a}, {name: a}]\n"
             "  jobs:\n"
             "    - {type: CREATE, cluster: b}\n"
             "    - {cluster: a, type: CREAT, at: -1s}\n"
             "    - {type: DESTROY, cluster: a, count: 10}\n"
             "    - x\n"
             "  job: []\n",
        "t.yaml:6:32: workload.clusters[1].name: duplicate name `a`, it stands in line 6 "
        "already\n"
        "t.yaml:8:31: unknown name `b` in workload.jobs[0].cluster (a name of "
        "workload.clusters), known: a, a\n"
        "t.yaml:9:26: workload.jobs[1].type: expected one of CREATE, DESTROY, found `CREAT`, "
        "did you mean `CREATE`?\n"
        "t.yaml:9:37: workload.jobs[1].at: expected a duration such as 90m, found `-1s`\n"
        "t.yaml:10:42: workload.jobs[2].count: expected an integer from 1 to 9, found `10`\n"
        "t.yaml:11:7: workload.jobs[3]: expected a mapping, found `x`\n"
        "t.yaml:12:3: unknown key `job` in workload, did you mean `jobs`?\n");
    assert_refused(HEAD "workload: {clusters: [{name: a},{name: b},{name: c},{name: d},{name: e},"
                        "{name: f},{name: g},{name: h},{name: i}]}\n",
                   "t.yaml:5:22: workload.clusters: 9 entries, at most 8 are allowed\n");
}

static void test_scenario_refused_name_is_not_missed_by_references(void **state)
{
    (void)state;
    assert_refused(HEAD "workload: {clusters: [{name: a b}], jobs: [{type: CREATE, cluster: a}]}\n",
                   "t.yaml:5:30: workload.clusters[0].name: expected a name of letters, digits, "
                   "`-` and `_`, at most 48 characters, found `a b`\n");
}

static void test_scenario_verdict_mistakes_are_reported(void **state)
{
    (void)state;
    assert_refused(HEAD "invariants: [settles, all]\n",
                   "t.yaml:5:23: invariants: `all` means every one, nothing may stand beside it\n");
    assert_refused(HEAD "invariants: []\n",
                   "t.yaml:5:13: invariants: the list is empty, write [all] or names\n");
    assert_refused(HEAD "invariants: [setles, settles, settles, foreign, {}]\n",
                   "t.yaml:5:14: unknown invariant `setles`, did you mean `settles`?\n"
                   "t.yaml:5:31: invariants: `settles` is named twice\n"
                   "t.yaml:5:40: invariants: `foreign` does not apply to the strategy job_locks\n"
                   "t.yaml:5:49: invariants: expected the name of an invariant, found a mapping\n");
    assert_refused(
        "scenario: a\nabout: b\nstrategy: job_locks\ninvariants: [settles]\n"
        "expect: {violates: single_owner}\n",
        "t.yaml:5:20: expect.violates: `single_owner` is not among the invariants of this "
        "scenario\n");
    assert_refused("scenario: a\nabout: b\nstrategy: job_locks\n",
                   "t.yaml:1:1: the key `expect` is missing: expected pass or {violates: "
                   "invariant}\n");
    assert_refused(
        HEAD "invariants: all\n",
        "t.yaml:5:13: invariants: expected a list, found `all`, a list of one is written "
        "[x]\n");
    assert_refused("scenario: a\nabout: b\nstrategy: job_locks\nexpect: fail\n",
                   "t.yaml:4:9: expect: expected pass or {violates: invariant}, found `fail`\n");
}

/* ---- overrides ---- */

static struct scenario *parse_with(const char *text, const char *override)
{
    return scenario_parse_with("t.yaml", text, strlen(text), &override, 1, &diags);
}

static void test_scenario_overrides_replace_values(void **state)
{
    (void)state;
    static const char *const overrides[] = {"topology.workers=5", "limits.chaos=1h",
                                            "faults.0.crash.times=7", "variant=as_written",
                                            "faults.0.crash.points=[db.exec]"};
    struct scenario *scenario = scenario_parse_with("t.yaml", full_text, strlen(full_text),
                                                    overrides, FP_COUNT(overrides), &diags);
    assert_diags("");
    assert_non_null(scenario);
    assert_int_equal(scenario->role_counts[0], 5);
    assert_int_equal(scenario->chaos_ns, NS_PER_HOUR);
    const struct fake_crash *crash = scenario->faults[0].config;
    assert_int_equal(crash->common.times, 7);
    assert_int_equal(crash->common.points, POINT_BIT(POINT_DB_EXEC));
    assert_string_equal(scenario->variant, "as_written");
    assert_string_equal(scenario->source, full_text);
    assert_int_equal(scenario->override_count, 5);
    assert_string_equal(scenario->overrides[1], "limits.chaos=1h");
    scenario_free(scenario);
}

static void test_scenario_override_makes_missing_mappings(void **state)
{
    (void)state;
    struct scenario *scenario = parse_with(HEAD, "topology.postgres.standbys=2");
    assert_diags("");
    assert_int_equal(scenario->standby_count, 2);
    scenario_free(scenario);
}

static void assert_override_refused(const char *override, const char *expected)
{
    assert_null(parse_with(full_text, override));
    assert_diags(expected);
    diags_release(&diags);
    diags_init(&diags, "t.yaml");
}

static void test_scenario_wrong_override_is_named(void **state)
{
    (void)state;
    assert_override_refused("topology.worker=5",
                            "t.yaml: --set topology.worker=5: unknown key `worker` "
                            "in topology, did you mean `workers`?\n");
    assert_override_refused(
        "limits.chaos=5",
        "t.yaml: --set limits.chaos=5: limits.chaos: expected a "
        "duration such as 90m, from 1s to 30d, found `5`, which has no unit (ns, us, "
        "ms, s, m, h or d)\n");
    assert_override_refused(
        "faults.9.crash=1",
        "t.yaml: --set faults.9.crash=1: the list has 3 entries, there is no number "
        "`9`\n");
    assert_override_refused("faults.x=1",
                            "t.yaml: --set faults.x=1: a list is reached, expected the "
                            "number of an entry (0 is the first), found `x`\n");
    assert_override_refused(
        "about.x=1", "t.yaml: --set about.x=1: the path goes on behind a plain value, at `x`\n");
    assert_override_refused("about", "t.yaml: --set about: expected path=value, such as "
                                     "limits.chaos=1h\n");
    assert_override_refused("limits..x=1",
                            "t.yaml: --set limits..x=1: the path has an empty part\n");
    assert_override_refused("about=[",
                            "t.yaml: --set about=[: not valid YAML: flow sequence without a "
                            "closing bracket\n");
    assert_override_refused("about=",
                            "t.yaml: --set about=: about: expected a text, found nothing\n");
}

static void test_scenario_too_many_overrides_are_refused(void **state)
{
    (void)state;
    const char *overrides[SCENARIO_OVERRIDE_COUNT_MAX + 1];
    for (size_t i = 0; i < FP_COUNT(overrides); i++)
        overrides[i] = "limits.steps=200";
    assert_null(
        scenario_parse_with("t.yaml", HEAD, strlen(HEAD), overrides, FP_COUNT(overrides), &diags));
    assert_diags("t.yaml: 33 times --set, at most 32 are allowed\n");
}

/* ---- files ---- */

/* A file of that content under a fresh name, which the caller unlinks. */
static void make_file(char path[64], const char *text, size_t size)
{
    strcpy(path, "/tmp/fencepost-scenario-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    close(fd);
}

static void test_scenario_file_is_loaded(void **state)
{
    (void)state;
    char path[64];
    make_file(path, HEAD, strlen(HEAD));
    struct scenario *scenario = scenario_load(path, &diags);
    unlink(path);
    assert_diags("");
    assert_string_equal(scenario->file, path);
    scenario_free(scenario);
}

static void test_scenario_unfit_files_have_messages_of_their_own(void **state)
{
    (void)state;
    char path[64];
    assert_null(scenario_load("/nonexistent/x.yaml", &diags));
    assert_null(scenario_load("/tmp", &diags));
    make_file(path, "", 0);
    assert_null(scenario_load(path, &diags));
    /* Sparse: reading it would take long, looking at its size does not. */
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_null(scenario_load(path, &diags));
    unlink(path);
    assert_null(scenario_load("/dev/zero", &diags));
    assert_diags("t.yaml: there is no such file\n"
                 "t.yaml: is a directory, expected a scenario file\n"
                 "t.yaml: the file is empty\n"
                 "t.yaml: larger than 1024 KiB, which is the most a scenario file may have\n"
                 "t.yaml: larger than 1024 KiB, which is the most a scenario file may have\n");
}

/* ---- the reference ---- */

static void test_reference_names_every_key_once_per_table(void **state)
{
    (void)state;
    struct strbuf out = STRBUF_INIT;
    scenario_reference(&out);
    assert_non_null(strstr(out.text, "| `steps` | an integer from 100 to 1000000 | `20000` |"));
    assert_non_null(strstr(out.text, "| `for` | a duration such as 90m or a range"));
    assert_non_null(
        strstr(out.text, "| `restart_after` | a duration such as 90m, or never | `10m` |"));
    assert_non_null(strstr(out.text, "| `janitors` | an integer from 0 to 16 | `1` |"));
    assert_non_null(strstr(out.text, "| `cluster` | "));
    assert_non_null(strstr(out.text, "| `no_fencing` | no token is sent | page 3 | yes |"));
    assert_non_null(strstr(out.text, "| `settles` | it rests | when \\| how |"));
    strbuf_release(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scenario_minimal_has_all_defaults),
        TEST(test_scenario_full_fills_every_part),
        TEST(test_scenario_also_names_what_else_may_break),
        TEST(test_scenario_faults_fill_their_configs),
        TEST(test_scenario_workload_gives_values_and_defaults),
        TEST(test_scenario_as_written_has_the_documents_weaknesses),
        TEST(test_scenario_text_with_many_escapes_is_read_whole),
        TEST(test_scenario_byte_order_mark_and_crlf_are_accepted),
        TEST(test_scenario_several_mistakes_are_all_reported_in_order),
        TEST(test_scenario_more_mistakes_than_the_most_are_counted),
        TEST(test_scenario_yaml_beyond_plain_is_refused),
        TEST(test_scenario_text_that_is_no_mapping_is_refused),
        TEST(test_scenario_bytes_that_are_no_text_are_refused),
        TEST(test_scenario_syntax_error_is_reported_with_its_place),
        TEST(test_scenario_deep_nesting_is_refused),
        TEST(test_scenario_overlong_collections_are_refused),
        TEST(test_scenario_wrong_types_say_what_was_expected),
        TEST(test_scenario_unknown_variant_is_refused),
        TEST(test_scenario_targets_must_exist),
        TEST(test_scenario_fault_that_cannot_strike_is_refused),
        TEST(test_scenario_workload_mistakes_are_reported),
        TEST(test_scenario_refused_name_is_not_missed_by_references),
        TEST(test_scenario_verdict_mistakes_are_reported),
        TEST(test_scenario_overrides_replace_values),
        TEST(test_scenario_override_makes_missing_mappings),
        TEST(test_scenario_wrong_override_is_named),
        TEST(test_scenario_too_many_overrides_are_refused),
        TEST(test_scenario_file_is_loaded),
        TEST(test_scenario_unfit_files_have_messages_of_their_own),
        TEST(test_reference_names_every_key_once_per_table),
    };
    return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
