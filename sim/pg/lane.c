#include "sim/pg/lane.h"

#include <stdlib.h>
#include <string.h>

#include "pg_sql.h"
#include "sim/pg/internal.h"
#include "sim/pg/route.h"

/* Emptying tables leaves dead rows in the catalog; with autovacuum off somebody has to sweep. */
#define SLATES_PER_SWEEP 256

#define DEADLOCK_TIMEOUT_MS_DEFAULT 50

/* For every session of the actors from its beginning; it lasts as long as the database. */
static enum err set_for_sessions(struct pg_lane *lane, const char *setting)
{
    struct strbuf sql = STRBUF_INIT;
    strbuf_printf(&sql, "ALTER ROLE %s IN DATABASE %s SET %s", lane->role, lane->database, setting);
    enum err err = control_run(lane, sql.text);
    strbuf_release(&sql);
    return err;
}

static char *quoted(struct pg_lane *lane, const char *name)
{
    char *escaped = PQescapeIdentifier(lane->control, name, strlen(name));
    FP_ASSERT(escaped);
    char *copy = fp_strdup(escaped);
    PQfreemem(escaped);
    return copy;
}

enum err lane_configure(struct pg_lane *lane)
{
    enum err err = set_for_sessions(lane, "search_path = public, fencepost, pg_catalog");
    if (err != ERR_OK)
        return err;
    return pg_lane_set_deadlock_timeout(lane, DEADLOCK_TIMEOUT_MS_DEFAULT);
}

enum err pg_lane_open(struct pg_server *server, struct pg_lane **out, struct strbuf *why)
{
    struct pg_lane *lane = fp_alloc(sizeof *lane);
    lane->server = server;
    lane->nodes[0].server = server;
    lane->parking = pg_server_can_signal(server);
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        lane->sessions[i].lane = lane;
        lane->sessions[i].slot = i;
        lane->sessions[i].state = SESSION_GONE;
    }
    enum err err = control_open(lane);
    if (err == ERR_OK) {
        lane->role = quoted(lane, pg_server_role(server));
        lane->database = quoted(lane, pg_server_database(server));
        err = lane_configure(lane);
    }
    if (err != ERR_OK) {
        strbuf_puts(why, pg_lane_trouble(lane));
        pg_lane_close(lane);
        lane = NULL;
    }
    *out = lane;
    return err;
}

static void lane_disconnect(struct pg_lane *lane)
{
    pool_drain(lane);
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        if (lane->sessions[i].state == SESSION_FREE)
            pool_discard(&lane->sessions[i]);
}

void pg_lane_close(struct pg_lane *lane)
{
    if (!lane)
        return;
    if (lane->control && PQstatus(lane->control) == CONNECTION_OK)
        lane_disconnect(lane);
    standbys_release(lane);
    for (int i = 0; i < SESSION_COUNT_MAX; i++) {
        if (lane->sessions[i].conn)
            PQfinish(lane->sessions[i].conn);
        free(lane->sessions[i].cells);
    }
    route_close(lane);
    control_close(lane);
    strbuf_release(&lane->wipe_sql);
    strbuf_release(&lane->trouble);
    free(lane->role);
    free(lane->database);
    free(lane);
}

enum err pg_lane_set_deadlock_timeout(struct pg_lane *lane, int timeout_ms)
{
    char setting[64];
    lane->deadlock_timeout_ms = pg_server_deadlock_timeout_ms(lane->server);
    if (lane->deadlock_timeout_ms > 0)
        return ERR_OK;
    snprintf(setting, sizeof setting, "deadlock_timeout = %d", timeout_ms);
    lane_disconnect(lane);
    lane->deadlock_timeout_ms = timeout_ms;
    return set_for_sessions(lane, setting);
}

void pg_lane_set_parking(struct pg_lane *lane, bool parking)
{
    FP_ASSERT(lane->blocked_count == 0);
    lane->parking = parking && pg_server_can_signal(lane->server);
}

bool pg_lane_spoilt(const struct pg_lane *lane)
{
    return lane->spoilt;
}

const struct pg_lane_counts *pg_lane_counts(const struct pg_lane *lane)
{
    return &lane->counts;
}

const char *pg_lane_server_version(const struct pg_lane *lane)
{
    return pg_server_version(lane->server);
}

/* ---- installing ---- */

static enum err run_as_owner(struct pg_lane *lane, const char *sql, struct strbuf *why)
{
    struct strbuf script = STRBUF_INIT;
    strbuf_printf(&script,
                  "SET ROLE %s;\nSET search_path = public, fencepost, pg_catalog;\n"
                  "SET fencepost.clock = '2026-01-01 00:00:00+00';\n",
                  lane->role);
    strbuf_puts(&script, sql);
    strbuf_puts(&script, ";\nRESET ROLE;\nRESET search_path;\n");
    enum err err = control_run(lane, script.text);
    strbuf_release(&script);
    if (err == ERR_OK)
        return ERR_OK;
    strbuf_puts(why, pg_lane_trouble(lane));
    control_run(lane, "RESET ROLE; RESET search_path");
    return ERR_DB_SQL;
}

/* What a clean slate does, from what the schema has. */
static enum err build_wipe(struct pg_lane *lane)
{
    strbuf_clear(&lane->wipe_sql);
    PGresult *result = control_query(
        lane,
        "SELECT 'TRUNCATE ' || string_agg(oid::regclass::text, ', ' ORDER BY oid) || ';' "
        "FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') "
        "HAVING count(*) > 0 UNION ALL "
        "SELECT format('SELECT setval(%L::regclass, %s, false);', seqrelid::regclass, seqstart) "
        "FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid "
        "WHERE relnamespace = 'public'::regnamespace",
        NULL, 0);
    if (!result)
        return ERR_INFRASTRUCTURE;
    for (int row = 0; row < PQntuples(result); row++)
        strbuf_puts(&lane->wipe_sql, PQgetvalue(result, row, 0));
    PQclear(result);
    return ERR_OK;
}

