/* The one template of this process, as the servers need it. */
#ifndef FENCEPOST_TEMPLATE_H
#define FENCEPOST_TEMPLATE_H

#include "sim/core/base.h"
#include "sim/pg/rundir.h"
#include "sim/pg/spawn.h"

struct pg_template {
    struct rundir rundir;
    struct server_user user;
    bool boxed;    /* the programs are run in containers */
    char *bin_dir; /* NULL: the image's */
    char *data_dir;
    char version[32];
};

/* What makes a server deterministic: lines as in postgresql.conf. */
extern const char template_settings[];
extern const char template_settings_from_18[];

/* pg_template_make and pg_template_remove of the local kind. */
struct pg_server_options;
enum err template_make(const struct pg_server_options *options, struct strbuf *why);
void template_remove(void);

/* Asserts that template_make was called. */
const struct pg_template *pg_template_get(void);

/* How the program of that name is started: its path, or its name in the image. Caller frees. */
char *template_program(const char *name);

/* The last lines of a file, for a message. Adds nothing when there are none. */
void log_tail(const char *path, struct strbuf *out);

#endif
