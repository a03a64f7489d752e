#include "reports/selftest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/terminal.h"
#include "sim/core/json_out.h"

#define END_MARK "<!-- end of selftest -->"

/* ---- shared ---- */

static const char *scenario_name(const struct selftest_row *row)
{
    const struct scenario *scenario = selftest_scenario(row);
    return scenario ? scenario->name : NULL;
}

/* Calls `put` for the other weaknesses that the scenario switches on. */
static void each_other(const struct selftest_row *row, void (*put)(void *out, const char *name),
                       void *out)
{
    const struct scenario *scenario = selftest_scenario(row);
    for (size_t i = 0; scenario && i < row->strategy->weakness_count; i++)
        if ((scenario->weaknesses >> i & 1) != 0 && &row->strategy->weaknesses[i] != row->weakness)
            put(out, row->strategy->weaknesses[i].name);
}

/* ---- for people ---- */

static int width_of_names(const struct selftest_report *report, bool of_scenarios)
{
    size_t width = 10;
    for (size_t i = 0; i < report->row_count; i++) {
        const char *name =
            of_scenarios ? scenario_name(&report->rows[i]) : report->rows[i].weakness->name;
        if (name && strlen(name) > width)
            width = strlen(name);
    }
    return (int)width;
}

static void put_row(struct strbuf *out, const struct selftest_row *row)
{
    struct selftest_stats stats = selftest_stats_of(row);
    char caught[16], without[48];
    snprintf(caught, sizeof caught, "%d/%d", stats.caught_count, row->try_count);
    snprintf(without, sizeof without, "%" PRId64 "/%" PRId64, row->without_violation_count,
             row->without_seed_count);
    strbuf_printf(out, "%7s", caught);
    if (stats.caught_count > 0)
        strbuf_printf(out, "%8g%7g%9.2f%7.2f%10s", stats.seeds_median, stats.seeds_worst,
                      stats.s_median, stats.s_worst, without);
    strbuf_putc(out, '\n');
}

static void put_table(struct strbuf *out, const struct selftest_report *report)
{
    int weakness_width = width_of_names(report, false);
    int scenario_width = width_of_names(report, true);
    strbuf_printf(out, "%-*s  %-*s%7s%8s%7s%9s%7s%10s\n", weakness_width, "weakness",
                  scenario_width, "scenario", "caught", "seeds", "worst", "seconds", "worst",
                  "without");
    for (size_t i = 0; i < report->row_count; i++) {
        const struct selftest_row *row = &report->rows[i];
        const char *name = scenario_name(row);
        strbuf_printf(out, "%-*s  %-*s", weakness_width, row->weakness->name, scenario_width,
                      name ? name : "none");
        put_row(out, row);
    }
}

static void put_doubts(struct strbuf *out, const struct selftest_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        const struct selftest_row *row = &report->rows[i];
        if (selftest_is_doubtful(row))
            strbuf_printf(
                out, "warning: %s breaks %s without %s too, in %" PRId64 " of %" PRId64 " seeds\n",
                scenario_name(row), row->weakness->breaks, row->weakness->name,
                row->without_violation_count, row->without_seed_count);
    }
    for (size_t i = 0; i < report->hardened_count; i++) {
        const struct selftest_hardened *item = &report->hardened[i];
        if (item->unknown_count > 0)
            strbuf_printf(
                out, "warning: %s, hardened, did not settle in %" PRId64 " of %" PRId64 " seeds\n",
                item->scenario->name, item->unknown_count, item->seed_count);
    }
}

static void put_alarm(struct strbuf *out, const struct selftest_hardened *item)
{
    strbuf_printf(out,
                  "FALSE ALARM: %s, hardened, in %" PRId64 " of %" PRId64
                  " seeds: violation of %s: %s\n  ",
                  item->scenario->name, item->violation_count, item->seed_count,
                  item->invariant->name, item->sentence);
    report_replay_command(item->scenario, item->seed, NULL, out);
    strbuf_putc(out, '\n');
}

