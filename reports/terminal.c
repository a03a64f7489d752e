#include "reports/terminal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "faults/fault.h"
#include "reports/environment.h"
#include "reports/sums.h"
#include "sim/core/duration.h"
#include "sim/run/measured.h"

#define NAME_WIDTH_MAX 48
#define VARIANT_WIDTH_MAX 48
#define PROGRAM "./fencepost"

enum mark { MARK_GOOD, MARK_BAD, MARK_UNKNOWN, MARK_NOT_RUN };

static const struct {
    const char *word, *colour;
} marks[] = {
    [MARK_GOOD] = {"ok", "\033[32m"},
    [MARK_BAD] = {"FAIL", "\033[1;31m"},
    [MARK_UNKNOWN] = {"??", "\033[33m"},
    [MARK_NOT_RUN] = {"--", "\033[2m"},
};

static void put_coloured(struct strbuf *out, bool colour, const char *code, const char *format, ...)
    FP_PRINTF(4, 5);

static void put_coloured(struct strbuf *out, bool colour, const char *code, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_printf(out, "%s%s%s", colour ? code : "", text, colour ? "\033[0m" : "");
}

/* 1234567 as 1,234,567. */
static void put_count(struct strbuf *out, int64_t count)
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRId64, count);
    for (int i = 0; i < size; i++) {
        if (i > 0 && digits[i - 1] != '-' && (size - i) % 3 == 0)
            strbuf_putc(out, ',');
        strbuf_putc(out, digits[i]);
    }
}

static void put_counted(struct strbuf *out, int64_t count, const char *one, const char *many)
{
    put_count(out, count);
    strbuf_printf(out, " %s", count == 1 ? one : many);
}

/* ---- commands to copy ---- */

static bool is_plain(const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./=:,@%+";
    return word[0] != '\0' && strspn(word, safe) == strlen(word);
}

static void put_shell_word(struct strbuf *out, const char *word)
{
    if (is_plain(word)) {
        strbuf_puts(out, word);
        return;
    }
    strbuf_putc(out, '\'');
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            strbuf_puts(out, "'\\''");
        else
            strbuf_putc(out, *c);
    strbuf_putc(out, '\'');
}

void report_replay_command(const struct scenario *scenario, uint64_t seed, const char *failure_file,
                           struct strbuf *out)
{
    strbuf_puts(out, PROGRAM " replay ");
    put_shell_word(out, failure_file ? failure_file : scenario->file);
    if (failure_file)
        return;
    strbuf_printf(out, " --seed %" PRIu64, seed);
    for (size_t i = 0; i < scenario->override_count; i++) {
        strbuf_puts(out, " --set ");
        put_shell_word(out, scenario->overrides[i]);
    }
}

/* ---- one scenario ---- */

static enum mark mark_of(const struct campaign_scenario *item)
{
    if (item->seed_count == 0)
        return MARK_NOT_RUN;
    if (item->met)
        return MARK_GOOD;
    if (item->outcomes[RUN_VIOLATION] > 0 || item->diverged_count > 0 ||
        item->scenario->expect == EXPECT_VIOLATION)
        return MARK_BAD;
    return MARK_UNKNOWN;
}

/* The invariants that broke although the scenario does not expect it. */
static void put_broken(struct strbuf *out, const struct campaign_scenario *item)
{
    const struct scenario *scenario = item->scenario;
    const char *comma = "VIOLATION ";
    for (size_t i = 0; i < scenario->invariant_count; i++) {
        if (item->by_invariant[i] == 0 || scenario_expects(scenario, scenario->invariants[i]))
            continue;
        strbuf_printf(out, "%s%s in %" PRId64 " of %" PRId64, comma, scenario->invariants[i]->name,
                      item->by_invariant[i], item->seed_count);
        comma = ", ";
    }
}

