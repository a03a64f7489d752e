#include "sim/hunt/single.h"

#include <string.h>

bool single_join(struct single *single, const struct pg_server_options *options, int lane,
                 struct strbuf *why)
{
    memset(single, 0, sizeof *single);
    enum err err = pg_server_start(options, lane, &single->server, why);
    if (err == ERR_OK)
        err = pg_lane_open(single->server, &single->pg, why);
    if (err != ERR_OK) {
        single_close(single);
        return false;
    }
    single->runs = run_lane_new(single->pg);
    return true;
}

bool single_open(struct single *single, const struct pg_server_options *options, struct strbuf *why)
{
    memset(single, 0, sizeof *single);
    pg_remove_leftovers(options);
    if (pg_template_make(options, why) == ERR_OK)
        return single_join(single, options, 0, why);
    single_close(single);
    return false;
}

void single_close(struct single *single)
{
    run_lane_free(single->runs);
    pg_lane_close(single->pg);
    pg_server_stop(single->server);
    pg_template_remove();
    memset(single, 0, sizeof *single);
}

bool single_install(struct single *single, const struct scenario *scenario, struct strbuf *why)
{
    FP_ASSERT(single->runs);
    if (single->installed == scenario)
        return true;
    struct strbuf cause = STRBUF_INIT;
    bool good = run_lane_install(single->runs, scenario, &cause) == ERR_OK;
    if (!good)
        strbuf_printf(why, "%s: the schema does not install: %s", scenario->file,
                      strbuf_str(&cause));
    single->installed = good ? scenario : NULL;
    strbuf_release(&cause);
    return good;
}

void single_run(struct single *single, const struct scenario *scenario, uint64_t seed,
                const struct run_replay *replay, struct run_result *result)
{
    if (single_install(single, scenario, &result->sentence))
        run_one(single->runs, scenario, seed, replay, result);
    else
        result->outcome = RUN_INFRASTRUCTURE;
}