static void put_findings(struct strbuf *out, const struct selftest_report *report)
{
    for (size_t i = 0; i < report->hardened_count; i++)
        if (report->hardened[i].violation_count > 0)
            put_alarm(out, &report->hardened[i]);
    for (size_t i = 0; i < report->row_count; i++) {
        const struct selftest_row *row = &report->rows[i];
        if (selftest_is_missed(row))
            strbuf_printf(
                out, "NOT CAUGHT: %s (%s): %s\n", row->weakness->name, row->strategy->name,
                row->candidate_count > 0 ? "no scenario that should catch it did"
                                         : "no scenario names it and expects what it breaks");
    }
}

static void put_sums(struct strbuf *out, const struct selftest_report *report)
{
    size_t caught_count = 0;
    int64_t alarm_count = 0, seed_count = 0;
    for (size_t i = 0; i < report->row_count; i++)
        caught_count += selftest_stats_of(&report->rows[i]).caught_count > 0;
    for (size_t i = 0; i < report->hardened_count; i++) {
        alarm_count += report->hardened[i].violation_count;
        seed_count += report->hardened[i].seed_count;
    }
    strbuf_printf(out,
                  "%zu of %zu weaknesses caught; hardened: %" PRId64 " alarm%s in %" PRId64
                  " seeds of %zu scenarios; %.0f s\n",
                  caught_count, report->row_count, alarm_count, alarm_count == 1 ? "" : "s",
                  seed_count, report->hardened_count, (double)report->wall_ns / (double)NS_PER_S);
}

void report_selftest(const struct selftest_report *report, struct strbuf *out)
{
    put_table(out, report);
    put_sums(out, report);
    put_doubts(out, report);
    put_findings(out, report);
}

/* ---- Markdown ---- */

/* As the document has it, in a reading of it, or not at all. */
static const char *origin(const struct weakness *weakness)
{
    if (weakness->as_written)
        return "as written";
    return strncmp(weakness->source, "planted", 7) == 0 ? "planted" : "one reading";
}

static void put_with(void *out, const char *name)
{
    strbuf_printf(out, ", %s", name);
}

static void put_markdown_row(struct strbuf *out, const struct selftest_row *row)
{
    struct selftest_stats stats = selftest_stats_of(row);
    const char *name = scenario_name(row);
    struct strbuf others = STRBUF_INIT;
    each_other(row, put_with, &others);
    strbuf_printf(out, "| %s | %s | %s | %s%s%s%s |", row->weakness->name, origin(row->weakness),
                  row->weakness->breaks, name ? name : "none", others.size > 0 ? " (with " : "",
                  others.size > 0 ? strbuf_str(&others) + 2 : "", others.size > 0 ? ")" : "");
    strbuf_release(&others);
    if (stats.caught_count == 0) {
        strbuf_printf(out, " 0 of %d | | | |\n", row->try_count);
        return;
    }
    strbuf_printf(out, " %d of %d | %g, %g | %.2f, %.2f | %" PRId64 " of %" PRId64 " |\n",
                  stats.caught_count, row->try_count, stats.seeds_median, stats.seeds_worst,
                  stats.s_median, stats.s_worst, row->without_violation_count,
                  row->without_seed_count);
}

