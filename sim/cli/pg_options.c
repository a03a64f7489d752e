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

/* What the scenario has that is not possible there; false: nothing. */
static bool find_misfit(const struct pg_server_options *options, const struct scenario *scenario,
                        struct strbuf *why)
{
    strbuf_clear(why);
    if (scenario->standby_count > 0 && !pg_server_options_may_copy(options))
        strbuf_printf(why, "%s: standbys need --pg local", scenario->file);
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

int pg_options_fit(const struct command *command, const struct pg_server_options *options,
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
