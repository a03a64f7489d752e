#include "sim/pg/pooler.h"

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/core/realtime.h"
#include "sim/pg/helper.h"
#include "sim/pg/spawn.h"
#include "sim/pg/template.h"

#define PORT 6432
#define START_TIMEOUT_MS 30000
#define START_PAUSE_MS 5
#define CALL_TIMEOUT_NS (10 * NS_PER_S)
#define CONNECT_TIMEOUT " connect_timeout=10"

/* Nothing may depend on real time: no connection is closed for its age or for being idle, nobody is
 * sent away for waiting, and none is opened before it is needed. */
static const char settings[] = "listen_addr =\n"
                               "unix_socket_mode = 0700\n"
                               "auth_type = trust\n"
                               "admin_users = fencepost_admin\n"
                               "pool_mode = transaction\n"
                               "max_client_conn = 200\n"
                               "min_pool_size = 0\n"
                               "reserve_pool_size = 0\n"
                               "server_round_robin = 0\n"
                               "server_check_delay = 1000000000\n"
                               "server_lifetime = 1000000000\n"
                               "server_idle_timeout = 0\n"
                               "server_login_retry = 1\n"
                               "query_wait_timeout = 0\n"
                               "client_idle_timeout = 0\n"
                               "idle_transaction_timeout = 0\n"
                               "log_connections = 0\n"
                               "log_disconnections = 0\n"
                               "log_stats = 0\n";

struct pooler {
    struct helper helper;
    PGconn *admin;
    char *dir;
    int size;
};

/* ---- its console ---- */

static char *admin_conninfo(const struct pooler *pooler)
{
    char *base = pg_make_conninfo(pooler->dir, PORT, "fencepost_admin");
    char *conninfo = fp_format("%s dbname=pgbouncer" CONNECT_TIMEOUT, base);
    free(base);
    return conninfo;
}

static PGconn *connect_admin(const struct pooler *pooler)
{
    char *conninfo = admin_conninfo(pooler);
    PGconn *admin = PQconnectdb(conninfo);
    free(conninfo);
    if (PQstatus(admin) == CONNECTION_OK)
        return admin;
    PQfinish(admin);
    return NULL;
}

static bool await_admin(PGconn *admin, int64_t deadline_ns)
{
    while (PQisBusy(admin)) {
        struct pollfd socket = {.fd = PQsocket(admin), .events = POLLIN};
        poll(&socket, 1, 100);
        if (!PQconsumeInput(admin) || realtime_ns() > deadline_ns)
            return false;
    }
    return true;
}

static enum err admin_run(struct pooler *pooler, const char *command, struct strbuf *why)
{
    int64_t deadline_ns = realtime_ns() + CALL_TIMEOUT_NS;
    bool good = PQsendQuery(pooler->admin, command) == 1;
    while (good) {
        good = await_admin(pooler->admin, deadline_ns);
        PGresult *result = good ? PQgetResult(pooler->admin) : NULL;
        if (!result)
            break;
        good = PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
    }
    if (good)
        return ERR_OK;
    strbuf_printf(why, "pgbouncer does not do %s: %s", command, PQerrorMessage(pooler->admin));
    return ERR_INFRASTRUCTURE;
}

enum err pooler_empty(struct pooler *pooler, struct strbuf *why)
{
    enum err err = admin_run(pooler, "PAUSE fencepost", why);
    return err == ERR_OK ? admin_run(pooler, "RESUME fencepost", why) : err;
}

bool pooler_lives(struct pooler *pooler)
{
    return helper_lives(&pooler->helper);
}

bool pooler_is_well(struct pooler *pooler)
{
    if (!pooler_lives(pooler))
        return false;
    PGconn *admin = connect_admin(pooler);
    bool well = admin != NULL;
    PQfinish(admin);
    return well && pooler_lives(pooler);
}

/* ---- beginning and end ---- */

static bool write_file(const char *path, const char *text)
{
    const struct server_user *user = &pg_template_get()->user;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    size_t size = strlen(text);
    bool written = write(fd, text, size) == (ssize_t)size;
    if (written && user->is_other)
        written = fchown(fd, user->uid, user->gid) == 0;
    return close(fd) == 0 && written;
}