void report_selftest_markdown(const struct selftest_report *report, const struct strategy *strategy,
                              struct strbuf *out)
{
    strbuf_puts(out,
                "| weakness | in the document | breaks | scenario | caught | seeds | seconds | "
                "without it |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < report->row_count; i++)
        if (report->rows[i].strategy == strategy)
            put_markdown_row(out, &report->rows[i]);
}

bool report_selftest_page(const struct selftest_report *report, const struct strategy *strategy,
                          const char *page, struct strbuf *out, struct strbuf *why)
{
    char *mark = fp_format("<!-- selftest %s -->\n", strategy->name);
    const char *begin = strstr(page, mark);
    const char *end = begin ? strstr(begin, END_MARK) : NULL;
    if (end) {
        strbuf_add(out, page, (size_t)(begin - page) + strlen(mark));
        report_selftest_markdown(report, strategy, out);
        strbuf_puts(out, end);
    } else {
        strbuf_printf(why, "expected the line %.*s and after it %s", (int)strlen(mark) - 1, mark,
                      END_MARK);
    }
    free(mark);
    return end != NULL;
}

/* ---- JSON ---- */

/* Without a catch there is nothing to tell: null. */
static void put_double(struct json_out *out, const char *key, bool known, double value,
                       int decimals)
{
    json_key(out, key);
    json_double(out, known ? value : NAN, decimals);
}

static void put_name(void *out, const char *name)
{
    json_string(out, name);
}

static int64_t seeds_run(const struct selftest_row *row)
{
    int64_t count = 0;
    for (int i = 0; i < row->try_count; i++)
        count += row->tries[i].seed_count;
    return count;
}

static void put_row_json(struct json_out *out, const struct selftest_row *row)
{
    const struct scenario *scenario = selftest_scenario(row);
    struct selftest_stats stats = selftest_stats_of(row);
    bool known = stats.caught_count > 0;
    json_object_begin(out);
    json_put_string(out, "strategy", row->strategy->name);
    json_put_string(out, "weakness", row->weakness->name);
    json_put_string(out, "breaks", row->weakness->breaks);
    json_put_string(out, "scenario", scenario_name(row));
    json_put_string(out, "file", scenario ? scenario->file : NULL);
    json_key(out, "with");
    json_array_begin(out);
    each_other(row, put_name, out);
    json_array_end(out);
    json_put_int(out, "tries", row->try_count);
    json_put_int(out, "caught", stats.caught_count);
    json_put_int(out, "seeds", seeds_run(row));
    put_double(out, "seeds_median", known, stats.seeds_median, 1);
    put_double(out, "seeds_worst", known, stats.seeds_worst, 0);
    put_double(out, "s_median", known, stats.s_median, 3);
    put_double(out, "s_worst", known, stats.s_worst, 3);
    json_put_int(out, "without_seeds", row->without_seed_count);
    json_put_int(out, "without_violations", row->without_violation_count);
    json_object_end(out);
}

static void put_hardened_json(struct json_out *out, const struct selftest_hardened *item)
{
    bool is_alarm = item->violation_count > 0;
    json_object_begin(out);
    json_put_string(out, "scenario", item->scenario->name);
    json_put_string(out, "file", item->scenario->file);
    json_put_int(out, "seeds", item->seed_count);
    json_put_int(out, "violations", item->violation_count);
    json_put_int(out, "unknown", item->unknown_count);
    json_put_string(out, "invariant", is_alarm ? item->invariant->name : NULL);
    json_key(out, "seed");
    if (is_alarm)
        json_uint(out, item->seed);
    else
        json_null(out);
    json_put_string(out, "sentence", is_alarm ? item->sentence : NULL);
    json_object_end(out);
}

static void put_missed_json(struct json_out *out, const struct selftest_report *report)
{
    json_key(out, "not_caught");
    json_array_begin(out);
    for (size_t i = 0; i < report->row_count; i++)
        if (selftest_is_missed(&report->rows[i]))
            json_string(out, report->rows[i].weakness->name);
    json_array_end(out);
}

void report_selftest_json(const struct selftest_report *report, struct strbuf *text)
{
    struct json_out out;
    json_out_init(&out, text);
    json_object_begin(&out);
    json_key(&out, "weaknesses");
    json_array_begin(&out);
    for (size_t i = 0; i < report->row_count; i++)
        put_row_json(&out, &report->rows[i]);
    json_array_end(&out);
    put_missed_json(&out, report);
    json_key(&out, "hardened");
    json_array_begin(&out);
    for (size_t i = 0; i < report->hardened_count; i++)
        put_hardened_json(&out, &report->hardened[i]);
    json_array_end(&out);
    json_put_int(&out, "jobs", report->lane_count);
    put_double(&out, "wall_s", true, (double)report->wall_ns / (double)NS_PER_S, 1);
    json_key(&out, "interrupted");
    json_bool(&out, report->interrupted);
    json_put_string(&out, "trouble",
                    report->trouble.size > 0 ? strbuf_str(&report->trouble) : NULL);
    json_object_end(&out);
    json_out_finish(&out);
    strbuf_putc(text, '\n');
}
