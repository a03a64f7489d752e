/* The harness against bare libpq: the same statements over the same number of connections. */
#include <stdlib.h>

#include "sim/core/realtime.h"
#include "sim/hunt/bench_internal.h"
#include "sim/hunt/median.h"
#include "sim/pg/tape.h"

#define SEED_COUNT 25
#define SEED_COUNT_QUICK 5
#define ROUND_COUNT 9
#define ROUND_COUNT_QUICK 5
/* Some seeds cannot be played; so many are tried for each that is wanted. */
#define TRIED_PER_WANTED 40

struct wire {
    struct bench *bench;
    struct bench_figure *figure;
    struct bench_lane *lane;
    const struct scenario *scenario;
    bool with_waits; /* seeds in which somebody waits for a lock, and only those */
    struct tape *tape;
    struct bare *bare;
    uint64_t *seeds; /* one per take */
    size_t seed_count;
    int64_t waits_count, differing_count; /* left out */
    struct strbuf last_difference;
    double harness_ns[ROUND_COUNT], bare_ns[ROUND_COUNT];
};

/* The tables without anything of the harness's. */
static void put_plain_sql(const struct scenario *scenario, struct strbuf *sql)
{
    const struct strategy *strategy = scenario->strategy;
    strbuf_puts(sql, strategy->schema_sql);
    for (size_t i = 0; i < strategy->weakness_count; i++)
        if ((scenario->weaknesses >> i & 1) && strategy->weaknesses[i].schema_sql)
            strbuf_printf(sql, ";\n%s", strategy->weaknesses[i].schema_sql);
}

/* The lane knows the tables to wipe once a seed has been run. */
static enum bench_end open_bare(struct wire *wire)
{
    struct bench_sum sum = {0};
    struct strbuf sql = STRBUF_INIT;
    enum bench_end end = bench_seed(wire->bench, wire->figure, wire->lane, wire->scenario, 1, &sum);
    if (end != BENCH_MEASURED)
        return end;
    put_plain_sql(wire->scenario, &sql);
    if (bare_open(wire->lane->single.pg, strbuf_str(&sql), &wire->bare, &wire->figure->reason) !=
        ERR_OK)
        end = BENCH_FAILED;
    strbuf_release(&sql);
    return end;
}

/* ---- recording ---- */

/* Does the last take come out the same without the harness? What depends on the virtual clock, the
 * end of a lease say, does not. */
static enum bench_end try_take(struct wire *wire, bool *good)
{
    size_t take = tape_take_count(wire->tape) - 1;
    strbuf_clear(&wire->last_difference);
    enum err err = bare_play(wire->bare, wire->tape, take, &wire->last_difference);
    if (err == ERR_INFRASTRUCTURE)
        return bench_fail(wire->figure, strbuf_str(&wire->last_difference));
    *good = err == ERR_OK;
    wire->differing_count += err != ERR_OK;
    return BENCH_MEASURED;
}

static enum bench_end record_seed(struct wire *wire, uint64_t seed)
{
    struct bench_sum sum = {0};
    tape_begin_take(wire->tape);
    pg_lane_record(wire->lane->single.pg, wire->tape);
    enum bench_end end =
        bench_seed(wire->bench, wire->figure, wire->lane, wire->scenario, seed, &sum);
    pg_lane_record(wire->lane->single.pg, NULL);
    if (end != BENCH_MEASURED)
        return end;
    bool good = (sum.contended > 0) == wire->with_waits && tape_is_playable(wire->tape);
    if (good)
        end = try_take(wire, &good);
    else
        wire->waits_count++;
    if (good)
        wire->seeds[wire->seed_count++] = seed;
    else
        tape_drop_take(wire->tape);
    return end;
}

