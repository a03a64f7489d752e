#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sim/world/metrics.h"

static int set_up(void **state)
{
    *state = metrics_new();
    return 0;
}

static int tear_down(void **state)
{
    metrics_free(*state);
    return 0;
}

static void assert_written(const struct metrics *metrics, const char *expected)
{
    struct strbuf out = STRBUF_INIT;
    metrics_write(metrics, &out);
    assert_string_equal(strbuf_str(&out), expected);
    strbuf_release(&out);
}

static void assert_has_line(const struct metrics *metrics, const char *line)
{
    struct strbuf out = STRBUF_INIT;
    metrics_write(metrics, &out);
    if (!strstr(strbuf_str(&out), line))
        fail_msg("no %s in:\n%s", line, strbuf_str(&out));
    strbuf_release(&out);
}

/* ---- counters ---- */

static void test_metrics_nothing_counted_writes_nothing(void **state)
{
    metrics_describe(*state, "a_total", "Never used.");
    assert_written(*state, "");
    assert_int_equal(metrics_sum(*state, 0, "a_total", NS_PER_HOUR), 0);
    assert_int_equal(metrics_sum(*state, 0, "unknown", NS_PER_HOUR), 0);
}

static void test_metrics_counters_are_written_by_name_then_label(void **state)
{
    metrics_describe(*state, "b_total", "How often b.");
    assert_true(metrics_count(*state, 0, "c_total", NULL, NULL, 1));
    assert_true(metrics_count(*state, 0, "b_total", "reason", "held", 2));
    assert_true(metrics_count(*state, 5, "b_total", "reason", "gone", 1));
    assert_true(metrics_count(*state, 9, "b_total", "reason", "held", 3));
    assert_written(*state, "# HELP b_total How often b.\n"
                           "# TYPE b_total counter\n"
                           "b_total{reason=\"gone\"} 1\n"
                           "b_total{reason=\"held\"} 5\n"
                           "# TYPE c_total counter\n"
                           "c_total 1\n");
}

static void test_metrics_label_value_is_escaped(void **state)
{
    metrics_count(*state, 0, "a", "why", "a \"b\" \\ c\nd", 1);
    assert_has_line(*state, "a{why=\"a \\\"b\\\" \\\\ c\\nd\"} 1\n");
}

/* ---- windows ---- */

static void test_metrics_sum_is_over_all_labels_within_the_window(void **state)
{
    metrics_count(*state, 0, "a", "why", "x", 1);
    metrics_count(*state, 30, "a", "why", "y", 2);
    metrics_count(*state, 60, "a", "why", "x", 4);
    metrics_count(*state, 60, "b", NULL, NULL, 100);
    assert_int_equal(metrics_sum(*state, 60, "a", 61), 7);
    assert_int_equal(metrics_sum(*state, 60, "a", 60), 6);
    assert_int_equal(metrics_sum(*state, 60, "a", 30), 4);
    assert_int_equal(metrics_sum(*state, 60, "a", 0), 0);
    assert_int_equal(metrics_sum(*state, 1000, "a", 60), 0);
}

/* ---- histograms ---- */

static void test_metrics_histogram_is_cumulative_and_in_seconds(void **state)
{
    metrics_observe(*state, 0, "held_seconds", "job_type", "CREATE", NS_PER_S);
    metrics_observe(*state, 1, "held_seconds", "job_type", "CREATE", NS_PER_S + 1);
    metrics_observe(*state, 2, "held_seconds", "job_type", "CREATE", NS_PER_DAY);
    assert_has_line(*state, "# TYPE held_seconds histogram\n");
    assert_has_line(*state, "held_seconds_bucket{job_type=\"CREATE\",le=\"1\"} 1\n"
                            "held_seconds_bucket{job_type=\"CREATE\",le=\"10\"} 2\n");
    assert_has_line(*state, "held_seconds_bucket{job_type=\"CREATE\",le=\"43200\"} 2\n"
                            "held_seconds_bucket{job_type=\"CREATE\",le=\"+Inf\"} 3\n"
                            "held_seconds_sum{job_type=\"CREATE\"} 86402.000000001\n"
                            "held_seconds_count{job_type=\"CREATE\"} 3\n");
    assert_int_equal(metrics_sum(*state, 2, "held_seconds", 10), 3);
}

