#include "reports/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/fault.h"
#include "fp_version.h"
#include "reports/environment.h"
#include "reports/sums.h"
#include "sim/core/json_out.h"
#include "sim/run/measured.h"

static void put_hex(struct json_out *out, const char *key, uint64_t value)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    json_key(out, key);
    json_string(out, text);
}

static void put_bool(struct json_out *out, const char *key, bool value)
{
    json_key(out, key);
    json_bool(out, value);
}

static void put_double(struct json_out *out, const char *key, double value, int decimals)
{
    json_key(out, key);
    json_double(out, value, decimals);
}

static void put_failure(struct json_out *out, const char *key,
                        const struct campaign_failure *failure)
{
    json_key(out, key);
    if (!failure->found) {
        json_null(out);
        return;
    }
    json_object_begin(out);
    json_key(out, "seed");
    json_uint(out, failure->seed);
    json_put_string(out, "invariant", failure->invariant ? failure->invariant->name : NULL);
    json_put_int(out, "step", failure->step);
    json_put_string(out, "file", failure->file);
    json_put_string(out, "sentence", failure->sentence);
    if (failure->small_file != NULL)
        json_put_string(out, "small", failure->small_file);
    json_object_end(out);
}

static void put_counts(struct json_out *out, const struct run_counts *counts)
{
    json_key(out, "counts");
    json_object_begin(out);
    json_put_int(out, "statements", counts->statements);
    json_put_int(out, "contended", counts->contended);
    json_put_int(out, "parked", counts->parked);
    json_put_int(out, "deadlocks", counts->deadlocks);
    json_put_int(out, "ghosts", counts->ghosts);
    json_put_int(out, "gates", counts->gates);
    json_put_int(out, "crashes", counts->crashes);
    json_put_int(out, "repeats", counts->repeats);
    json_object_end(out);
}

static void put_faults(struct json_out *out, const struct campaign_scenario *item)
{
    json_key(out, "faults_fired");
    json_object_begin(out);
    for (size_t i = 0; fault_kinds[i]; i++)
        if (sums_has_fault(item, fault_kinds[i]))
            json_put_int(out, fault_kinds[i]->name, sums_fired(item, fault_kinds[i]));
    json_object_end(out);
}

static void put_unvisited(struct json_out *out, const struct campaign_scenario *item)
{
    json_key(out, "faults_without_chance");
    json_array_begin(out);
    for (size_t i = 0; i < item->scenario->fault_count; i++) {
        if (!sums_is_unvisited(item, i))
            continue;
        char *name = fp_format("faults[%zu].%s", i, item->scenario->faults[i].kind->name);
        json_string(out, name);
        free(name);
    }
    json_array_end(out);
}

static void put_exhaustive(struct json_out *out, const struct campaign_scenario *item)
{
    json_key(out, "exhaustive");
    json_object_begin(out);
    json_put_int(out, "bound", item->exhaustive.bound);
    put_bool(out, "complete", item->exhaustive.complete);
    json_put_int(out, "schedules", item->seed_count);
    json_put_int(out, "pruned", item->exhaustive.pruned_count);
    json_put_int(out, "states", item->exhaustive.state_count);
    json_put_int(out, "open", item->exhaustive.open_count);
    json_object_end(out);
}

/* With priorities, or exhaustive. */
static void put_search(struct json_out *out, const struct campaign_scenario *item)
{
    if (item->exhaustive.is_used)
        put_exhaustive(out, item);
    if (item->scenario->pct_depth == 0)
        return;
    json_key(out, "pct");
    json_object_begin(out);
    json_put_int(out, "depth", item->scenario->pct_depth);
    json_put_int(out, "fibers", item->counts.fibers);
    json_put_int(out, "decisions", item->counts.decisions);
    /* The least odds by which a seed meets a bug of that depth. */
    put_double(out, "one_seed_in", 1 / sums_pct_odds(item), 0);
    json_object_end(out);
}

static void put_reached(struct json_out *out, const struct tally *reached)
{
    json_key(out, "reached");
    json_object_begin(out);
    for (size_t i = 0; reached && i < tally_size(reached); i++)
        json_put_int(out, tally_key(reached, i), tally_count(reached, i));
    json_object_end(out);
}

static void put_measured(struct json_out *out, const struct campaign_scenario *item)
{
    struct measured measured;
    json_key(out, "measured");
    json_object_begin(out);
    for (size_t i = 0;
         item->measured && measured_at(item->scenario->strategy, item->measured, i, &measured);
         i++) {
        if (!measured.is_duration) {
            json_put_int(out, measured.name, measured.count);
            continue;
        }
        json_key(out, measured.name);
        json_object_begin(out);
        json_put_int(out, "count", measured.count);
        put_double(out, "median_s", (double)measured.median_ns / (double)NS_PER_S, 6);
        put_double(out, "max_s", (double)measured.max_ns / (double)NS_PER_S, 6);
        json_object_end(out);
    }
    json_object_end(out);
}