/* A view is part of the statement that names it. Does one of them do more than read tables? */
static bool has_busy_view(const char *sql)
{
    for (const char *view = strcasestr(sql, "VIEW"); view; view = strcasestr(view + 1, "VIEW")) {
        size_t size = strcspn(view, ";");
        char *text = fp_format("SELECT %.*s", (int)size, view);
        bool busy = sql_names_clock(text) || sql_leaves(text) != LEAVES_NOTHING ||
                    strcasestr(text, "nextval");
        free(text);
        if (busy)
            return true;
    }
    return false;
}

/* What a part of the schema means for the statements. What runs behind a statement's back may do
 * anything. */
static void note_schema(struct pg_lane *lane, const char *sql)
{
    static const char *const code[] = {"FUNCTION", "PROCEDURE", "RULE",
                                       "TRIGGER",  "POLICY",    "SET DEFAULT"};
    for (size_t i = 0; i < FP_COUNT(code); i++)
        lane->has_functions |= strcasestr(sql, code[i]) != NULL;
    lane->has_functions |= has_busy_view(sql);
    lane->has_clock_defaults |= strcasestr(sql, "DEFAULT") && sql_names_clock(sql);
}

static enum err empty_database(struct pg_lane *lane)
{
    struct strbuf sql = STRBUF_INIT;
    strbuf_printf(&sql,
                  "DROP SCHEMA IF EXISTS fencepost CASCADE;"
                  "DROP SCHEMA IF EXISTS public CASCADE;"
                  "CREATE SCHEMA public AUTHORIZATION %s;"
                  "SELECT pg_advisory_unlock_all();",
                  lane->role);
    enum err err = control_run(lane, sql.text);
    strbuf_release(&sql);
    return err;
}

enum err pg_lane_install(struct pg_lane *lane, const struct pg_schema *schema, struct strbuf *why)
{
    lane_disconnect(lane);
    enum err prepared = standbys_prepare(lane, schema, why);
    if (prepared != ERR_OK)
        return prepared;
    lane->statement_count = 0;
    if (route_install(lane, schema, why) != ERR_OK)
        return ERR_INFRASTRUCTURE;
    lane->has_functions = lane->has_clock_defaults = false;
    lane->watched = schema->watched;
    lane->watched_count = schema->watched_count;
    note_schema(lane, schema->schema_sql);
    for (size_t i = 0; i < schema->patch_count; i++)
        note_schema(lane, schema->patches[i]);
    enum err err = empty_database(lane);
    if (err == ERR_OK)
        err = control_run(lane, pg_shadow_sql);
    if (err != ERR_OK) {
        strbuf_puts(why, pg_lane_trouble(lane));
        return ERR_INFRASTRUCTURE;
    }
    err = run_as_owner(lane, schema->schema_sql, why);
    for (size_t i = 0; err == ERR_OK && i < schema->patch_count; i++)
        err = run_as_owner(lane, schema->patches[i], why);
    if (err == ERR_OK)
        err = watch_install(lane, why);
    if (err == ERR_OK)
        err = gate_install(lane, schema, why);
    if (err == ERR_OK)
        err = build_wipe(lane);
    if (err == ERR_OK && standbys_make(lane) != ERR_OK) {
        strbuf_puts(why, pg_lane_trouble(lane));
        err = ERR_INFRASTRUCTURE;
    }
    return err;
}

/* ---- a clean slate ---- */

/* Neighbouring seeds must not share randomness: spread them over the sequence's range. */
static int64_t draw_start(uint64_t seed)
{
    uint64_t mixed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 29;
    return (int64_t)(mixed >> 3) + 1;
}

static enum err sweep(struct pg_lane *lane)
{
    if (lane->slate_count % SLATES_PER_SWEEP != 0)
        return ERR_OK;
    return control_run(lane, "VACUUM pg_catalog.pg_class");
}

enum err pg_lane_slate(struct pg_lane *lane, uint64_t seed, struct strbuf *why)
{
    pool_drain(lane);
    if (standbys_slate(lane) != ERR_OK) {
        strbuf_puts(why, pg_lane_trouble(lane));
        return ERR_INFRASTRUCTURE;
    }
    if (route_ready(lane, why) != ERR_OK)
        return ERR_INFRASTRUCTURE;
    if (lane->tape)
        tape_slate(lane->tape);
    struct strbuf sql = STRBUF_INIT;
    strbuf_puts(&sql, strbuf_str(&lane->wipe_sql));
    strbuf_puts(&sql, "SELECT setval('fencepost.draw', ");
    strbuf_int(&sql, draw_start(seed));
    strbuf_puts(&sql, ", false)");
    enum err err = control_run(lane, sql.text);
    strbuf_release(&sql);
    lane->slate_count++;
    if (err == ERR_OK)
        err = sweep(lane);
    if (err != ERR_OK)
        strbuf_puts(why, pg_lane_trouble(lane));
    lane->opened_sequence = 0;
    for (int i = 0; i < SESSION_COUNT_MAX; i++)
        lane->sessions[i].opened_sequence = 0;
    lane->spoilt = false;
    lane->stirred = false;
    memset(&lane->counts, 0, sizeof lane->counts);
    return err;
}