static void test_metrics_histogram_without_label_is_written(void **state)
{
    metrics_observe(*state, 0, "x_seconds", NULL, NULL, 0);
    assert_has_line(*state, "x_seconds_bucket{le=\"1\"} 1\n");
    assert_has_line(*state, "x_seconds_sum 0.000000000\nx_seconds_count 1\n");
}

/* ---- alerts ---- */

static void test_metrics_alert_fires_once_until_cleared(void **state)
{
    struct metrics_alert_view view;
    assert_true(metrics_alert(*state, 10, "Stale", "warning", "demo"));
    assert_false(metrics_alert(*state, 20, "Stale", "warning", "demo"));
    assert_true(metrics_alert(*state, 20, "Stale", "warning", "other"));
    assert_true(metrics_alert(*state, 20, "Slow", "critical", "demo"));
    assert_true(metrics_alert_clear(*state, 30, "Stale", "demo"));
    assert_false(metrics_alert_clear(*state, 30, "Stale", "demo"));
    assert_false(metrics_alert_clear(*state, 30, "Stale", "nobody"));
    assert_true(metrics_alert(*state, 40, "Stale", "warning", "demo"));
    assert_int_equal(metrics_alert_count(*state), 4);
    metrics_alert_at(*state, 0, &view);
    assert_string_equal(view.alert, "Stale");
    assert_string_equal(view.subject, "demo");
    assert_string_equal(view.severity, "warning");
    assert_int_equal(view.since_ns, 10);
    assert_int_equal(view.until_ns, 30);
    metrics_alert_at(*state, 3, &view);
    assert_int_equal(view.until_ns, -1);
}

static void test_metrics_alerts_are_written_with_their_last_state(void **state)
{
    metrics_alert(*state, 0, "Stale", "warning", "demo");
    metrics_alert_clear(*state, 1, "Stale", "demo");
    metrics_alert(*state, 2, "Slow", "critical", "j1");
    metrics_alert(*state, 3, "Stale", "warning", "demo");
    metrics_alert_clear(*state, 4, "Slow", "j1");
    assert_written(*state, "# HELP ALERTS Alerts that fired; 1 while they do.\n"
                           "# TYPE ALERTS gauge\n"
                           "ALERTS{alertname=\"Slow\",severity=\"critical\",subject=\"j1\"} 0\n"
                           "ALERTS{alertname=\"Stale\",severity=\"warning\",subject=\"demo\"} 1\n");
}

/* ---- again ---- */

static void test_metrics_reset_is_as_new(void **state)
{
    metrics_describe(*state, "a", "Help.");
    metrics_count(*state, 100, "a", "why", "x", 1);
    metrics_alert(*state, 100, "Stale", "warning", "demo");
    metrics_reset(*state);
    assert_written(*state, "");
    assert_true(metrics_observe(*state, 0, "a", NULL, NULL, 1));
    assert_int_equal(metrics_sum(*state, 0, "a", 1), 1);
    assert_true(metrics_alert(*state, 0, "Stale", "warning", "demo"));
}

static void test_metrics_full_says_so(void **state)
{
    char value[16];
    for (int i = 0; i < METRICS_SERIES_COUNT_MAX; i++) {
        snprintf(value, sizeof value, "%d", i);
        assert_true(metrics_count(*state, 0, "a", "n", value, 1));
    }
    assert_false(metrics_count(*state, 0, "a", "n", "one more", 1));
    assert_int_equal(metrics_sum(*state, 0, "a", 1), METRICS_SERIES_COUNT_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_metrics_nothing_counted_writes_nothing),
        TEST(test_metrics_counters_are_written_by_name_then_label),
        TEST(test_metrics_label_value_is_escaped),
        TEST(test_metrics_sum_is_over_all_labels_within_the_window),
        TEST(test_metrics_histogram_is_cumulative_and_in_seconds),
        TEST(test_metrics_histogram_without_label_is_written),
        TEST(test_metrics_alert_fires_once_until_cleared),
        TEST(test_metrics_alerts_are_written_with_their_last_state),
        TEST(test_metrics_reset_is_as_new),
        TEST(test_metrics_full_says_so),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
