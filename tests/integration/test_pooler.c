/* Sessions behind a real pgbouncer in transaction mode: which connection they get follows from the
 * run, and a lock that belongs to a session belongs to nobody any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/walltext.h"
#include "sim/pg/internal.h"
#include "sim/pg/pooler.h"
#include "tests/lib/between.h"

#define POOL_SIZE 3
#define DEADLOCK_TIMEOUT_MS 50
#define DEADLOCK_TIMEOUT_MS_PATIENT 3000

static const struct rt_sql backend_sql = {"backend", "SELECT pg_backend_pid()", 0};
static const struct rt_sql insert_sql = {"insert", "INSERT INTO t VALUES ($1)", 1};
static const struct rt_sql update_sql = {"update", "UPDATE t SET n = n + 1 WHERE id = $1", 1};
/* Documents 000 and 003. */
static const struct rt_sql lock_sql = {"lock", "SELECT pg_advisory_lock(hashtext($1))", 1};
static const struct rt_sql try_sql = {"try", "SELECT pg_try_advisory_lock(hashtext($1))", 1};
static const struct rt_sql unlock_sql = {"unlock", "SELECT pg_advisory_unlock(hashtext($1))", 1};
static const struct rt_sql unlock_all_sql = {"unlock_all", "SELECT pg_advisory_unlock_all()", 0};
/* Document 004. */
static const struct rt_sql try_xact_sql = {"try_xact",
                                           "SELECT pg_try_advisory_xact_lock(hashtext($1))", 1};
/* Document 001. */
static const struct rt_sql skip_locked_sql = {
    "skip_locked", "SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", 0};

