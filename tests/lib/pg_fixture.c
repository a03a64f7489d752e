#include "tests/lib/pg_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

static struct pg_server *server;
static struct pg_lane *lane;
static char value[256];

int pg_fixture_open(void **state)
{
    (void)state;
    struct strbuf why = STRBUF_INIT;
    struct pg_server_options options = {.cpu = -1};
    enum err err = pg_template_make(&options, &why);
    if (err == ERR_OK)
        err = pg_server_start(&options, 0, &server, &why);
    if (err == ERR_OK)
        err = pg_lane_open(server, &lane, &why);
    if (err != ERR_OK)
        fprintf(stderr, "%s\n", strbuf_str(&why));
    strbuf_release(&why);
    return err == ERR_OK ? 0 : -1;
}

int pg_fixture_close(void **state)
{
    (void)state;
    pg_lane_close(lane);
    pg_server_stop(server);
    pg_template_remove();
    return 0;
}

struct pg_lane *pg_fixture_lane(void)
{
    return lane;
}

const char *pg_fixture_dsn(void)
{
    return pg_server_admin_conninfo(server);
}

void pg_fixture_install(const char *schema_sql, const char *const *gates, size_t gate_count)
{
    struct pg_schema schema = {.schema_sql = schema_sql, .gates = gates, .gate_count = gate_count};
    pg_fixture_install_schema(&schema);
}

void pg_fixture_install_schema(const struct pg_schema *schema)
{
    struct strbuf why = STRBUF_INIT;
    if (pg_lane_install(lane, schema, &why) != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    strbuf_release(&why);
    pg_fixture_slate();
}

void pg_fixture_slate(void)
{
    struct strbuf why = STRBUF_INIT;
    if (pg_lane_slate(lane, 1, &why) != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    strbuf_release(&why);
}

static void take_value(void *self, const char *const *cells, int column_count)
{
    (void)self;
    assert_true(column_count >= 1);
    snprintf(value, sizeof value, "%s", cells[0] ? cells[0] : "null");
}

const char *pg_fixture_value(const char *sql)
{
    value[0] = '\0';
    assert_int_equal(pg_lane_query(lane, sql, take_value, NULL), ERR_OK);
    return value;
}
