/* The options that say where PostgreSQL runs, the same for every command that starts a lane. */
#ifndef FENCEPOST_PG_OPTIONS_H
#define FENCEPOST_PG_OPTIONS_H

#include "sim/cli/command.h"
#include "sim/cli/gather.h"
#include "sim/pg/server.h"

struct pg_choice {
    const char *where, *image, *bin_dir, *toxiproxy, *pgbouncer;
};

/* For a table of options; `at` is the offset of a struct pg_choice in the command's config. */
#define PG_OPTIONS(at)                                                                             \
    {.name = "pg",                                                                                 \
     .type = OPTION_TEXT,                                                                          \
     .offset = (at) + offsetof(struct pg_choice, where),                                           \
     .value = "WHERE",                                                                             \
     .fallback = "local",                                                                          \
     .about = "where PostgreSQL runs: local, docker, or a connection string"},                     \
        {.name = "pg-image",                                                                       \
         .type = OPTION_TEXT,                                                                      \
         .offset = (at) + offsetof(struct pg_choice, image),                                       \
         .value = "IMAGE",                                                                         \
         .about = "with --pg docker: the image [" PG_IMAGE_DEFAULT "]"},                           \
        {.name = "pg-bin",                                                                         \
         .type = OPTION_TEXT,                                                                      \
         .offset = (at) + offsetof(struct pg_choice, bin_dir),                                     \
         .value = "DIR",                                                                           \
         .about = "the folder of initdb and postgres [found by itself]"},                          \
        {.name = "toxiproxy",                                                                      \
         .type = OPTION_TEXT,                                                                      \
         .offset = (at) + offsetof(struct pg_choice, toxiproxy),                                   \
         .value = "PATH",                                                                          \
         .about = "the program toxiproxy-server, or docker[:IMAGE] [found in PATH]"},              \
    {                                                                                              \
        .name = "pgbouncer", .type = OPTION_TEXT,                                                  \
        .offset = (at) + offsetof(struct pg_choice, pgbouncer), .value = "PATH",                   \
        .about = "the program pgbouncer [found in PATH]"                                           \
    }

/* EXIT_PASS and filled `options`, or EXIT_USAGE with a message. */
int pg_options_take(const struct command *command, const struct pg_choice *choice,
                    struct pg_server_options *options);

/* Scenarios with a fault that is not possible where PostgreSQL runs are left out, which is said on
 * standard error. EXIT_USAGE: none is left. */
int pg_options_fit(const struct command *command, struct pg_server_options *options,
                   struct gathered *gathered);

/* The same for one scenario. EXIT_USAGE: it is not possible there. */
int pg_options_fit_one(const struct command *command, struct pg_server_options *options,
                       const struct scenario *scenario);

#endif