static int install(void **state)
{
    (void)state;
    static const char *const key[] = {"id", NULL};
    static const char *const columns[] = {"n", NULL};
    static const struct watched_table watched[] = {{.table = "t", .key = key, .columns = columns}};
    struct pg_schema schema = {.schema_sql = "CREATE TABLE t (id int PRIMARY KEY, n int DEFAULT 0, "
                                             "at timestamptz DEFAULT now())",
                               .watched = watched,
                               .watched_count = 1,
                               .pool_size = POOL_SIZE};
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

static int backend_of(struct pg_session *session)
{
    return atoi(between_ask(session, &backend_sql, NULL));
}

static int lock_count(void)
{
    return atoi(pg_fixture_value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"));
}

static int pid(void)
{
    return pooler_pid(pg_fixture_lane()->pooler);
}

static void test_pooler_sessions_share_the_connection_given_back_last(void **state)
{
    (void)state;
    struct pg_session *a = open_session(), *b = open_session(), *c = open_session();
    int first = backend_of(a);
    assert_int_equal(backend_of(b), first);
    between_ask(a, &begin_sql, NULL);
    assert_int_equal(backend_of(a), first);
    int second = backend_of(b);
    assert_int_not_equal(second, first);
    between_ask(a, &commit_sql, NULL);
    assert_int_equal(backend_of(c), first);
    between_ask(c, &begin_sql, NULL);
    between_ask(b, &begin_sql, NULL);
    between_ask(c, &commit_sql, NULL);
    between_ask(b, &commit_sql, NULL);
    assert_int_equal(backend_of(a), second);
}

static void test_pooler_session_lock_excludes_nobody_on_the_same_connection(void **state)
{
    (void)state;
    struct pg_session *a = open_session(), *b = open_session();
    assert_string_equal(between_ask(a, &try_sql, "demo"), "t");
    assert_string_equal(between_ask(b, &try_sql, "demo"), "t");
    between_ask(a, &lock_sql, "demo"); /* does not wait either */
    assert_int_equal(lock_count(), 1);
}

static void test_pooler_session_lock_stays_behind_when_its_unlock_goes_elsewhere(void **state)
{
    (void)state;
    struct pg_session *a = open_session(), *b = open_session(), *c = open_session();
    between_ask(a, &lock_sql, "demo");
    between_ask(b, &begin_sql, NULL); /* on the connection with the lock */
    assert_string_equal(between_ask(a, &unlock_sql, "demo"), "f");
    assert_int_equal(lock_count(), 1);
    assert_string_equal(between_ask(c, &try_sql, "demo"), "f");
    between_ask(b, &commit_sql, NULL);
    pg_session_cut(a); /* its client is gone, the lock is not */
    assert_int_equal(lock_count(), 1);
}

/* The clean-up of document 003. */
static void test_pooler_unlock_all_lets_go_of_somebody_elses(void **state)
{
    (void)state;
    struct pg_session *a = open_session(), *b = open_session();
    between_ask(a, &lock_sql, "demo");
    between_ask(b, &unlock_all_sql, NULL);
    assert_int_equal(lock_count(), 0);
}

/* Documents 004 and 001: what ends with the transaction is as safe as without a pooler. */
static void test_pooler_transaction_locks_exclude(void **state)
{
    (void)state;
    struct pg_session *a = open_session(), *b = open_session();
    between_ask(a, &insert_sql, "1");
    between_ask(a, &begin_sql, NULL);
    assert_string_equal(between_ask(a, &try_xact_sql, "demo"), "t");
    assert_string_equal(between_ask(a, &skip_locked_sql, NULL), "1");
    between_ask(b, &begin_sql, NULL);
    assert_string_equal(between_ask(b, &try_xact_sql, "demo"), "f");
    assert_string_equal(between_ask(b, &skip_locked_sql, NULL), "");
    between_ask(a, &commit_sql, NULL);
    assert_string_equal(between_ask(b, &try_xact_sql, "demo"), "t");
    assert_string_equal(between_ask(b, &skip_locked_sql, NULL), "1");
    pg_session_cut(b);
    assert_int_equal(lock_count(), 0);
}

static void test_pooler_slate_leaves_no_lock(void **state)
{
    (void)state;
    struct pg_session *a = open_session();
    between_ask(a, &lock_sql, "demo");
    pg_fixture_slate();
    assert_int_equal(lock_count(), 0);
}

static void test_pooler_waiter_is_parked_and_granted_in_turn(void **state)
{
    (void)state;
    struct pg_lane *lane = pg_fixture_lane();
    struct pg_session *a = open_session(), *b = open_session();
    between_ask(a, &insert_sql, "1");
    between_ask(a, &begin_sql, NULL);
    between_ask(a, &update_sql, "1");
    assert_int_equal(between_send(b, &update_sql, "1"), PG_BLOCKED);
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_false(pg_session_is_granted(b));
    between_ask(a, &commit_sql, NULL);
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_true(pg_session_is_granted(b));
    assert_int_equal(pg_session_continue(b), PG_DONE);
    assert_int_equal(pg_session_result(b)->change_count, 1);
    assert_string_equal(pg_fixture_value("SELECT n FROM t"), "2");
}

/* It waits for a connection that serves nobody, until somebody else is served by it. */
static void test_pooler_waiter_for_a_lock_left_behind_is_granted(void **state)
{
    (void)state;
    struct pg_lane *lane = pg_fixture_lane();
    struct pg_session *a = open_session(), *b = open_session(), *c = open_session();
    between_ask(a, &lock_sql, "demo");
    between_ask(b, &begin_sql, NULL);
    between_ask(c, &begin_sql, NULL);
    between_ask(b, &commit_sql, NULL);
    assert_int_equal(between_send(c, &lock_sql, "demo"), PG_BLOCKED);
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_false(pg_session_is_granted(c));
    assert_string_equal(between_ask(b, &unlock_sql, "demo"), "t"); /* on the connection with it */
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_true(pg_session_is_granted(c));
    assert_int_equal(pg_session_continue(c), PG_DONE);
}

static void test_pooler_deadlock_is_found(void **state)
{
    (void)state;
    struct pg_lane *lane = pg_fixture_lane();
    static const char *const rows[2] = {"1", "2"};
    /* Patient, so that a busy machine stops both in time. */
    assert_int_equal(pg_lane_set_deadlock_timeout(lane, DEADLOCK_TIMEOUT_MS_PATIENT), ERR_OK);
    pg_fixture_slate();
    struct pg_session *sessions[2] = {open_session(), open_session()};
    for (int i = 0; i < 2; i++)
        between_ask(sessions[i], &insert_sql, rows[i]);
    for (int i = 0; i < 2; i++) {
        between_ask(sessions[i], &begin_sql, NULL);
        between_ask(sessions[i], &update_sql, rows[i]);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(between_send(sessions[i], &update_sql, rows[1 - i]), PG_BLOCKED);
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_true(pg_session_is_deadlocked(sessions[0]));
    assert_int_equal(pg_session_continue(sessions[0]), PG_DONE);
    assert_string_equal(pg_session_result(sessions[0])->sqlstate, "40P01");
    assert_int_equal(pg_lane_set_deadlock_timeout(lane, DEADLOCK_TIMEOUT_MS), ERR_OK);
}

static void test_pooler_time_is_the_statements_own(void **state)
{
    (void)state;
    static const struct rt_sql now_sql = {"now", "SELECT now()::time(0)::text", 0};
    struct pg_session *a = open_session(), *b = open_session();
    int64_t later_ns = VIRTUAL_EPOCH_NS + 3600 * NS_PER_S;
    assert_string_equal(between_ask(a, &now_sql, NULL), "00:00:00");
    assert_int_equal(pg_session_send(b, &now_sql, NULL, later_ns), PG_DONE);
    assert_string_equal(rt_cell(&pg_session_result(b)->rows, 0, 0), "01:00:00");
    assert_string_equal(between_ask(a, &now_sql, NULL), "00:00:00");
    between_ask(a, &begin_sql, NULL);
    assert_string_equal(between_ask(a, &now_sql, NULL), "00:00:00");
    assert_int_equal(pg_session_send(a, &now_sql, NULL, later_ns), PG_DONE);
    assert_string_equal(rt_cell(&pg_session_result(a)->rows, 0, 0), "00:00:00");
}

static void test_pooler_changes_are_those_of_the_session(void **state)
{
    (void)state;
    struct pg_session *a = open_session(), *b = open_session();
    between_ask(a, &begin_sql, NULL);
    between_ask(a, &insert_sql, "1");
    between_ask(b, &insert_sql, "2");
    assert_int_equal(pg_session_result(b)->change_count, 1);
    assert_string_equal(pg_session_result(b)->changes[0].values[0], "2");
    between_ask(a, &commit_sql, NULL);
    assert_int_equal(pg_session_result(a)->change_count, 1);
    assert_string_equal(pg_session_result(a)->changes[0].values[0], "1");
}

static void test_pooler_cut_in_transaction_ends_the_connection_and_its_locks(void **state)
{
    (void)state;
    struct pg_session *a = open_session();
    between_ask(a, &begin_sql, NULL);
    between_ask(a, &lock_sql, "demo");
    between_ask(a, &insert_sql, "1");
    pg_session_cut(a);
    assert_int_equal(lock_count(), 0);
    assert_string_equal(pg_fixture_value("SELECT count(*) FROM t"), "0");
}

static void test_pooler_without_a_free_connection_sends_away(void **state)
{
    (void)state;
    struct pg_session *sessions[POOL_SIZE + 1];
    for (int i = 0; i <= POOL_SIZE; i++)
        sessions[i] = open_session();
    for (int i = 0; i < POOL_SIZE; i++)
        between_ask(sessions[i], &begin_sql, NULL);
    assert_int_equal(between_send(sessions[POOL_SIZE], &begin_sql, NULL), PG_LOST);
    pg_session_cut(sessions[POOL_SIZE]);
    between_ask(sessions[0], &commit_sql, NULL);
    struct pg_session *again = open_session();
    between_ask(again, &begin_sql, NULL);
    assert_false(pg_lane_spoilt(pg_fixture_lane()));
}

static void test_pooler_killed_before_a_statement_spoils_the_run(void **state)
{
    (void)state;
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    between_signal(pid(), SIGKILL);
    assert_int_not_equal(between_send(session, &insert_sql, "2"), PG_DONE);
    between_is_spoilt_and_heals();
}

static void test_pooler_killed_between_runs_is_started_again(void **state)
{
    (void)state;
    pg_session_close(open_session());
    between_signal(pid(), SIGKILL);
    pg_fixture_slate();
    struct pg_session *session = open_session();
    between_ask(session, &insert_sql, "1");
    pg_session_close(session);
}

static int run_group(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_pooler_sessions_share_the_connection_given_back_last, install),
        cmocka_unit_test_setup(test_pooler_session_lock_excludes_nobody_on_the_same_connection,
                               install),
        cmocka_unit_test_setup(test_pooler_session_lock_stays_behind_when_its_unlock_goes_elsewhere,
                               install),
        cmocka_unit_test_setup(test_pooler_unlock_all_lets_go_of_somebody_elses, install),
        cmocka_unit_test_setup(test_pooler_transaction_locks_exclude, install),
        cmocka_unit_test_setup(test_pooler_slate_leaves_no_lock, install),
        cmocka_unit_test_setup(test_pooler_waiter_is_parked_and_granted_in_turn, install),
        cmocka_unit_test_setup(test_pooler_waiter_for_a_lock_left_behind_is_granted, install),
        cmocka_unit_test_setup(test_pooler_deadlock_is_found, install),
        cmocka_unit_test_setup(test_pooler_time_is_the_statements_own, install),
        cmocka_unit_test_setup(test_pooler_changes_are_those_of_the_session, install),
        cmocka_unit_test_setup(test_pooler_cut_in_transaction_ends_the_connection_and_its_locks,
                               install),
        cmocka_unit_test_setup(test_pooler_without_a_free_connection_sends_away, install),
        cmocka_unit_test_setup(test_pooler_killed_before_a_statement_spoils_the_run, install),
        cmocka_unit_test_setup(test_pooler_killed_between_runs_is_started_again, install),
    };
    return cmocka_run_group_tests(tests, pg_fixture_open, pg_fixture_close);
}

int main(void)
{
    static const char *const names[] = {"pgbouncer", NULL};
    return between_main(names, "apt-get install pgbouncer", run_group);
}
