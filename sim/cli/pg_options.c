#include "sim/cli/pg_options.h"

#include "sim/cli/interrupt.h"

int pg_options_take(const struct command *command, const struct pg_choice *choice,
                    struct pg_server_options *options)
{
    struct strbuf why = STRBUF_INIT;
    int code = EXIT_PASS;
    *options = (struct pg_server_options){.where = choice->where,
                                          .image = choice->image,
                                          .bin_dir = choice->bin_dir,
                                          .cpu = -1,
                                          .interrupted = interrupt_flag()};
    if (!pg_server_options_check(options, &why))
        code = command_usage(command, "%s", strbuf_str(&why));
    strbuf_release(&why);
    return code;
}