static void put_result(struct strbuf *out, const struct campaign_scenario *item)
{
    const struct scenario *scenario = item->scenario;
    int64_t found_count = sums_found(item);
    if (item->seed_count == 0) {
        strbuf_puts(out, "not run");
    } else if (item->diverged_count > 0) {
        strbuf_printf(out,
                      "DIVERGED: %" PRId64 " of %" PRId64 " seeds did something else the second "
                      "time",
                      item->diverged_count, item->checked_count);
    } else if (item->outcomes[RUN_VIOLATION] > sums_expected(item)) {
        put_broken(out, item);
    } else if (item->outcomes[RUN_INFRASTRUCTURE] > 0) {
        strbuf_printf(out, "infrastructure failed in %" PRId64 " of %" PRId64 " seeds",
                      item->outcomes[RUN_INFRASTRUCTURE], item->seed_count);
    } else if (found_count > 0) {
        strbuf_printf(out, "caught: %s broken in %" PRId64 " of %" PRId64 " seeds (expected)",
                      scenario->expect_invariant->name, found_count, item->seed_count);
    } else if (scenario->expect == EXPECT_VIOLATION) {
        strbuf_printf(out, "expected violation of %s NOT found in ",
                      scenario->expect_invariant->name);
        put_counted(out, item->seed_count, "seed", "seeds");
    } else if (item->outcomes[RUN_UNKNOWN] > 0) {
        strbuf_printf(out, "unknown: %" PRId64 " of %" PRId64 " seeds did not come to rest",
                      item->outcomes[RUN_UNKNOWN], item->seed_count);
    } else {
        strbuf_puts(out, "held in ");
        put_counted(out, item->seed_count, "seed", "seeds");
    }
}

static void put_faults(struct strbuf *out, const struct campaign_scenario *item)
{
    const char *comma = "  [";
    for (size_t i = 0; fault_kinds[i]; i++) {
        if (!sums_has_fault(item, fault_kinds[i]))
            continue;
        strbuf_printf(out, "%s%s %" PRId64, comma, fault_kinds[i]->name,
                      sums_fired(item, fault_kinds[i]));
        comma = ", ";
    }
    if (comma[0] == ',')
        strbuf_putc(out, ']');
}

struct widths {
    int name, variant, seeds;
};

static int wider(int width, const char *text, int most)
{
    int size = (int)strlen(text);
    if (size > most)
        size = most;
    return size > width ? size : width;
}

static struct widths measure(const struct campaign_report *report)
{
    struct widths widths = {8, 7, 5};
    for (size_t i = 0; i < report->scenario_count; i++) {
        const struct campaign_scenario *item = &report->scenarios[i];
        char seeds[24];
        snprintf(seeds, sizeof seeds, "%" PRId64, item->seed_count);
        widths.name = wider(widths.name, item->scenario->name, NAME_WIDTH_MAX);
        widths.variant = wider(widths.variant, item->scenario->variant, VARIANT_WIDTH_MAX);
        widths.seeds = wider(widths.seeds, seeds, (int)sizeof seeds);
    }
    return widths;
}

static void put_row(struct strbuf *out, const struct campaign_scenario *item, struct widths widths,
                    bool colour)
{
    enum mark mark = mark_of(item);
    strbuf_puts(out, "  ");
    put_coloured(out, colour, marks[mark].colour, "%-4s", marks[mark].word);
    strbuf_printf(out, "  %-*s  %-*s  %*" PRId64 "  ", widths.name, item->scenario->name,
                  widths.variant, item->scenario->variant, widths.seeds, item->seed_count);
    put_result(out, item);
    put_faults(out, item);
    strbuf_putc(out, '\n');
}

static void put_table(struct strbuf *out, const struct campaign_report *report, bool colour)
{
    struct widths widths = measure(report);
    strbuf_printf(out, "  %-4s  %-*s  %-*s  %*s  %s\n", "", widths.name, "scenario", widths.variant,
                  "variant", widths.seeds, "seeds", "result  [faults that struck]");
    for (size_t i = 0; i < report->scenario_count; i++)
        put_row(out, &report->scenarios[i], widths, colour);
    strbuf_putc(out, '\n');
}

/* ---- all of them ---- */

static void put_tried(struct strbuf *out, const struct campaign_report *report,
                      const struct sums *sums)
{
    strbuf_puts(out, "tried        ");
    put_counted(out, (int64_t)sums->scenario_count, "scenario", "scenarios");
    strbuf_puts(out, ", ");
    put_counted(out, sums->seed_count, "seed", "seeds");
    strbuf_puts(out, ", ");
    put_counted(out, sums->counts.steps, "step", "steps");
    strbuf_printf(out, ", %.1f virtual hours, in %.1f s: ",
                  (double)sums->counts.virtual_ns / (double)NS_PER_HOUR,
                  (double)report->wall_ns / (double)NS_PER_S);
    put_count(out, (int64_t)(sums_per_s(sums->seed_count, report->wall_ns) + 0.5));
    strbuf_puts(out, " seeds/s, ");
    put_count(out, (int64_t)(sums_per_s(sums->counts.steps, report->wall_ns) + 0.5));
    strbuf_puts(out, " steps/s\n             on ");
    report_environment(&report->environment, report->lane_count, out);
    strbuf_printf(out, ", which took %.1f s to start and stop\n",
                  (double)report->start_ns / (double)NS_PER_S);
    if (report->environment.off[0] != '\0')
        strbuf_printf(out, "not promised %s\n", report->environment.off);
}

