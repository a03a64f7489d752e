/* A connection through a real toxiproxy is cut by it, and its own death is not a finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/pg/internal.h"
#include "sim/pg/route.h"
#include "sim/pg/toxiproxy.h"
#include "tests/lib/between.h"

static const struct rt_sql insert_sql = {"insert", "INSERT INTO t VALUES ($1)", 1};
static const struct rt_sql lock_sql = {"lock", "LOCK TABLE t", 0};
static const struct rt_sql count_sql = {"count", "SELECT count(*) FROM t", 0};

static int install(void **state)
{
    (void)state;
    struct pg_schema schema = {.schema_sql = "CREATE TABLE t (id int)", .toxiproxy = true};
    pg_fixture_install_schema(&schema);
    return 0;
}

static struct pg_session *open_session(void)
{
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    if (!session)
        fail_msg("%s", pg_lane_trouble(pg_fixture_lane()));
    return session;
}

static int pid(void)
{
    return toxiproxy_pid(pg_fixture_lane()->toxiproxy);
}

static void break_it(struct pg_session *session, enum pg_break how, const char *param)
{
    if (pg_session_break(session, how, &insert_sql, &param) != ERR_OK)
        fail_msg("%s", pg_lane_trouble(pg_fixture_lane()));
    pg_session_cut(session);
    assert_false(pg_lane_spoilt(pg_fixture_lane()));
}

static void test_toxiproxy_session_comes_over_tcp(void **state)
{
    (void)state;
    static const struct rt_sql from_sql = {"from", "SELECT inet_client_addr() IS NOT NULL", 0};
    struct pg_session *session = open_session();
    assert_string_equal(between_ask(session, &from_sql, NULL), "t");
    pg_session_close(session);
}

static void test_toxiproxy_request_lost_statement_never_runs(void **state)
{
    (void)state;
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    break_it(session, PG_BREAK_REQUEST, "2");
    assert_string_equal(pg_fixture_value("SELECT string_agg(id::text, ',') FROM t"), "1");
}

static void test_toxiproxy_reply_lost_statement_has_run(void **state)
{
    (void)state;
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    break_it(session, PG_BREAK_REPLY, NULL);
    assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "1");
}

/* What the cut rests on: with the toxic in place the server does its work and nobody hears of it.
 */
static void test_toxiproxy_limit_downstream_loses_the_reply_alone(void **state)
{
    (void)state;
    struct strbuf why = STRBUF_INIT;
    struct pg_session *session = open_session();
    between_ask(session, &count_sql, NULL);
    assert_int_equal(toxiproxy_limit(pg_fixture_lane()->toxiproxy, session->proxy, false, &why),
                     ERR_OK);
    assert_int_not_equal(between_send(session, &insert_sql, "1"), PG_DONE);
    pg_session_cut(session);
    assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "1");
    strbuf_release(&why);
}

static void test_toxiproxy_cut_in_transaction_is_rolled_back(void **state)
{
    (void)state;
    for (enum pg_break how = PG_BREAK_REQUEST; how <= PG_BREAK_IDLE; how++) {
        struct pg_session *session = open_session();
        between_ask(session, &begin_sql, NULL);
        between_ask(session, &insert_sql, "1");
        break_it(session, how, "2");
        struct pg_session *other = open_session();
        between_ask(other, &begin_sql, NULL);
        between_ask(other, &lock_sql, NULL); /* its locks are gone too */
        assert_string_equal(between_ask(other, &count_sql, NULL), "0");
        pg_session_close(other);
    }
}

static void test_toxiproxy_killed_before_a_statement_spoils_the_run(void **state)
{
    (void)state;
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    between_signal(pid(), SIGKILL);
    assert_int_not_equal(between_send(session, &insert_sql, "2"), PG_DONE);
    between_is_spoilt_and_heals();
}

/* Whatever is said of the statement that waited: the run is over, and nothing stays behind. */
static void test_toxiproxy_killed_under_a_waiting_statement_heals(void **state)
{
    (void)state;
    struct pg_session *holder = open_session(), *waiter = open_session();
    between_ask(holder, &begin_sql, NULL);
    between_ask(holder, &lock_sql, NULL);
    assert_int_equal(between_send(waiter, &insert_sql, "1"), PG_BLOCKED);
    between_signal(pid(), SIGKILL);
    assert_int_not_equal(between_send(holder, &commit_sql, NULL), PG_DONE);
    between_is_spoilt_and_heals();
    assert_string_equal(pg_fixture_value("SELECT count(*) FROM pg_locks WHERE relation = "
                                         "'t'::regclass"),
                        "0");
}

static void test_toxiproxy_killed_between_runs_is_started_again(void **state)
{
    (void)state;
    pg_session_close(open_session());
    between_signal(pid(), SIGKILL);
    pg_fixture_slate();
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    pg_session_close(session);
}

