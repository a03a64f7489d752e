/* A server of our own on this machine, for the files that make, end and copy one. */
#ifndef FENCEPOST_SERVER_LOCAL_H
#define FENCEPOST_SERVER_LOCAL_H

#include <sys/types.h>

#include "sim/pg/box.h"
#include "sim/pg/server_kind.h"

/* A process that was sent SIGKILL is gone by then. */
#define COLLECT_TIMEOUT_MS 5000

struct local_server {
    struct pg_server base;
    pid_t pid; /* the postmaster's, as this process sees it; 0: it does not run */
    char *box; /* the container that it runs in; NULL: on this machine */
    int cpu;   /* -1: not pinned */
    char *dir;
    char *data_dir;
    char *log_path;
    char *cluster_name; /* with the colon that ends it in a process title */
    char *password;     /* of the role fencepost over TCP; NULL: no TCP */
    char *toxiproxy, *pgbouncer;
    struct pg_beside beside;
};

/* Without directory and name yet. */
struct local_server *local_new(int lane, int cpu);
/* Frees the struct and what it points to. */
void local_free(struct local_server *server);
/* From its next start on it listens over TCP, on a port of its own, to whoever has the password,
 * which is copied; with NULL it does not. */
void local_set_password(struct local_server *server, const char *password);
/* The name becomes the server's. */
void local_set_name(struct local_server *server, char *cluster_name);
/* Its socket, log and data are there; `dir` becomes the server's. */
void local_set_dir(struct local_server *server, char *dir);
/* Make its data directory, which must not be there, a copy of this one. */
enum err local_copy(struct local_server *server, const char *from, struct strbuf *why);
/* Start it and wait until it answers. */
enum err local_run(struct local_server *server, struct strbuf *why);
/* It was started, by whomever: wait until it answers. */
enum err local_wait(struct local_server *server, struct strbuf *why);
/* What says that a server runs, or ran, in its data directory goes. */
void local_forget_postmaster(const struct local_server *server);
/* What the container's server needs to be started again. */
struct box local_box(const struct local_server *server);

/* The functions of the kind, for one that is started in another way. */
enum err local_start(const struct pg_server_options *options, int lane, struct pg_server **server,
                     struct strbuf *why);
void local_stop(struct pg_server *base);
bool local_can_signal(const struct pg_server *base);
const struct pg_beside *local_beside(const struct pg_server *base);
enum err local_listen(struct pg_server *base, struct strbuf *why);
void local_log_tail(const struct pg_server *base, struct strbuf *out);

#endif