static enum bench_end record(struct wire *wire, size_t wanted_count)
{
    enum bench_end end = BENCH_MEASURED;
    wire->seeds = fp_alloc(wanted_count * sizeof wire->seeds[0]);
    for (uint64_t seed = 1; seed <= wanted_count * TRIED_PER_WANTED; seed++) {
        end = record_seed(wire, seed);
        if (end != BENCH_MEASURED || wire->seed_count == wanted_count)
            return end;
    }
    strbuf_printf(&wire->figure->reason,
                  "%s: only %zu of %zu seeds can be played without the harness: %lld are left out "
                  "for their lock waits, %lld are answered otherwise (%s)",
                  wire->scenario->name, wire->seed_count, wanted_count * TRIED_PER_WANTED,
                  (long long)wire->waits_count, (long long)wire->differing_count,
                  strbuf_str(&wire->last_difference));
    return BENCH_UNMEASURED;
}

/* ---- timing ---- */

static enum bench_end time_harness(struct wire *wire, double *elapsed_ns)
{
    struct bench_sum sum = {0};
    enum bench_end end = BENCH_MEASURED;
    int64_t began_ns = realtime_ns();
    for (size_t i = 0; i < wire->seed_count && end == BENCH_MEASURED; i++)
        end =
            bench_seed(wire->bench, wire->figure, wire->lane, wire->scenario, wire->seeds[i], &sum);
    *elapsed_ns = (double)(realtime_ns() - began_ns);
    return end;
}

static enum bench_end time_bare(struct wire *wire, double *elapsed_ns)
{
    enum err err = ERR_OK;
    int64_t began_ns = realtime_ns();
    for (size_t take = 0; take < wire->seed_count && err == ERR_OK; take++) {
        if (bench_is_interrupted(wire->bench))
            return BENCH_INTERRUPTED;
        err = bare_play(wire->bare, wire->tape, take, &wire->figure->reason);
    }
    *elapsed_ns = (double)(realtime_ns() - began_ns);
    if (err == ERR_OK)
        return BENCH_MEASURED;
    return err == ERR_DB_SQL ? BENCH_UNMEASURED : BENCH_FAILED;
}

/* In turns, and in turns who begins, so that a busy moment of the machine hits both. */
static enum bench_end time_rounds(struct wire *wire, size_t round_count)
{
    enum bench_end end = BENCH_MEASURED;
    for (size_t round = 0; round < round_count && end == BENCH_MEASURED; round++) {
        double *harness_ns = &wire->harness_ns[round], *bare_ns = &wire->bare_ns[round];
        end = round % 2 ? time_bare(wire, bare_ns) : time_harness(wire, harness_ns);
        if (end == BENCH_MEASURED)
            end = round % 2 ? time_harness(wire, harness_ns) : time_bare(wire, bare_ns);
    }
    return end;
}

/* ---- one scenario ---- */

struct wire_sum {
    double harness_ns, bare_ns, statements;
};

static void take_row(struct wire *wire, size_t round_count, struct wire_sum *sum)
{
    double statements = (double)tape_statement_count(wire->tape);
    double harness_ns = median(wire->harness_ns, round_count);
    double bare_ns = median(wire->bare_ns, round_count);
    struct bench_row *row = bench_row(wire->figure, wire->scenario->name);
    bench_detail(row, "value", harness_ns / bare_ns, 3);
    bench_detail(row, "with_waits", wire->with_waits, 0);
    /* The medians are sorted by now: the first is the least. */
    bench_detail(row, "value_of_minima", wire->harness_ns[0] / wire->bare_ns[0], 3);
    bench_detail(row, "seeds", (double)wire->seed_count, 0);
    bench_detail(row, "left_out_waits", (double)wire->waits_count, 0);
    bench_detail(row, "left_out_differing", (double)wire->differing_count, 0);
    bench_detail(row, "connections", bare_connection_count(wire->bare), 0);
    bench_detail(row, "rounds", (double)round_count, 0);
    bench_detail(row, "statements", statements, 0);
    bench_detail(row, "us_per_statement_bare", bare_ns / statements / (double)NS_PER_US, 2);
    bench_detail(row, "us_per_statement_harness", harness_ns / statements / (double)NS_PER_US, 2);
    if (!wire->with_waits) {
        sum->harness_ns += harness_ns;
        sum->bare_ns += bare_ns;
        sum->statements += statements;
    }
    bench_say(wire->bench, "bare_wire_ratio: %s: %.3f", wire->scenario->name, harness_ns / bare_ns);
}

