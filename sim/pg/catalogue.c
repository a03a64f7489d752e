#include "sim/pg/catalogue.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "pg_sql.h"

/* Never wait for ever on somebody else's server. */
#define PATIENCE_SQL "SET statement_timeout = '60s'; SET default_transaction_read_only = on"
#define CONNECT_TIMEOUT_S "10"

bool pg_catalogue_is_dsn(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0 ||
           strchr(text, '=') != NULL;
}

/* The first line of what libpq says. */
static void put_line(struct strbuf *why, const char *message)
{
    strbuf_printf(why, "%.*s", (int)strcspn(message, "\n"), message);
}

bool pg_catalogue_check(const char *dsn, struct strbuf *why)
{
    char *error = NULL;
    PQconninfoOption *parsed = PQconninfoParse(dsn, &error);

    if (parsed == NULL)
        put_line(why, error != NULL ? error : "out of memory");
    PQfreemem(error);
    PQconninfoFree(parsed);
    return parsed != NULL;
}

static PGconn *connect_to(const char *dsn)
{
    static const char *const keys[] = {"connect_timeout", "dbname", "application_name", NULL};
    const char *const values[] = {CONNECT_TIMEOUT_S, dsn, "fencepost lint", NULL};

    return PQconnectdbParams(keys, values, 1);
}

static enum err say(PGconn *conn, struct strbuf *why)
{
    put_line(why, PQerrorMessage(conn));
    return ERR_INFRASTRUCTURE;
}

static PGresult *ask(PGconn *conn, const char *sql)
{
    PGresult *last = NULL;

    if (PQsendQuery(conn, sql) != 1)
        return NULL;
    for (PGresult *result = PQgetResult(conn); result != NULL; result = PQgetResult(conn)) {
        PQclear(last);
        last = result;
    }
    return last;
}

static enum err read_all(PGconn *conn,
                         void (*visit)(void *self, const char *object, const char *sql), void *self,
                         struct strbuf *why)
{
    PGresult *set = ask(conn, PATIENCE_SQL);
    bool is_set = PQresultStatus(set) == PGRES_COMMAND_OK;
    PQclear(set);
    if (!is_set)
        return say(conn, why);
    PGresult *result = ask(conn, pg_catalogue_sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        PQclear(result);
        return say(conn, why);
    }
    for (int row = 0; row < PQntuples(result); row++)
        visit(self, PQgetvalue(result, row, 0), PQgetvalue(result, row, 1));
    PQclear(result);
    return ERR_OK;
}

enum err pg_catalogue_read(const char *dsn,
                           void (*visit)(void *self, const char *object, const char *sql),
                           void *self, struct strbuf *why)
{
    PGconn *conn = connect_to(dsn);
    enum err err =
        PQstatus(conn) == CONNECTION_OK ? read_all(conn, visit, self, why) : say(conn, why);

    PQfinish(conn);
    return err;
}
