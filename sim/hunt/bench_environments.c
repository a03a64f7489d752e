/* What each environment costs: the same work in all of them. */
#include "sim/hunt/bench_internal.h"
#include "sim/hunt/cpu.h"

#define OVERRIDE_COUNT_MAX 3
#define LANE_COUNT_MAX 2

/* Where the servers run, and what may be missing there. */
enum place {
    HERE,
    WITH_PROGRAM, /* a program that may not be there */
    IN_DOCKER,    /* an engine that may not be there, or not have the image */
};

/* One line each; the first is what the others are compared with. */
static const struct environment {
    const char *name;
    enum place place;
    const char *overrides[OVERRIDE_COUNT_MAX]; /* as in --set; NULL: none */
} environments[] = {
    {"local", HERE, {"faults=[]"}},
    {"one standby, read by every job",
     HERE,
     {"faults=[]", "topology.postgres={standbys: 1}",
      "variant={weaknesses: [status_read_from_standby]}"}},
    {"one failover a seed",
     HERE,
     {"faults=[{failover: {points: cloud.call, nth: 3}}]",
      "topology.postgres={standbys: 1, replication: synchronous}"}},
    {"one crash of the server a seed",
     HERE,
     {"faults=[{server_crash: {points: cloud.call, nth: 3}}]"}},
    {"one cut a seed",
     HERE,
     {"faults=[{connection_drop: {how: idle, points: cloud.call, nth: 3, via: socket}}]"}},
    {"one cut a seed, all through toxiproxy",
     WITH_PROGRAM,
     {"faults=[{connection_drop: {how: idle, points: cloud.call, nth: 3, via: toxiproxy}}]"}},
    {"behind pgbouncer", WITH_PROGRAM, {"faults=[]", "topology.postgres={pooler: transaction}"}},
    {"in docker", IN_DOCKER, {"faults=[]"}},
    {"in docker, one standby, read by every job",
     IN_DOCKER,
     {"faults=[]", "topology.postgres={standbys: 1}",
      "variant={weaknesses: [status_read_from_standby]}"}},
};

static struct scenario *load(struct bench *bench, struct bench_figure *figure,
                             const struct environment *environment)
{
    size_t count = 0;
    while (count < OVERRIDE_COUNT_MAX && environment->overrides[count])
        count++;
    return bench_load_with(bench, figure, BENCH_MIXED, environment->overrides, count);
}

/* Nothing is fetched for a measurement. */
static bool choose_server(const struct environment *environment, const struct scenario *scenario,
                          struct pg_server_options *server, struct strbuf *why)
{
    if (environment->place != IN_DOCKER)
        return true;
    server->where = "docker";
    server->never_pulls = true;
    return scenario->standby_count == 0 || pg_server_options_box(server, why);
}

static enum bench_end run(struct bench *bench, struct bench_figure *figure,
                          const struct environment *environment, const struct scenario *scenario,
                          struct bench_row *row)
{
    struct bench_options options = *bench->options;
    struct bench there = *bench;
    int lane_count = cpu_count() < LANE_COUNT_MAX ? cpu_count() : LANE_COUNT_MAX;
    uint64_t seed_count = (uint64_t)bench_seed_count(bench, 60, 4);
    double seeds_per_s = 0, wall_s = 0;
    if (environment->place != IN_DOCKER)
        options.server.image = NULL;
    if (!choose_server(environment, scenario, &options.server, &figure->reason))
        return BENCH_FAILED;
    there.options = &options;
    enum bench_end end =
        bench_campaign(&there, figure, scenario, lane_count, seed_count, 0, &seeds_per_s, &wall_s);
    if (end != BENCH_MEASURED)
        return end;
    bench_say(bench, "environments: %s: %.1f seeds/s", environment->name, seeds_per_s);
    bench_detail(row, "seeds", (double)seed_count, 0);
    bench_detail(row, "lanes", lane_count, 0);
    bench_detail(row, "seeds_per_s", seeds_per_s, 2);
    if (figure->row_count == 1)
        figure->value = seeds_per_s;
    return BENCH_MEASURED;
}

/* What is missing for a row stands in the row. */
static enum bench_end measure(struct bench *bench, struct bench_figure *figure,
                              const struct environment *environment)
{
    struct scenario *scenario = load(bench, figure, environment);
    if (!scenario)
        return BENCH_FAILED;
    struct bench_row *row = bench_row(figure, environment->name);
    enum bench_end end = run(bench, figure, environment, scenario, row);
    scenario_free(scenario);
    if (end != BENCH_FAILED || environment->place == HERE)
        return end;
    bench_say(bench, "environments: %s: %s", environment->name, strbuf_str(&figure->reason));
    row->reason = strbuf_detach(&figure->reason);
    return BENCH_MEASURED;
}

enum bench_end bench_environments(struct bench *bench, struct bench_figure *figure)
{
    enum bench_end end = BENCH_MEASURED;
    for (size_t i = 0; i < FP_COUNT(environments) && end == BENCH_MEASURED; i++)
        end = measure(bench, figure, &environments[i]);
    return end;
}