static enum bench_end measure_scenario(struct wire *wire, struct wire_sum *sum)
{
    struct bench *bench = wire->bench;
    size_t round_count = bench->options->quick ? ROUND_COUNT_QUICK : ROUND_COUNT;
    size_t wanted_count = (size_t)bench_seed_count(bench, SEED_COUNT, SEED_COUNT_QUICK);
    wire->tape = tape_new();
    enum bench_end end = open_bare(wire);
    if (end == BENCH_MEASURED)
        end = record(wire, wanted_count);
    if (end == BENCH_MEASURED)
        end = time_rounds(wire, round_count);
    if (end == BENCH_MEASURED)
        take_row(wire, round_count, sum);
    bare_close(wire->bare);
    tape_free(wire->tape);
    free(wire->seeds);
    strbuf_release(&wire->last_difference);
    return end;
}

struct wire_line {
    const char *name;
    bool with_waits;
};

static enum bench_end measure_line(struct bench *bench, struct bench_figure *figure,
                                   const struct wire_line *line, struct wire_sum *sum)
{
    struct bench_lane lane;
    struct scenario *scenario = bench_load(bench, figure, line->name);
    if (!scenario)
        return BENCH_FAILED;
    enum bench_end end = BENCH_FAILED;
    struct wire wire = {.bench = bench,
                        .figure = figure,
                        .lane = &lane,
                        .scenario = scenario,
                        .with_waits = line->with_waits};
    if (bench_lane_open(bench, figure, &lane)) {
        end = measure_scenario(&wire, sum);
        bench_lane_close(&lane);
    }
    scenario_free(scenario);
    return end;
}

/* Who waits is answered in an order that plain libpq does not keep, so a take that came out right
 * once may not do so again. The row that stands beside the value is left out then. */
static enum bench_end measure_beside(struct bench *bench, struct bench_figure *figure,
                                     const struct wire_line *line, struct wire_sum *sum)
{
    enum bench_end end = measure_line(bench, figure, line, sum);
    if (end != BENCH_UNMEASURED || !line->with_waits)
        return end;
    bench_say(bench, "bare_wire_ratio: no row for %s: %s", line->name, strbuf_str(&figure->reason));
    strbuf_clear(&figure->reason);
    return BENCH_MEASURED;
}

enum bench_end bench_bare_wire_ratio(struct bench *bench, struct bench_figure *figure)
{
    /* In every seed of the usual one somebody waits. Plain libpq does not find out who, so its
     * row stands beside the value and is not part of it; its nearest relative has seeds without
     * waits. */
    static const struct wire_line lines[] = {
        {BENCH_USUAL, true}, {BENCH_RELATIVE, false}, {BENCH_MIXED, false}};
    struct wire_sum sum = {0};
    enum bench_end end = BENCH_MEASURED;
    for (size_t i = 0; i < FP_COUNT(lines) && end == BENCH_MEASURED; i++)
        end = measure_beside(bench, figure, &lines[i], &sum);
    if (end != BENCH_MEASURED)
        return end;
    figure->value = sum.harness_ns / sum.bare_ns;
    bench_detail(&figure->total, "statements", sum.statements, 0);
    bench_detail(&figure->total, "us_per_statement_bare",
                 sum.bare_ns / sum.statements / (double)NS_PER_US, 2);
    bench_detail(&figure->total, "us_per_statement_harness",
                 sum.harness_ns / sum.statements / (double)NS_PER_US, 2);
    return BENCH_MEASURED;
}