static void put_expected(struct json_out *out, const struct campaign_scenario *item)
{
    struct strbuf text = STRBUF_INIT;
    if (item->scenario->expect == EXPECT_PASS)
        strbuf_puts(&text, "pass");
    else
        strbuf_printf(&text, "violates %s", item->scenario->expect_invariant->name);
    json_put_string(out, "expected", strbuf_str(&text));
    put_bool(out, "met", item->met);
    strbuf_release(&text);
}

static void put_scenario(struct json_out *out, const struct campaign_scenario *item)
{
    json_object_begin(out);
    json_put_string(out, "name", item->scenario->name);
    json_put_string(out, "file", item->scenario->file);
    json_put_string(out, "strategy", item->scenario->strategy->name);
    json_put_string(out, "variant", item->scenario->variant);
    json_put_int(out, "seeds", item->seed_count);
    json_put_int(out, "passed", item->outcomes[RUN_PASS]);
    json_put_int(out, "violations", item->outcomes[RUN_VIOLATION]);
    json_put_int(out, "unknown", item->outcomes[RUN_UNKNOWN]);
    json_put_int(out, "diverged", item->outcomes[RUN_DIVERGED]);
    json_put_int(out, "infrastructure", item->outcomes[RUN_INFRASTRUCTURE]);
    put_expected(out, item);
    json_put_int(out, "steps", item->counts.steps);
    put_double(out, "virtual_s", (double)item->counts.virtual_ns / (double)NS_PER_S, 3);
    put_faults(out, item);
    put_unvisited(out, item);
    put_counts(out, &item->counts);
    put_search(out, item);
    put_reached(out, item->reached);
    put_measured(out, item);
    put_hex(out, "hash", item->hash);
    put_failure(out, "first_failure", &item->first_failure);
    put_failure(out, "first_unknown", &item->first_unknown);
    put_failure(out, "first_divergence", &item->first_divergence);
    json_object_end(out);
}

static void put_sweep(struct json_out *out, const struct campaign_report *report)
{
    const struct campaign_scenario *item = &report->scenarios[0];
    json_key(out, "sweep");
    json_object_begin(out);
    json_put_int(out, "points", report->sweep_point_count);
    json_put_int(out, "struck", item->counts.fired[item->scenario->sweep_index]);
    json_object_end(out);
}

static void put_determinism(struct json_out *out, const struct sums *sums)
{
    json_key(out, "determinism");
    json_object_begin(out);
    json_put_int(out, "checked", sums->checked_count);
    json_put_int(out, "diverged", sums->diverged_count);
    json_object_end(out);
}

static void put_speed(struct json_out *out, const struct campaign_report *report,
                      const struct sums *sums)
{
    put_double(out, "seeds_per_s", sums_per_s(sums->seed_count, report->wall_ns), 3);
    put_double(out, "steps_per_s", sums_per_s(sums->counts.steps, report->wall_ns), 3);
    put_double(out, "wall_s", (double)report->wall_ns / (double)NS_PER_S, 3);
    put_double(out, "start_s", (double)report->start_ns / (double)NS_PER_S, 3);
}

static void put_circumstances(struct json_out *out, const struct campaign_report *report)
{
    json_put_int(out, "jobs", report->lane_count);
    json_put_string(out, "server", report->environment.version);
    report_environment_json(&report->environment, out);
    json_put_string(out, "version", FP_VERSION);
    json_put_string(out, "commit", FP_GIT_COMMIT);
    json_put_int(out, "engine", FP_ENGINE_VERSION);
    put_bool(out, "interrupted", report->interrupted);
    put_bool(out, "out_of_time", report->out_of_time);
    json_put_string(out, "trouble", report->trouble.size > 0 ? strbuf_str(&report->trouble) : NULL);
}

void report_json(const struct campaign_report *report, struct strbuf *text)
{
    struct json_out out;
    struct sums sums;
    sums_of(report, &sums);
    json_out_init(&out, text);
    json_object_begin(&out);
    json_put_string(&out, "verdict", sums_verdict(report));
    json_key(&out, "scenarios");
    json_array_begin(&out);
    for (size_t i = 0; i < report->scenario_count; i++)
        put_scenario(&out, &report->scenarios[i]);
    json_array_end(&out);
    put_determinism(&out, &sums);
    if (report->sweep_point_count > 0)
        put_sweep(&out, report);
    put_speed(&out, report, &sums);
    put_counts(&out, &sums.counts);
    put_circumstances(&out, report);
    json_object_end(&out);
    json_out_finish(&out);
    strbuf_putc(text, '\n');
}