static void put_exhaustive(struct strbuf *out, const struct campaign_scenario *item)
{
    if (!item->exhaustive.is_used)
        return;
    strbuf_printf(out, "search       exhaustive:%d of %s: ", item->exhaustive.bound,
                  item->scenario->name);
    if (item->exhaustive.complete)
        strbuf_puts(out, "all ");
    put_counted(out, item->seed_count, "schedule", "schedules");
    strbuf_puts(out,
                item->exhaustive.complete ? " within the bound explored" : ", not all of them");
    if (item->exhaustive.state_count > 0) {
        strbuf_puts(out, "; ");
        put_count(out, item->exhaustive.pruned_count);
        strbuf_puts(out, " more came to one of ");
        put_counted(out, item->exhaustive.state_count, "known state", "known states");
    }
    if (!item->exhaustive.complete) {
        strbuf_puts(out, "; left: what follows from ");
        put_counted(out, item->exhaustive.open_count, "decision", "decisions");
    }
    strbuf_putc(out, '\n');
}

/* The scenario for which the bound is worst. */
static void put_search(struct strbuf *out, const struct campaign_report *report)
{
    const struct campaign_scenario *worst = NULL;
    double worst_odds = 2;
    for (size_t i = 0; i < report->scenario_count; i++) {
        const struct campaign_scenario *item = &report->scenarios[i];
        put_exhaustive(out, item);
        if (item->scenario->pct_depth == 0 || item->seed_count == 0)
            continue;
        double odds = sums_pct_odds(item);
        if (odds < worst_odds) {
            worst = item;
            worst_odds = odds;
        }
    }
    if (worst == NULL)
        return;
    strbuf_printf(
        out,
        "search       pct:%" PRId64 ": a seed meets a bug of that depth with odds of at least "
        "1 in %.0f\n             (%s: at most %" PRId64 " fibers and %" PRId64 " decisions)\n",
        worst->scenario->pct_depth, 1 / worst_odds, worst->scenario->name, worst->counts.fibers,
        worst->counts.decisions);
}

static void put_database(struct strbuf *out, const struct run_counts *counts)
{
    strbuf_puts(out, "database     ");
    put_counted(out, counts->statements, "statement", "statements");
    strbuf_puts(out, ": contended ");
    put_count(out, counts->contended);
    strbuf_puts(out, ", parked ");
    put_count(out, counts->parked);
    strbuf_puts(out, ", deadlocks ");
    put_count(out, counts->deadlocks);
    strbuf_puts(out, ", ghosts ");
    put_count(out, counts->ghosts);
    strbuf_puts(out, ", gates ");
    put_count(out, counts->gates);
    strbuf_putc(out, '\n');
}

static void put_sweep(struct strbuf *out, const struct campaign_report *report)
{
    const struct campaign_scenario *item = &report->scenarios[0];
    int64_t struck_count = item->counts.fired[item->scenario->sweep_index];
    strbuf_puts(out, "sweep        ");
    put_counted(out, report->sweep_point_count, "point", "points");
    strbuf_printf(out, " visited, struck at %" PRId64 " of them, one run each\n", struck_count);
}

static void put_determinism(struct strbuf *out, const struct sums *sums)
{
    strbuf_puts(out, "determinism  checked ");
    put_counted(out, sums->checked_count, "run", "runs");
    strbuf_printf(out, " twice, %" PRId64 " diverged\n", sums->diverged_count);
}

/* A fault that had no chance says something about its fields, not about the design. */
static void put_unvisited(struct strbuf *out, const struct campaign_report *report)
{
    for (size_t s = 0; s < report->scenario_count; s++) {
        const struct campaign_scenario *item = &report->scenarios[s];
        for (size_t i = 0; i < item->scenario->fault_count; i++)
            if (sums_is_unvisited(item, i))
                strbuf_printf(out,
                              "no chance    faults[%zu].%s of %s: nobody came by where it could "
                              "strike\n",
                              i, item->scenario->faults[i].kind->name, item->scenario->name);
    }
}

