/* Two lanes against one. */
#include "sim/hunt/bench_internal.h"
#include "sim/hunt/campaign.h"
#include "sim/hunt/cpu.h"

#define ROUND_COUNT 2
#define SEED_COUNT_MIN 100

enum bench_end bench_campaign(struct bench *bench, struct bench_figure *figure,
                              const struct scenario *scenario, int lane_count, uint64_t seed_count,
                              int64_t time_ns, double *seeds_per_s, double *wall_s)
{
    struct campaign_report report;
    struct campaign_options options = {
        .first_seed = 1,
        .seed_count = seed_count,
        .time_ns = time_ns,
        .lane_count = lane_count,
        .server = bench->options->server,
    };
    campaign_run(&scenario, 1, &options, NULL, NULL, bench->interrupted, &report);
    enum bench_end end = BENCH_MEASURED;
    if (report.interrupted)
        end = BENCH_INTERRUPTED;
    else if (report.lane_failed || report.scenarios[0].outcomes[RUN_INFRASTRUCTURE] > 0)
        end = bench_fail(figure, report.trouble.size > 0 ? strbuf_str(&report.trouble)
                                                         : "a run of the campaign failed");
    *wall_s = (double)report.wall_ns / (double)NS_PER_S;
    *seeds_per_s = (double)report.scenarios[0].seed_count / *wall_s;
    campaign_report_release(&report);
    return end;
}

/* So many seeds that even two lanes are busy for the wanted time. */
static enum bench_end choose_seed_count(struct bench *bench, struct bench_figure *figure,
                                        const struct scenario *scenario, uint64_t *seed_count)
{
    double seeds_per_s = 0, wall_s = 0;
    int64_t wanted_s = bench->options->quick ? 3 : 10;
    enum bench_end end = bench_campaign(bench, figure, scenario, 1, 1000000,
                                        wanted_s * NS_PER_S / 5, &seeds_per_s, &wall_s);
    double count = 2 * seeds_per_s * (double)wanted_s;
    *seed_count = count > SEED_COUNT_MIN ? (uint64_t)count : SEED_COUNT_MIN;
    return end;
}

static enum bench_end measure(struct bench *bench, struct bench_figure *figure,
                              const struct scenario *scenario)
{
    double best[3] = {0}, best_wall_s[3] = {0};
    uint64_t seed_count;
    enum bench_end end = choose_seed_count(bench, figure, scenario, &seed_count);
    for (int round = 0; round < 2 * ROUND_COUNT && end == BENCH_MEASURED; round++) {
        int lane_count = round % 2 + 1;
        double seeds_per_s, wall_s;
        end = bench_campaign(bench, figure, scenario, lane_count, seed_count, 0, &seeds_per_s,
                             &wall_s);
        if (end != BENCH_MEASURED)
            break;
        bench_say(bench, "lane_scaling: %d lane%s: %.1f seeds/s", lane_count,
                  lane_count == 1 ? "" : "s", seeds_per_s);
        if (seeds_per_s <= best[lane_count])
            continue;
        best[lane_count] = seeds_per_s;
        best_wall_s[lane_count] = wall_s;
    }
    if (end != BENCH_MEASURED)
        return end;
    figure->value = best[2] / best[1];
    bench_detail(&figure->total, "seeds", (double)seed_count, 0);
    bench_detail(&figure->total, "seeds_per_s_one", best[1], 1);
    bench_detail(&figure->total, "seeds_per_s_two", best[2], 1);
    bench_detail(&figure->total, "wall_s_one", best_wall_s[1], 1);
    bench_detail(&figure->total, "wall_s_two", best_wall_s[2], 1);
    return BENCH_MEASURED;
}

enum bench_end bench_lane_scaling(struct bench *bench, struct bench_figure *figure)
{
    if (cpu_count() < 2) {
        strbuf_puts(&figure->reason, "this process may use one processor only");
        return BENCH_UNMEASURED;
    }
    struct scenario *scenario = bench_load(bench, figure, BENCH_USUAL);
    if (!scenario)
        return BENCH_FAILED;
    enum bench_end end = measure(bench, figure, scenario);
    scenario_free(scenario);
    return end;
}
