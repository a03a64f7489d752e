/* Servers that follow, die and take over: what a standby shows is what it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sim/core/walltext.h"
#include "tests/lib/pg_fixture.h"

static const char schema_sql[] = "CREATE TABLE t (id integer PRIMARY KEY, "
                                 "tag uuid NOT NULL DEFAULT gen_random_uuid())";

static const struct rt_sql begin_sql = {"begin", "BEGIN", 0};
static const struct rt_sql insert_sql = {"insert", "INSERT INTO t (id) VALUES ($1) RETURNING tag",
                                         1};
static const struct rt_sql count_sql = {"count", "SELECT count(*), now() FROM t", 0};
static const struct rt_sql lock_sql = {"lock", "SELECT pg_advisory_lock(7)", 0};

static void install(int standby_count)
{
    struct pg_lane *lane = pg_fixture_lane();
    struct strbuf why = STRBUF_INIT;
    struct pg_schema schema = {
        .schema_sql = schema_sql, .standby_count = standby_count, .crashes = true};
    enum err err = pg_lane_install(lane, &schema, &why);
    if (err == ERR_OK)
        err = pg_lane_slate(lane, 1, &why);
    if (err != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    strbuf_release(&why);
}

static void slate(void)
{
    struct strbuf why = STRBUF_INIT;
    if (pg_lane_slate(pg_fixture_lane(), 1, &why) != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    strbuf_release(&why);
}

static void ok(enum err err)
{
    if (err != ERR_OK)
        fail_msg("%s", pg_lane_trouble(pg_fixture_lane()));
}

static const char *send(struct pg_session *session, const struct rt_sql *sql, const char *param)
{
    assert_int_equal(pg_session_send(session, sql, &param, VIRTUAL_EPOCH_NS), PG_DONE);
    const struct pg_result *result = pg_session_result(session);
    if (!result->ok)
        fail_msg("%s", result->message);
    return result->rows.row_count > 0 ? rt_cell(&result->rows, 0, 0) : "";
}

static void insert(const char *id)
{
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    assert_non_null(session);
    send(session, &insert_sql, id);
    pg_session_close(session);
}

static uint64_t position(void)
{
    uint64_t position;
    ok(pg_lane_position(pg_fixture_lane(), &position));
    return position;
}

static void assert_standby_shows(const char *count)
{
    struct pg_session *session = pg_session_open_standby(pg_fixture_lane());
    assert_non_null(session);
    assert_string_equal(send(session, &count_sql, NULL), count);
    assert_string_equal(rt_cell(&pg_session_result(session)->rows, 0, 1), "2026-01-01 00:00:00+00");
    pg_session_close(session);
}

static void test_standby_shows_what_it_was_given(void **state)
{
    (void)state;
    struct pg_lane *lane = pg_fixture_lane();
    install(1);
    for (int seed = 0; seed < 3; seed++) {
        insert("1");
        uint64_t first = position();
        insert("2");
        ok(pg_lane_feed(lane, first));
        assert_standby_shows("1");
        assert_standby_shows("1");
        ok(pg_lane_feed(lane, position()));
        assert_standby_shows("2");
        slate();
        ok(pg_lane_feed(lane, position()));
        assert_standby_shows("0");
    }
}

/* An open transaction of somebody else has written to the log as well. */
static void test_standby_with_open_transaction_shows_committed_only(void **state)
{
    (void)state;
    struct pg_lane *lane = pg_fixture_lane();
    install(1);
    struct pg_session *other = pg_session_open(lane);
    send(other, &begin_sql, NULL);
    send(other, &insert_sql, "7");
    ok(pg_lane_feed(lane, position()));
    assert_standby_shows("0");
    insert("1");
    send(other, &insert_sql, "8");
    ok(pg_lane_feed(lane, position()));
    assert_standby_shows("1");
    pg_session_close(other);
}

static void test_failover_loses_what_was_not_received(void **state)
{
    (void)state;
    struct pg_lane *lane = pg_fixture_lane();
    install(2);
    for (int seed = 0; seed < 2; seed++) {
        insert("1");
        uint64_t received = position();
        insert("2");
        ok(pg_lane_fail_over(lane, received));
        assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "1");
        insert("3");
        ok(pg_lane_fail_over(lane, position()));
        assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "2");
        assert_string_equal(
            pg_fixture_value("SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"),
            "00000003");
        ok(pg_lane_feed(lane, position()));
        assert_standby_shows("2");
        slate();
        assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "0");
        assert_string_equal(
            pg_fixture_value("SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"),
            "00000001");
    }
}

static void test_crash_keeps_commits_and_ends_sessions(void **state)
{
    (void)state;
    struct pg_lane *lane = pg_fixture_lane();
    install(0);
    for (int seed = 0; seed < 2; seed++) {
        insert("1");
        struct pg_session *holder = pg_session_open(lane);
        struct pg_session *waiter = pg_session_open(lane);
        send(holder, &begin_sql, NULL);
        send(holder, &insert_sql, "2");
        send(holder, &lock_sql, NULL);
        assert_int_equal(pg_session_send(waiter, &lock_sql, NULL, VIRTUAL_EPOCH_NS), PG_BLOCKED);
        ok(pg_lane_crash(lane));
        assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "1");
        insert("2");
        assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "2");
        assert_int_equal(pg_lane_settle(lane), ERR_OK);
        slate();
    }
}

/* Crash, and then fail over: what the sequence behind gen_random_uuid() gives after each. */
static void draw_after_deaths(char tags[2][64])
{
    struct pg_lane *lane = pg_fixture_lane();
    slate();
    for (int death = 0; death < 2; death++) {
        insert(death == 0 ? "1" : "3");
        ok(death == 0 ? pg_lane_crash(lane) : pg_lane_fail_over(lane, position()));
        struct pg_session *session = pg_session_open(lane);
        snprintf(tags[death], sizeof tags[death], "%s",
                 send(session, &insert_sql, death == 0 ? "2" : "4"));
        pg_session_close(session);
    }
}

/* Where a sequence goes on after a crash must not depend on what the lane did before. */
static void test_crash_in_used_lane_goes_on_as_in_new_one(void **state)
{
    (void)state;
    char first[2][64], second[2][64];
    install(1);
    draw_after_deaths(first);
    draw_after_deaths(second);
    for (int death = 0; death < 2; death++)
        assert_string_equal(first[death], second[death]);
    assert_string_not_equal(first[0], first[1]);
}

static void test_lane_after_failover_takes_another_schema(void **state)
{
    (void)state;
    install(1);
    assert_string_equal(pg_fixture_value("SHOW wal_level"), "replica");
    ok(pg_lane_fail_over(pg_fixture_lane(), position()));
    install(1);
    ok(pg_lane_fail_over(pg_fixture_lane(), position()));
    slate();
    install(0);
    assert_string_equal(pg_fixture_value("SHOW wal_level"), "minimal");
    insert("1");
    assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standby_shows_what_it_was_given),
        cmocka_unit_test(test_standby_with_open_transaction_shows_committed_only),
        cmocka_unit_test(test_failover_loses_what_was_not_received),
        cmocka_unit_test(test_crash_keeps_commits_and_ends_sessions),
        cmocka_unit_test(test_crash_in_used_lane_goes_on_as_in_new_one),
        cmocka_unit_test(test_lane_after_failover_takes_another_schema),
    };
    return cmocka_run_group_tests(tests, pg_fixture_open, pg_fixture_close);
}