/* A scenario that was not tried has not held either. */
static void put_untried(struct strbuf *out, const struct campaign_report *report,
                        const struct sums *sums)
{
    int64_t count = (int64_t)(report->scenario_count - sums->scenario_count);
    if (count == 0)
        return;
    strbuf_puts(out, "not tried    ");
    put_counted(out, count, "scenario", "scenarios");
    strbuf_puts(out, ": no time was left (--time)\n");
}

static void put_limits(struct strbuf *out, const struct campaign_report *report)
{
    put_unvisited(out, report);
    if (report->lane_failed && !report->interrupted)
        strbuf_printf(out, "trouble      %s\n", strbuf_str(&report->trouble));
    if (report->interrupted)
        strbuf_puts(out, "interrupted  this is what was done until then\n");
    else if (report->out_of_time)
        strbuf_puts(out, "time         ran out before all seeds were run (--time)\n");
}

/* ---- what was caught as expected ---- */

static bool is_caught(const struct campaign_scenario *item)
{
    return item->met && item->scenario->expect == EXPECT_VIOLATION && item->first_failure.found;
}

static void put_caught(struct strbuf *out, const struct campaign_report *report)
{
    const char *title = "\nbroken designs that were caught, and how to look at each:\n";
    for (size_t i = 0; i < report->scenario_count; i++) {
        const struct campaign_scenario *item = &report->scenarios[i];
        if (!is_caught(item))
            continue;
        strbuf_printf(out, "%s  %s (%s) breaks %s\n    ", title, item->scenario->name,
                      item->scenario->variant, item->first_failure.invariant->name);
        report_replay_command(item->scenario, item->first_failure.seed, item->first_failure.file,
                              out);
        strbuf_putc(out, '\n');
        title = "";
    }
}

/* ---- what was not expected ---- */

static void put_small(struct strbuf *out, const struct campaign_failure *failure)
{
    if (failure->small_file == NULL)
        return;
    strbuf_puts(out, "the smallest that still fails: " PROGRAM " run ");
    put_shell_word(out, failure->small_file);
    strbuf_printf(out, " (%" PRId64 " steps)\n", failure->small_step);
}

static void put_finding(struct strbuf *out, const struct scenario *scenario, const char *what,
                        const struct campaign_failure *failure, bool colour)
{
    strbuf_putc(out, '\n');
    put_small(out, failure);
    put_coloured(out, colour, marks[MARK_BAD].colour, "%s", what);
    strbuf_printf(out, " in %s (%s), seed %" PRIu64 "\n  step %" PRId64 "\n  %s\n  ",
                  scenario->name, scenario->variant, failure->seed, failure->step,
                  failure->sentence ? failure->sentence : "");
    report_replay_command(scenario, failure->seed, failure->file, out);
    strbuf_putc(out, '\n');
}

static void put_not_found(struct strbuf *out, const struct campaign_scenario *item, bool colour)
{
    strbuf_putc(out, '\n');
    put_coloured(out, colour, marks[MARK_BAD].colour, "expected violation NOT found");
    strbuf_printf(out,
                  " in %s (%s)\n  %s held in all of %" PRId64
                  " seeds; more seeds may find it\n  " PROGRAM " run ",
                  item->scenario->name, item->scenario->variant,
                  item->scenario->expect_invariant->name, item->seed_count);
    put_shell_word(out, item->scenario->file);
    strbuf_printf(out, " --seeds %" PRId64 "\n", item->seed_count * 10);
}

static void put_violation(struct strbuf *out, const struct campaign_scenario *item, bool colour)
{
    char what[128];
    snprintf(what, sizeof what, "VIOLATION of %s", item->first_failure.invariant->name);
    put_finding(out, item->scenario, what, &item->first_failure, colour);
}

