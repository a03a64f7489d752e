/* A PostgreSQL server for one lane: made, started, stopped, and gone afterwards in every case.
 *
 * There are three kinds. local: a server of our own on this machine. docker: one in a container of
 * our own. A connection string: a server that somebody else runs, on which we have a database of
 * our own and touch nothing else. */
#ifndef FENCEPOST_SERVER_H
#define FENCEPOST_SERVER_H

#include <sys/types.h>

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"

#define PG_IMAGE_DEFAULT "postgres:18"

struct pg_server;

struct pg_server_options {
    const char *where;    /* "local", "docker" or a connection string; NULL: local */
    const char *image;    /* docker: NULL for PG_IMAGE_DEFAULT */
    bool boxed;           /* docker: its files are in a folder of ours, so that it can be copied and
                             have programs beside it; see box.h */
    bool never_pulls;     /* docker: an image that is not there is not fetched */
    const char *bin_dir;  /* NULL: look in PATH and in the usual places */
    const char *work_dir; /* NULL: FENCEPOST_TMPDIR, /dev/shm when it has room, else /tmp */
    int cpu;              /* pin the server to this CPU; -1: do not */
    const volatile bool
        *interrupted;      /* ends a long wait when it becomes true; NULL: nothing does */
    const char *toxiproxy; /* the program, or "docker[:IMAGE]"; NULL: in PATH when one is needed */
    const char *pgbouncer; /* the same, without docker */
};

/* Is `where` understood, and are the other options for that kind? False with `why`, a usage error.
 */
bool pg_server_options_check(const struct pg_server_options *options, struct strbuf *why);
/* "local", "docker" or "dsn". */
const char *pg_server_kind_name(const struct pg_server_options *options);

/* Where the server's programs are. ERR_INFRASTRUCTURE: none found; `why` says where it looked and
 * how to get them. On ERR_OK `dir` is filled. */
enum err pg_find_binaries(const char *wanted_dir, struct strbuf *dir, struct strbuf *why);

/* Once for this process, what all its lanes share: local makes the template data directory (initdb)
 * under a run directory that belongs to this process, docker gets the image, a connection string is
 * tried. Call before lanes are forked. ERR_INFRASTRUCTURE with `why`. Also starts the reaper, a
 * child process that cleans up when this process and every lane forked from it are dead:
 * waitpid(-1) in this process may see it. */
enum err pg_template_make(const struct pg_server_options *options, struct strbuf *why);
/* Removes all that, with every server that still runs. Does nothing when there is none, and in a
 * forked lane. */
void pg_template_remove(void);

/* Start the lane's server, or make its database. ERR_INFRASTRUCTURE with `why`. Caller ends it with
 * pg_server_stop. May be called in a forked lane. What an earlier, dead user of the same lane
 * number left is removed first. A local server, on a Unix socket only, dies with the thread that
 * calls this. */
enum err pg_server_start(const struct pg_server_options *options, int lane,
                         struct pg_server **server, struct strbuf *why);
/* Immediate stop, directory removed, also when backends are stopped. NULL is allowed. */
void pg_server_stop(struct pg_server *server);

/* "host=... dbname=fencepost user=..."; owned by the server. The first is for the actors' sessions,
 * the second for the harness. On a server of our own these are the role fencepost, no superuser,
 * owner of the database, deadlock_timeout 50 ms, and the superuser fencepost_admin. By connection
 * string both are the role it names. */
const char *pg_server_conninfo(const struct pg_server *server);
const char *pg_server_admin_conninfo(const struct pg_server *server);
/* The role and the database of the sessions; quote them in SQL. */
const char *pg_server_role(const struct pg_server *server);
const char *pg_server_database(const struct pg_server *server);
/* The server's own deadlock_timeout where the role may not set another; 0: it may. */
int pg_server_deadlock_timeout_ms(const struct pg_server *server);
const char *pg_server_version(const struct pg_server *server); /* "15.18" */
/* May this process send signals to the backends? */
bool pg_server_can_signal(const struct pg_server *server);
/* The process to signal for a backend that the server calls `backend_pid`. 0: not to be found. */
pid_t pg_server_signal_pid(const struct pg_server *server, int backend_pid);

