#include "reports/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/environment.h"
#include "reports/events.h"
#include "sim/core/json_out.h"

static const char *invariant_name(const struct run_result *result)
{
    return result->invariant ? result->invariant->name : NULL;
}

static bool is_same_text(const char *left, const char *right)
{
    if (!left || !right)
        return left == right;
    return strcmp(left, right) == 0;
}

/* The events were the same, but judged otherwise: the invariants have changed since. */
static bool verdict_differs(const struct replay_report *report)
{
    const struct failure *failure = report->failure;
    const struct run_result *result = report->result;
    return strcmp(failure->outcome, run_outcome_name(result->outcome)) != 0 ||
           !is_same_text(failure->invariant, invariant_name(result)) ||
           failure->step != result->step || failure->hash != result->hash;
}

bool replay_report_differs(const struct replay_report *report)
{
    if (!report->failure || report->result->outcome == RUN_INFRASTRUCTURE)
        return false;
    return report->result->outcome == RUN_DIVERGED || verdict_differs(report);
}

/* ---- for people ---- */

static void put_verdict(struct strbuf *out, const struct run_result *result)
{
    const char *sentence = strbuf_str(&result->sentence);
    switch (result->outcome) {
    case RUN_PASS:
        strbuf_puts(out, "pass: every invariant held");
        break;
    case RUN_VIOLATION:
        strbuf_printf(out, "violation of %s at step %" PRId64 ": %s", invariant_name(result),
                      result->step, sentence);
        break;
    case RUN_UNKNOWN:
        strbuf_printf(out, "unknown at step %" PRId64 ": %s", result->step, sentence);
        break;
    case RUN_INFRASTRUCTURE:
        strbuf_printf(out, "infrastructure: %s", sentence);
        break;
    default:
        strbuf_printf(out, "diverged at step %" PRId64 "\n%s", result->step, sentence);
        break;
    }
}

static void put_recorded(struct strbuf *out, const struct failure *failure)
{
    strbuf_printf(out, "\nrecorded: %s%s%s at step %" PRId64 ", hash %016" PRIx64, failure->outcome,
                  failure->invariant ? " of " : "", failure->invariant ? failure->invariant : "",
                  failure->step, failure->hash);
}

static void put_summary(struct strbuf *out, const struct replay_report *report)
{
    const struct run_result *result = report->result;
    bool is_finished = result->outcome != RUN_DIVERGED && result->outcome != RUN_INFRASTRUCTURE;
    if (is_finished && report->failure) {
        bool differs = verdict_differs(report);
        strbuf_printf(
            out, "replayed: same %" PRId64 " steps, %s hash %016" PRIx64 ", ", result->counts.steps,
            differs && report->failure->hash != result->hash ? "but the" : "same", result->hash);
        strbuf_puts(out, differs ? "but the verdict is another: " : "");
    } else if (is_finished) {
        strbuf_printf(out, "%s, seed %" PRIu64 ": %" PRId64 " steps, hash %016" PRIx64 ", ",
                      report->scenario->name, result->seed, result->counts.steps, result->hash);
    }
    put_verdict(out, result);
    if (is_finished && report->failure && verdict_differs(report))
        put_recorded(out, report->failure);
    strbuf_putc(out, '\n');
}

/* Only what a reader would not expect: another place than this machine, or less than all promises.
 */
static void put_environment(struct strbuf *out, const struct pg_environment *environment)
{
    if (!environment || strcmp(environment->kind, "local") == 0)
        return;
    strbuf_puts(out, "on ");
    report_environment(environment, 1, out);
    if (environment->off[0] != '\0')
        strbuf_printf(out, "; not promised: %s", environment->off);
    strbuf_putc(out, '\n');
}

void report_replay(const struct replay_report *report, bool events, struct strbuf *out)
{
    const struct run_result *result = report->result;
    bool has_step = result->outcome == RUN_VIOLATION;
    if (events && result->outcome != RUN_INFRASTRUCTURE) {
        strbuf_printf(out, "the last events%s:\n", has_step ? " up to the violation" : "");
        report_events(strbuf_str(trace_lines(report->trace)), has_step ? result->step : -1,
                      REPLAY_TAIL_COUNT, out);
        strbuf_putc(out, '\n');
    }
    put_summary(out, report);
    put_environment(out, report->environment);
}

/* ---- for machines ---- */

static void put_hash(struct json_out *out, const char *key, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_put_string(out, key, text);
}

static void put_comparison(struct json_out *out, const struct replay_report *report)
{
    json_key(out, "reproduced");
    if (!report->failure || report->result->outcome == RUN_INFRASTRUCTURE) {
        json_null(out);
        return;
    }
    json_bool(out, !replay_report_differs(report));
    put_hash(out, "recorded_hash", report->failure->hash);
}

void report_replay_json(const struct replay_report *report, struct strbuf *text)
{
    const struct run_result *result = report->result;
    struct json_out out;
    json_out_init(&out, text);
    json_object_begin(&out);
    json_put_string(&out, "verdict", run_outcome_name(result->outcome));
    json_put_string(&out, "scenario", report->scenario->name);
    json_put_string(&out, "variant", report->scenario->variant);
    json_put_string(&out, "file", report->failure ? report->failure->file : report->scenario->file);
    json_key(&out, "seed");
    json_uint(&out, result->seed);
    json_key(&out, "steps");
    json_int(&out, result->counts.steps);
    put_hash(&out, "hash", result->hash);
    put_comparison(&out, report);
    json_put_string(&out, "invariant", invariant_name(result));
    json_key(&out, "step");
    json_int(&out, result->step);
    json_put_string(&out, "sentence", strbuf_str(&result->sentence));
    if (report->environment)
        report_environment_json(report->environment, &out);
    json_object_end(&out);
    json_out_finish(&out);
    strbuf_putc(text, '\n');
}
