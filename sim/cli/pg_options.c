#include "sim/cli/pg_options.h"

#include <stdio.h>

#include "faults/fault.h"
#include "sim/cli/interrupt.h"

int pg_options_take(const struct command *command, const struct pg_choice *choice,
                    struct pg_server_options *options)
{
    struct strbuf why = STRBUF_INIT;
    int code = EXIT_PASS;
    *options = (struct pg_server_options){.where = choice->where,
                                          .image = choice->image,
                                          .bin_dir = choice->bin_dir,
                                          .toxiproxy = choice->toxiproxy,
                                          .pgbouncer = choice->pgbouncer,
                                          .cpu = -1,
                                          .interrupted = interrupt_flag()};
    if (!pg_server_options_check(options, &why))
        code = command_usage(command, "%s", strbuf_str(&why));
    strbuf_release(&why);
    return code;
}

/* What of it needs the server's files, or a program of ours beside it; NULL: nothing. */
static const char *find_neighbour(const struct scenario *scenario)
{
    if (scenario->standby_count > 0)
        return "standbys";
    if (scenario->pool_size > 0)
        return "a pooler";
    return scenario_uses_toxiproxy(scenario) ? "toxiproxy" : NULL;
}

/* What the scenario has that is not possible there; false: nothing. A server in a container gets
 * its files out here when a scenario needs that. */
static bool find_misfit(struct pg_server_options *options, const struct scenario *scenario,
                        struct strbuf *why)
{
    struct strbuf reason = STRBUF_INIT;
    const char *neighbour = find_neighbour(scenario);
    strbuf_clear(why);
    if (neighbour && !pg_server_options_box(options, &reason))
        strbuf_printf(why, "%s: %s cannot be had with this --pg: %s", scenario->file, neighbour,
                      strbuf_str(&reason));
    strbuf_release(&reason);
    for (size_t i = 0; why->size == 0 && i < scenario->fault_count; i++) {
        const struct fault_kind *kind = scenario->faults[i].kind;
        if (kind->needs_container && !pg_server_options_have_container(options))
            strbuf_printf(why, "%s: the fault %s needs --pg docker", scenario->file, kind->name);
        else if (kind->kills_server && !pg_server_options_may_kill(options))
            strbuf_printf(why, "%s: the fault %s needs --pg local or --pg docker", scenario->file,
                          kind->name);
    }
    return why->size > 0;
}

int pg_options_fit_one(const struct command *command, struct pg_server_options *options,
                       const struct scenario *scenario)
{
    struct strbuf why = STRBUF_INIT;
    int code = EXIT_PASS;
    if (find_misfit(options, scenario, &why))
        code = command_usage(command, "%s", strbuf_str(&why));
    strbuf_release(&why);
    return code;
}

int pg_options_fit(const struct command *command, struct pg_server_options *options,
                   struct gathered *gathered)
{
    struct strbuf why = STRBUF_INIT;
    size_t left_out_count = 0;
    for (size_t i = 0; i < gathered->count;) {
        if (!find_misfit(options, gathered->scenarios[i], &why)) {
            i++;
            continue;
        }
        if (gathered->count > 1)
            fprintf(stderr, "note: left out %s\n", strbuf_str(&why));
        gather_remove(gathered, i);
        left_out_count++;
    }
    int code = EXIT_PASS;
    if (left_out_count > 0 && gathered->count == 0)
        code = command_usage(command, "%s", strbuf_str(&why));
    strbuf_release(&why);
    return code;
}