/* What it runs on, for the report. */
struct pg_environment {
    char kind[16];    /* "local", "docker", "dsn" */
    char version[32]; /* of the server */
    char image[256];  /* docker's; else "" */
    bool parking;     /* waiters are stopped, so the order in which they go on is ours */
    char off[768];    /* what cannot be promised there, in words; "": nothing */
};
void pg_server_describe(const struct pg_server *server, struct pg_environment *environment);

/* What can be done to the container of a server. It is done when the call returns: a pause is over,
 * and a server that was restarted or killed answers again, with all that was committed. */
enum pg_hit { PG_HIT_PAUSE, PG_HIT_RESTART, PG_HIT_KILL };
bool pg_server_options_have_container(const struct pg_server_options *options);
/* Is it a server of our own, which may be killed? And one with its files on this machine, which may
 * be copied, and have programs of ours beside it? */
bool pg_server_options_may_kill(const struct pg_server_options *options);
bool pg_server_options_may_copy(const struct pg_server_options *options);
/* If it is one in a container, let it be such a one from now on. False with `why`: it cannot be.
 * Asks the engine. */
bool pg_server_options_box(struct pg_server_options *options, struct strbuf *why);
/* After PG_HIT_RESTART and PG_HIT_KILL no session is left, and
 * pg_server_conninfo is another. ERR_INFRASTRUCTURE with `why`. */
enum err pg_server_hit(struct pg_server *server, enum pg_hit hit, struct strbuf *why);

/* What a program of ours beside the server must know of it. */
struct pg_beside {
    const char *dir; /* the lane's */
    const char *log_path;
    int cpu;                           /* -1: not pinned */
    int port;                          /* also in the name of the server's socket */
    const char *password;              /* of the role fencepost over TCP; NULL: no TCP */
    const char *toxiproxy, *pgbouncer; /* as the options name them; NULL: found by itself */
};
/* NULL: nothing can stand beside it, its files are not on this machine. Owned by the server. */
const struct pg_beside *pg_server_beside(const struct pg_server *server);
/* From now on also over TCP, on our 127.0.0.1 and for the role fencepost alone. The server is
 * started again for it, so every connection ends, and the port changes in the connection strings
 * too. Who has the control sets the password. Does nothing the second time. Only where
 * pg_server_beside is. ERR_INFRASTRUCTURE with `why`. */
enum err pg_server_listen(struct pg_server *server, struct strbuf *why);
/* A connection string of a local server, or of what stands before it. Caller frees. */
char *pg_make_conninfo(const char *host, int port, const char *user);

/* The last lines of the server's log, for an infrastructure message. */
void pg_server_log_tail(const struct pg_server *server, struct strbuf *out);

/* ---- its death, and copies of it: only of those that we run ourselves, on this machine ---- */

bool pg_server_is_ours(const struct pg_server *server);
/* Immediate stop, as of one that crashes. Its directory stays; no process of it is left. Nothing is
 * done when it does not run. */
void pg_server_kill(struct pg_server *server);
/* Start it in its own directory, which has everything that was committed. Must not run. */
enum err pg_server_start_again(struct pg_server *server, struct strbuf *why);
/* A further server in the directory of this one's lane, with no data yet: `name` is short, unique
 * in the lane. It listens over TCP if this one does, with the same password. Does not run. It goes
 * with pg_server_discard, or with the lane's directory. */
enum err pg_server_make_another(const struct pg_server *home, const char *name,
                                struct pg_server **server, struct strbuf *why);
void pg_server_discard(struct pg_server *server); /* NULL is allowed */
/* Its data becomes those of `from` as they are on the disk now, or of the template (NULL). Must not
 * run; `from` may, when nothing moves in it: it is then as after a crash. */
enum err pg_server_copy(struct pg_server *server, const struct pg_server *from, struct strbuf *why);
/* Each becomes the other. */
void pg_server_swap(struct pg_server *a, struct pg_server *b);
/* Replace a file of the data directory. */
enum err pg_server_write(const struct pg_server *server, const char *name, const char *text,
                         struct strbuf *why);
/* Ask a standby to become a primary. Returns at once. */
enum err pg_server_promote(struct pg_server *server, struct strbuf *why);
const char *pg_server_data_dir(const struct pg_server *server);

/* Find what dead fenceposts left behind (servers, directories; containers, databases where this
 * kind makes them) and remove it. Never touches what belongs to a living one or is not ours.
 * Returns how many were removed. */
int pg_remove_leftovers(const struct pg_server_options *options);

#endif
