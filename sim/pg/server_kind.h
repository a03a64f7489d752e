/* A kind of server: where it runs, and what can be done with it there. Inside sim/pg only.
 *
 * To add one: server_<name>.c with one `struct pg_server_kind`, and a line in the table of
 * server_kinds.c. */
#ifndef FENCEPOST_SERVER_KIND_H
#define FENCEPOST_SERVER_KIND_H

#include "sim/pg/server.h"

/* What all kinds have. A kind's own struct begins with it. */
struct pg_server {
    const struct pg_server_kind *kind;
    int lane;
    char *role;     /* of the actors' sessions, owner of the schema; as it is, not quoted */
    char *database; /* the same */
    char *conninfo;
    char *admin_conninfo;
    char *version;
    int deadlock_timeout_ms; /* that of the server, which we may not set; 0: we may */
};

struct pg_server_kind {
    const char *name;
    /* The same with its files on this machine; NULL: there is none. */
    const struct pg_server_kind *boxed;
    /* Is `where`, the text of --pg, this kind? The last of the table takes what nobody else does.
     */
    bool (*is_meant)(const char *where);
    /* Is the rest of the options right for it? False with `why`. May be NULL. */
    bool (*check)(const struct pg_server_options *options, struct strbuf *why);
    /* pg_template_make and pg_template_remove: once a process. */
    enum err (*prepare)(const struct pg_server_options *options, struct strbuf *why);
    void (*release)(void);
    enum err (*start)(const struct pg_server_options *options, int lane, struct pg_server **server,
                      struct strbuf *why);
    /* Everything that `start` made, and the struct itself. */
    void (*stop)(struct pg_server *server);
    bool (*can_signal)(const struct pg_server *server);
    /* The process of a backend as this process sees it, from the number the server gives it. 0: not
     * to be found. NULL: the numbers are the same. */
    pid_t (*signal_pid)(const struct pg_server *server, int backend_pid);
    /* pg_server_hit; NULL: it has no container. */
    enum err (*hit)(struct pg_server *server, enum pg_hit hit, struct strbuf *why);
    /* Programs of ours between the sessions and the server. NULL: not there. */
    const struct pg_beside *(*beside)(const struct pg_server *server);
    enum err (*listen)(struct pg_server *server, struct strbuf *why);
    void (*log_tail)(const struct pg_server *server, struct strbuf *out);
    /* Fill in what is not the same for all kinds. May be NULL. */
    void (*describe)(const struct pg_server *server, struct pg_environment *environment);
    int (*remove_leftovers)(const struct pg_server_options *options);
};

extern const struct pg_server_kind pg_server_kind_local;
extern const struct pg_server_kind pg_server_kind_docker;
extern const struct pg_server_kind pg_server_kind_box; /* docker, with its files on this machine */
extern const struct pg_server_kind pg_server_kind_dsn;

/* Frees what `struct pg_server` points to, not the struct. */
void pg_server_release(struct pg_server *server);

/* A value of a connection string: in quotes, with quotes and backslashes escaped. Caller frees. */
char *pg_conninfo_value(const char *text);

/* What the environment could otherwise decide (PGSSLMODE, PGOPTIONS, ...), for a server of our own.
 */
#define PG_CONNINFO_FIXED                                                                          \
    "client_encoding=UTF8 sslmode=disable gssencmode=disable channel_binding=disable "             \
    "target_session_attrs=any options=''"

#endif