/* In a connection string of pgbouncer's a quote is doubled. */
static void put_quoted(struct strbuf *out, const char *text)
{
    strbuf_putc(out, '\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            strbuf_putc(out, '\'');
        strbuf_putc(out, *c);
    }
    strbuf_putc(out, '\'');
}

static bool write_config(const struct pooler *pooler, const struct pg_beside *server,
                         const char *config, const char *users)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_puts(&text, "[databases]\nfencepost = host=");
    put_quoted(&text, pooler->dir);
    strbuf_printf(&text, " port=%d dbname=fencepost\n[pgbouncer]\n", server->port);
    strbuf_printf(&text, "listen_port = %d\nunix_socket_dir = %s\nauth_file = %s\n", PORT,
                  pooler->dir, users);
    strbuf_printf(&text, "default_pool_size = %d\n%s", pooler->size, settings);
    bool written = write_file(config, strbuf_str(&text)) &&
                   write_file(users, "\"fencepost\" \"\"\n\"fencepost_admin\" \"\"\n");
    strbuf_release(&text);
    return written;
}

static enum err wait_until_up(struct pooler *pooler, struct strbuf *why)
{
    for (int waited_ms = 0; waited_ms < START_TIMEOUT_MS; waited_ms += START_PAUSE_MS) {
        pooler->admin = connect_admin(pooler);
        if (pooler->admin)
            return ERR_OK;
        if (!pooler_lives(pooler)) {
            strbuf_puts(why, "pgbouncer ended while it started");
            return ERR_INFRASTRUCTURE;
        }
        spawn_pause_ms(START_PAUSE_MS);
    }
    strbuf_puts(why, "pgbouncer does not answer");
    return ERR_INFRASTRUCTURE;
}

static enum err start_process(struct pooler *pooler, const struct pg_beside *server,
                              const char *program, struct strbuf *why)
{
    char *config = fp_format("%s/pgbouncer.ini", pooler->dir);
    char *users = fp_format("%s/pgbouncer.users", pooler->dir);
    const char *const arguments[] = {"-q", config, NULL};
    enum err err = ERR_INFRASTRUCTURE;
    if (!write_config(pooler, server, config, users))
        strbuf_printf(why, "cannot write %s: %s", config, strerror(errno));
    else
        err = helper_start(&pooler->helper, server, "pgbouncer", program, arguments, why);
    free(config);
    free(users);
    return err == ERR_OK ? wait_until_up(pooler, why) : err;
}

enum err pooler_start(const struct pg_beside *server, int pool_size, struct pooler **out,
                      struct strbuf *why)
{
    static const char *const names[] = {"pgbouncer", NULL};
    const char *wanted = server->pgbouncer;
    char *program = helper_find(wanted, names);
    if (!program) {
        if (wanted)
            strbuf_printf(why, "%s is not a program that can be run", wanted);
        else
            strbuf_puts(why, "no pgbouncer found in PATH or /usr/sbin: install it (apt-get install "
                             "pgbouncer), or name it with --pgbouncer");
        return ERR_INFRASTRUCTURE;
    }
    struct pooler *pooler = fp_alloc(sizeof *pooler);
    pooler->dir = fp_strdup(server->dir);
    pooler->size = pool_size;
    enum err err = start_process(pooler, server, program, why);
    free(program);
    if (err != ERR_OK) {
        pooler_stop(pooler);
        return err;
    }
    *out = pooler;
    return ERR_OK;
}

void pooler_stop(struct pooler *pooler)
{
    if (!pooler)
        return;
    PQfinish(pooler->admin);
    helper_stop(&pooler->helper);
    free(pooler->dir);
    free(pooler);
}

char *pooler_conninfo(const struct pooler *pooler, int slot)
{
    char *base = pg_make_conninfo(pooler->dir, PORT, "fencepost");
    char *conninfo = fp_format("%s application_name=s%d" CONNECT_TIMEOUT, base, slot);
    free(base);
    return conninfo;
}

int pooler_size(const struct pooler *pooler)
{
    return pooler->size;
}

int pooler_pid(const struct pooler *pooler)
{
    return (int)pooler->helper.pid;
}
