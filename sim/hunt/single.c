#include "sim/hunt/single.h"

#include <string.h>

bool single_open(struct single *single, const struct pg_server_options *options, struct strbuf *why)
{
    memset(single, 0, sizeof *single);
    pg_remove_leftovers(options);
    enum err err = pg_template_make(options, why);
    if (err == ERR_OK)
        err = pg_server_start(options, 0, &single->server, why);
    if (err == ERR_OK)
        err = pg_lane_open(single->server, &single->pg, why);
    if (err != ERR_OK) {
        single_close(single);
        return false;
    }
    single->runs = run_lane_new(single->pg);
    return true;
}

void single_close(struct single *single)
{
    run_lane_free(single->runs);
    pg_lane_close(single->pg);
    pg_server_stop(single->server);
    pg_template_remove();
    memset(single, 0, sizeof *single);
}

void single_run(struct single *single, const struct scenario *scenario, uint64_t seed,
                const struct run_replay *replay, struct run_result *result)
{
    FP_ASSERT(single->runs);
    if (single->installed != scenario) {
        struct strbuf why = STRBUF_INIT;
        single->installed = NULL;
        if (run_lane_install(single->runs, scenario, &why) == ERR_OK)
            single->installed = scenario;
        else
            strbuf_printf(&result->sentence, "%s: the schema does not install: %s", scenario->file,
                          strbuf_str(&why));
        strbuf_release(&why);
    }
    if (!single->installed) {
        result->outcome = RUN_INFRASTRUCTURE;
        return;
    }
    run_one(single->runs, scenario, seed, replay, result);
}