static void test_toxiproxy_stopped_under_a_statement_spoils_the_run(void **state)
{
    (void)state;
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    between_signal(pid(), SIGSTOP);
    int64_t began_ns = realtime_ns();
    assert_int_not_equal(between_send(session, &insert_sql, "2"), PG_DONE);
    /* It was asked whether it lives, and not waited for as for a server. */
    assert_true(realtime_ns() - began_ns < PATIENCE_NS);
    between_is_spoilt_and_heals();
}

static void test_toxiproxy_stopped_before_a_cut_spoils_the_run(void **state)
{
    (void)state;
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    between_signal(pid(), SIGSTOP);
    assert_int_equal(pg_session_break(session, PG_BREAK_REPLY, NULL, NULL), ERR_INFRASTRUCTURE);
    pg_session_cut(session);
    between_is_spoilt_and_heals();
}

static void test_toxiproxy_port_lets_nobody_in_without_the_password(void **state)
{
    (void)state;
    static const char *const users[] = {"fencepost", "fencepost_admin"};
    for (size_t i = 0; i < FP_COUNT(users); i++) {
        char *conninfo = pg_make_conninfo(
            "127.0.0.1", pg_server_beside(pg_fixture_lane()->server)->port, users[i]);
        char *with_guess = fp_format("%s password=guess connect_timeout=30", conninfo);
        PGconn *conn = PQconnectdb(with_guess);
        assert_int_not_equal(PQstatus(conn), CONNECTION_OK);
        assert_non_null(strstr(PQerrorMessage(conn), i == 0 ? "password" : "pg_hba.conf"));
        PQfinish(conn);
        free(with_guess);
        free(conninfo);
    }
}

/* Each server has its own port, and what leads to one does not lead to the other. */
static void test_toxiproxy_session_with_a_standby_reaches_it(void **state)
{
    (void)state;
    static const struct rt_sql where_sql = {
        "where", "SELECT pg_is_in_recovery() AND inet_client_addr() IS NOT NULL", 0};
    struct pg_schema schema = {
        .schema_sql = "CREATE TABLE t (id int)", .standby_count = 1, .toxiproxy = true};
    pg_fixture_install_schema(&schema);
    struct pg_session *session = pg_session_open_standby(pg_fixture_lane());
    assert_non_null(session);
    assert_string_equal(between_ask(session, &where_sql, NULL), "t");
    pg_session_cut(session);
    session = open_session();
    assert_string_equal(between_ask(session, &where_sql, NULL), "f");
    break_it(session, PG_BREAK_REPLY, NULL);
}

/* The template trusts whoever comes, so what is made of it must not listen. */
static void test_toxiproxy_server_made_anew_does_not_listen(void **state)
{
    (void)state;
    struct pg_schema schema = {.schema_sql = "CREATE TABLE t (id int)", .standby_count = 1};
    pg_fixture_install_schema(&schema);
    const struct pg_beside *beside = pg_server_beside(pg_fixture_lane()->server);
    char *conninfo = pg_make_conninfo("127.0.0.1", beside->port, "fencepost_admin");
    PGconn *conn = PQconnectdb(conninfo);
    assert_int_not_equal(PQstatus(conn), CONNECTION_OK);
    PQfinish(conn);
    free(conninfo);
    assert_null(beside->password);
}

static int run_group(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_toxiproxy_session_comes_over_tcp, install),
        cmocka_unit_test_setup(test_toxiproxy_request_lost_statement_never_runs, install),
        cmocka_unit_test_setup(test_toxiproxy_reply_lost_statement_has_run, install),
        cmocka_unit_test_setup(test_toxiproxy_limit_downstream_loses_the_reply_alone, install),
        cmocka_unit_test_setup(test_toxiproxy_cut_in_transaction_is_rolled_back, install),
        cmocka_unit_test_setup(test_toxiproxy_killed_before_a_statement_spoils_the_run, install),
        cmocka_unit_test_setup(test_toxiproxy_killed_under_a_waiting_statement_heals, install),
        cmocka_unit_test_setup(test_toxiproxy_killed_between_runs_is_started_again, install),
        cmocka_unit_test_setup(test_toxiproxy_stopped_under_a_statement_spoils_the_run, install),
        cmocka_unit_test_setup(test_toxiproxy_stopped_before_a_cut_spoils_the_run, install),
        cmocka_unit_test_setup(test_toxiproxy_port_lets_nobody_in_without_the_password, install),
        cmocka_unit_test_setup(test_toxiproxy_session_with_a_standby_reaches_it, install),
        cmocka_unit_test_setup(test_toxiproxy_server_made_anew_does_not_listen, install),
    };
    return cmocka_run_group_tests(tests, pg_fixture_open, pg_fixture_close);
}

int main(void)
{
    static const char *const names[] = {"toxiproxy-server", NULL};
    return between_main(names, "./fencepost setup toxiproxy builds it", run_group);
}
