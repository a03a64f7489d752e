/* Gates inside statements: a named function is shadowed by one that first stops at a lock which the
 * harness holds. The statement has its snapshot by then. */
#include <ctype.h>
#include <string.h>

#include "sim/pg/internal.h"

/* One shadow per signature the server has under that name. */
static const char gate_signatures_sql[] =
    "SELECT format('CREATE FUNCTION fencepost.%I(%s) RETURNS %s LANGUAGE plpgsql VOLATILE AS $gate$"
    "BEGIN PERFORM fencepost.gate(); %s pg_catalog.%I(%s); %s END $gate$', "
    "  proname, pg_get_function_identity_arguments(oid), pg_get_function_result(oid), "
    "  CASE WHEN prorettype = 'void'::regtype THEN 'PERFORM' ELSE 'RETURN' END, proname, "
    "  (SELECT coalesce(string_agg('$' || n, ', ' ORDER BY n), '') "
    "   FROM generate_series(1, pronargs) n), "
    "  CASE WHEN prorettype = 'void'::regtype THEN 'RETURN;' ELSE '' END) "
    "FROM pg_proc WHERE proname = $1 AND pronamespace = 'pg_catalog'::regnamespace "
    "  AND prokind = 'f' AND NOT proretset AND provariadic = 0 ORDER BY oid";

static enum err gate_function(struct pg_lane *lane, const char *function, struct strbuf *why)
{
    const char *params[1] = {function};
    PGresult *shadows = control_query(lane, gate_signatures_sql, params, 1);
    if (!shadows)
        return ERR_INFRASTRUCTURE;
    enum err err = ERR_OK;
    if (PQntuples(shadows) == 0) {
        strbuf_printf(why, "gates: the server has no function %s that could have a gate", function);
        err = ERR_DB_SQL;
    }
    for (int row = 0; err == ERR_OK && row < PQntuples(shadows); row++)
        err = control_run(lane, PQgetvalue(shadows, row, 0));
    PQclear(shadows);
    return err;
}

enum err gate_install(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why)
{
    lane->gated = schema->gate_count > 0;
    for (size_t i = 0; i < schema->gate_count; i++) {
        enum err err = gate_function(lane, schema->gates[i], why);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

enum err gate_close(struct pg_session *session)
{
    if (!session->lane->gated || session->gate_held || session->node != 0)
        return ERR_OK;
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT pg_advisory_lock(%d, %d)", GATE_CLASS, session->pid);
    enum err err = control_run(session->lane, sql);
    session->gate_held = err == ERR_OK;
    return err;
}

/* Letting go grants the waiting session; asking for the lock again in the same query comes back as
 * soon as the session has passed, so that it will stop at its next gate. */
enum err gate_pass(struct pg_session *session)
{
    FP_ASSERT(session->gate_held);
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT pg_advisory_unlock(%d, %d), pg_advisory_lock(%d, %d)",
             GATE_CLASS, session->pid, GATE_CLASS, session->pid);
    return control_run(session->lane, sql);
}
