/* The table of the kinds, and the calls that go to one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/docker_session.h"
#include "sim/pg/server_kind.h"
#include "sim/pg/toxiproxy.h"

static const struct pg_server_kind *const kinds[] = {
    &pg_server_kind_local,
    &pg_server_kind_docker,
    &pg_server_kind_dsn,
};

/* The kind that this process, or the one it was forked from, has prepared. */
static const struct pg_server_kind *prepared;
static pid_t prepared_by;

static const struct pg_server_kind *kind_of(const struct pg_server_options *options)
{
    const char *where = options->where != NULL ? options->where : pg_server_kind_local.name;
    size_t last = FP_COUNT(kinds) - 1;

    for (size_t i = 0; i < last; i++)
        if (kinds[i]->is_meant(where))
            return options->boxed && kinds[i]->boxed != NULL ? kinds[i]->boxed : kinds[i];
    return kinds[last];
}

bool pg_server_options_check(const struct pg_server_options *options, struct strbuf *why)
{
    const struct pg_server_kind *kind = kind_of(options);

    if (options->bin_dir != NULL && kind != &pg_server_kind_local) {
        strbuf_puts(why, "--pg-bin names the programs of --pg local");
        return false;
    }
    if (options->image != NULL && kind->hit == NULL) {
        strbuf_puts(why, "--pg-image needs --pg docker");
        return false;
    }
    return kind->check == NULL || kind->check(options, why);
}

const char *pg_server_kind_name(const struct pg_server_options *options)
{
    return kind_of(options)->name;
}

enum err pg_template_make(const struct pg_server_options *options, struct strbuf *why)
{
    FP_ASSERT(prepared == NULL);
    const struct pg_server_kind *kind = kind_of(options);
    enum err err = toxiproxy_prepare(options, why);
    if (err != ERR_OK)
        return err;
    err = kind->prepare(options, why);
    if (err != ERR_OK) {
        toxiproxy_release();
        return err;
    }
    prepared = kind;
    prepared_by = getpid();
    return ERR_OK;
}

void pg_template_remove(void)
{
    if (prepared == NULL || prepared_by != getpid())
        return;
    prepared->release();
    toxiproxy_release();
    prepared = NULL;
}

enum err pg_server_start(const struct pg_server_options *options, int lane,
                         struct pg_server **server, struct strbuf *why)
{
    FP_ASSERT(prepared == kind_of(options));
    return prepared->start(options, lane, server, why);
}

void pg_server_stop(struct pg_server *server)
{
    if (server != NULL)
        server->kind->stop(server);
}

void pg_server_release(struct pg_server *server)
{
    free(server->role);
    free(server->database);
    free(server->conninfo);
    free(server->admin_conninfo);
    free(server->version);
}

const char *pg_server_conninfo(const struct pg_server *server)
{
    FP_ASSERT(server->conninfo != NULL);
    return server->conninfo;
}

const char *pg_server_admin_conninfo(const struct pg_server *server)
{
    FP_ASSERT(server->admin_conninfo != NULL);
    return server->admin_conninfo;
}

const char *pg_server_role(const struct pg_server *server)
{
    return server->role;
}

const char *pg_server_database(const struct pg_server *server)
{
    return server->database;
}

int pg_server_deadlock_timeout_ms(const struct pg_server *server)
{
    return server->deadlock_timeout_ms;
}

const char *pg_server_version(const struct pg_server *server)
{
    return server->version;
}

bool pg_server_can_signal(const struct pg_server *server)
{
    return server->kind->can_signal(server);
}

pid_t pg_server_signal_pid(const struct pg_server *server, int backend_pid)
{
    if (server->kind->signal_pid == NULL)
        return backend_pid;
    return server->kind->signal_pid(server, backend_pid);
}

bool pg_server_options_have_container(const struct pg_server_options *options)
{
    return kind_of(options)->hit != NULL;
}

bool pg_server_options_may_copy(const struct pg_server_options *options)
{
    return kind_of(options)->beside != NULL;
}

bool pg_server_options_box(struct pg_server_options *options, struct strbuf *why)
{
    if (pg_server_options_may_copy(options))
        return true;
    if (kind_of(options)->boxed == NULL) {
        strbuf_puts(why, "the server's files are not ours");
        return false;
    }
    options->boxed = docker_shares_files(why);
    return options->boxed;
}

bool pg_server_options_may_kill(const struct pg_server_options *options)
{
    return pg_server_options_may_copy(options) || pg_server_options_have_container(options);
}

enum err pg_server_hit(struct pg_server *server, enum pg_hit hit, struct strbuf *why)
{
    if (server->kind->hit != NULL)
        return server->kind->hit(server, hit, why);
    strbuf_puts(why, "the server is in no container, which needs --pg docker");
    return ERR_INFRASTRUCTURE;
}

void pg_server_log_tail(const struct pg_server *server, struct strbuf *out)
{
    if (server->kind->log_tail != NULL)
        server->kind->log_tail(server, out);
}

void pg_server_describe(const struct pg_server *server, struct pg_environment *environment)
{
    memset(environment, 0, sizeof *environment);
    snprintf(environment->kind, sizeof environment->kind, "%s", server->kind->name);
    snprintf(environment->version, sizeof environment->version, "%s", server->version);
    environment->parking = pg_server_can_signal(server);
    if (server->kind->describe != NULL)
        server->kind->describe(server, environment);
}

int pg_remove_leftovers(const struct pg_server_options *options)
{
    const struct pg_server_kind *kind = kind_of(options);
    int count = pg_server_kind_local.remove_leftovers(options);

    if (kind != &pg_server_kind_local)
        count += kind->remove_leftovers(options);
    if (toxiproxy_is_container(options))
        count += docker_remove_dead();
    return count;
}

char *pg_conninfo_value(const char *text)
{
    struct strbuf value = STRBUF_INIT;

    strbuf_putc(&value, '\'');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'' || *c == '\\')
            strbuf_putc(&value, '\\');
        strbuf_putc(&value, *c);
    }
    strbuf_putc(&value, '\'');
    return strbuf_detach(&value);
}

const struct pg_beside *pg_server_beside(const struct pg_server *server)
{
    return server->kind->beside ? server->kind->beside(server) : NULL;
}

enum err pg_server_listen(struct pg_server *server, struct strbuf *why)
{
    FP_ASSERT(server->kind->listen);
    return server->kind->listen(server, why);
}
