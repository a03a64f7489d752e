/* What each environment costs: the same work in all of them. */
#include "sim/hunt/bench_internal.h"
#include "sim/hunt/cpu.h"

#define OVERRIDE_COUNT_MAX 3
#define LANE_COUNT_MAX 2

/* One line each; the first is what the others are compared with. A foreign one needs a program that
 * may not be there, and has no row then. */
static const struct environment {
    const char *name;
    bool foreign;
    const char *overrides[OVERRIDE_COUNT_MAX]; /* as in --set; NULL: none */
} environments[] = {
    {"local", false, {"faults=[]"}},
    {"one standby, read by every job",
     false,
     {"faults=[]", "topology.postgres={standbys: 1}",
      "variant={weaknesses: [status_read_from_standby]}"}},
    {"one failover a seed",
     false,
     {"faults=[{failover: {points: cloud.call, nth: 3}}]",
      "topology.postgres={standbys: 1, replication: synchronous}"}},
    {"one crash of the server a seed",
     false,
     {"faults=[{server_crash: {points: cloud.call, nth: 3}}]"}},
    {"one cut a seed",
     false,
     {"faults=[{connection_drop: {how: idle, points: cloud.call, nth: 3, via: socket}}]"}},
    {"one cut a seed, all through toxiproxy",
     true,
     {"faults=[{connection_drop: {how: idle, points: cloud.call, nth: 3, via: toxiproxy}}]"}},
    {"behind pgbouncer", true, {"faults=[]", "topology.postgres={pooler: transaction}"}},
};

static struct scenario *load(struct bench *bench, struct bench_figure *figure,
                             const struct environment *environment)
{
    size_t count = 0;
    while (count < OVERRIDE_COUNT_MAX && environment->overrides[count])
        count++;
    return bench_load_with(bench, figure, BENCH_MIXED, environment->overrides, count);
}

static enum bench_end measure(struct bench *bench, struct bench_figure *figure,
                              const struct environment *environment)
{
    struct scenario *scenario = load(bench, figure, environment);
    if (!scenario)
        return BENCH_FAILED;
    int lane_count = cpu_count() < LANE_COUNT_MAX ? cpu_count() : LANE_COUNT_MAX;
    uint64_t seed_count = (uint64_t)bench_seed_count(bench, 60, 4);
    double seeds_per_s = 0, wall_s = 0;
    enum bench_end end =
        bench_campaign(bench, figure, scenario, lane_count, seed_count, 0, &seeds_per_s, &wall_s);
    scenario_free(scenario);
    if (end != BENCH_MEASURED)
        return end;
    bench_say(bench, "environments: %s: %.1f seeds/s", environment->name, seeds_per_s);
    struct bench_row *row = bench_row(figure, environment->name);
    bench_detail(row, "seeds", (double)seed_count, 0);
    bench_detail(row, "lanes", lane_count, 0);
    bench_detail(row, "seeds_per_s", seeds_per_s, 2);
    if (figure->row_count == 1)
        figure->value = seeds_per_s;
    return BENCH_MEASURED;
}

enum bench_end bench_environments(struct bench *bench, struct bench_figure *figure)
{
    enum bench_end end = BENCH_MEASURED;
    for (size_t i = 0; i < FP_COUNT(environments) && end == BENCH_MEASURED; i++) {
        end = measure(bench, figure, &environments[i]);
        if (end != BENCH_FAILED || !environments[i].foreign)
            continue;
        bench_say(bench, "environments: no row for %s: %s", environments[i].name,
                  strbuf_str(&figure->reason));
        strbuf_clear(&figure->reason);
        end = BENCH_MEASURED;
    }
    return end;
}