static bool put_unexpected(struct strbuf *out, const struct campaign_scenario *item, bool colour)
{
    const struct scenario *scenario = item->scenario;
    if (item->met || item->seed_count == 0)
        return false;
    if (item->first_divergence.found)
        put_finding(out, scenario, "a run diverged", &item->first_divergence, colour);
    else if (item->outcomes[RUN_VIOLATION] > sums_expected(item))
        put_violation(out, item, colour);
    else if (item->outcomes[RUN_INFRASTRUCTURE] > 0)
        put_finding(out, scenario, "infrastructure failed", &item->first_unknown, colour);
    else if (scenario->expect == EXPECT_VIOLATION)
        put_not_found(out, item, colour);
    else
        put_finding(out, scenario, "no verdict", &item->first_unknown, colour);
    return true;
}

void report_terminal_findings(const struct campaign_report *report, bool colour, struct strbuf *out)
{
    int shown_count = 0, more_count = 0;
    struct strbuf dropped = STRBUF_INIT;
    for (size_t i = 0; i < report->scenario_count; i++) {
        bool is_full = shown_count == TERMINAL_FINDING_COUNT_MAX;
        if (!put_unexpected(is_full ? &dropped : out, &report->scenarios[i], colour))
            continue;
        shown_count += !is_full;
        more_count += is_full;
    }
    if (more_count > 0)
        strbuf_printf(out, "\nand %d more, see the table\n", more_count);
    strbuf_release(&dropped);
}

void report_terminal(const struct campaign_report *report, bool colour, struct strbuf *out)
{
    struct sums sums;
    sums_of(report, &sums);
    if (sums.seed_count > 0) {
        put_table(out, report, colour);
        put_tried(out, report, &sums);
        put_search(out, report);
        put_database(out, &sums.counts);
        put_determinism(out, &sums);
        if (report->sweep_point_count > 0)
            put_sweep(out, report);
        put_limits(out, report);
        put_untried(out, report, &sums);
    }
    put_caught(out, report);
    report_terminal_findings(report, colour, out);
}

/* ---- what was measured ---- */

static int measured_width(const struct campaign_scenario *item)
{
    struct measured measured;
    int width = 0;
    for (size_t i = 0; measured_at(item->scenario->strategy, item->measured, i, &measured); i++)
        width = wider(width, measured.name, NAME_WIDTH_MAX);
    return width;
}

static void put_measured(struct strbuf *out, const struct measured *measured, int width)
{
    char median[DURATION_TEXT_SIZE], max[DURATION_TEXT_SIZE];
    strbuf_printf(out, "  %-*s  ", width, measured->name);
    put_count(out, measured->count);
    if (measured->is_duration && measured->count > 0)
        strbuf_printf(out, ", median %s, max %s", duration_text(measured->median_ns, median),
                      duration_text(measured->max_ns, max));
    strbuf_putc(out, '\n');
}

void report_terminal_measured(const struct campaign_report *report, struct strbuf *out)
{
    for (size_t i = 0; i < report->scenario_count; i++) {
        const struct campaign_scenario *item = &report->scenarios[i];
        const struct strategy *strategy = item->scenario->strategy;
        struct measured measured;
        if (!item->measured || !measured_at(strategy, item->measured, 0, &measured))
            continue;
        strbuf_printf(out, "\nmeasured in %s (%s), ", item->scenario->name,
                      item->scenario->variant);
        put_counted(out, item->seed_count, "seed", "seeds");
        strbuf_puts(out, ":\n");
        for (size_t k = 0; measured_at(strategy, item->measured, k, &measured); k++)
            put_measured(out, &measured, measured_width(item));
    }
}

/* ---- what was reached ---- */

static int key_width(const struct tally *reached)
{
    int width = 0;
    for (size_t i = 0; i < tally_size(reached); i++)
        width = wider(width, tally_key(reached, i), TALLY_KEY_SIZE_MAX);
    return width;
}

void report_terminal_reached(const struct campaign_report *report, struct strbuf *out)
{
    for (size_t i = 0; i < report->scenario_count; i++) {
        const struct campaign_scenario *item = &report->scenarios[i];
        if (!item->reached)
            continue;
        strbuf_printf(out, "\nreached in %s (%s), ", item->scenario->name, item->scenario->variant);
        put_counted(out, item->seed_count, "seed", "seeds");
        strbuf_puts(out, ":\n");
        int width = key_width(item->reached);
        for (size_t k = 0; k < tally_size(item->reached); k++) {
            strbuf_printf(out, "  %-*s  ", width, tally_key(item->reached, k));
            put_count(out, tally_count(item->reached, k));
            strbuf_putc(out, '\n');
        }
    }
}
