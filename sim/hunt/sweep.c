#include "sim/hunt/sweep.h"

#include "sim/hunt/single.h"

bool sweep_count_points(const struct scenario *scenario, const struct pg_server_options *server,
                        int64_t *point_count, struct strbuf *why)
{
    struct single single;
    struct run_result result;
    FP_ASSERT(scenario->sweeps);
    *point_count = 0;
    run_result_init(&result);
    bool good = single_open(&single, server, why);
    if (good) {
        single_run(&single, scenario, 0, NULL, &result);
        good = result.outcome != RUN_INFRASTRUCTURE;
        *point_count = result.counts.visited[scenario->sweep_index];
        if (!good)
            strbuf_puts(why, strbuf_str(&result.sentence));
    }
    single_close(&single);
    run_result_release(&result);
    return good;
}
