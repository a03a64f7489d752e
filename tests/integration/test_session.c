/* Stepped sessions on a real server: who goes on is ours to say, and time is virtual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sim/core/choice.h"
#include "sim/core/walltext.h"
#include "tests/lib/pg_fixture.h"

#define WAITER_COUNT 4
#define RACE_COUNT 1000
#define DEADLOCK_COUNT 40

static const struct rt_sql begin_sql = {"begin", "BEGIN", 0};
static const struct rt_sql commit_sql = {"commit", "COMMIT", 0};
static const struct rt_sql rollback_sql = {"rollback", "ROLLBACK", 0};

static int64_t now_ns = VIRTUAL_EPOCH_NS;

static enum pg_answer send(struct pg_session *session, const struct rt_sql *sql, const char *param)
{
    return pg_session_send(session, sql, &param, now_ns);
}

static void send_ok(struct pg_session *session, const struct rt_sql *sql, const char *param)
{
    assert_int_equal(send(session, sql, param), PG_DONE);
    if (!pg_session_result(session)->ok)
        fail_msg("%s", pg_session_result(session)->message);
}

static const char *cell(struct pg_session *session)
{
    return rt_cell(&pg_session_result(session)->rows, 0, 0);
}

/* ---- several waiters on one key ---- */

static const struct rt_sql insert_sql = {"insert", "INSERT INTO race VALUES (1, $1)", 1};

/* Who of the waiters got the key, when number `pick` was told to go on first. */
static int race(int pick)
{
    struct pg_lane *lane = pg_fixture_lane();
    struct pg_session *holder = pg_session_open(lane);
    struct pg_session *waiters[WAITER_COUNT];
    send_ok(holder, &begin_sql, NULL);
    send_ok(holder, &insert_sql, "holder");
    for (int i = 0; i < WAITER_COUNT; i++) {
        waiters[i] = pg_session_open(lane);
        assert_int_equal(send(waiters[i], &insert_sql, "waiter"), PG_BLOCKED);
    }
    send_ok(holder, &rollback_sql, NULL);
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    int winner = -1;
    for (int n = 0; n < WAITER_COUNT; n++) {
        int i = (pick + n) % WAITER_COUNT;
        enum pg_answer answer = pg_session_continue(waiters[i]);
        /* Without parking the one told to go on may well find another ahead of it. */
        while (answer == PG_BLOCKED) {
            assert_int_equal(pg_lane_settle(lane), ERR_OK);
            answer = pg_session_continue(waiters[i]);
        }
        assert_int_equal(answer, PG_DONE);
        if (pg_session_result(waiters[i])->ok)
            winner = i;
        else
            assert_string_equal(pg_session_result(waiters[i])->sqlstate, "23505");
    }
    for (int i = 0; i < WAITER_COUNT; i++)
        pg_session_close(waiters[i]);
    pg_session_close(holder);
    struct strbuf why = STRBUF_INIT;
    assert_int_equal(pg_lane_slate(lane, 1, &why), ERR_OK);
    return winner;
}

static int count_followed(int race_count)
{
    struct choices *choices = choices_new(7);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    int followed_count = 0;
    for (int i = 0; i < race_count; i++) {
        int pick = (int)choice_below(stream, WAITER_COUNT);
        followed_count += race(pick) == pick;
    }
    choices_free(choices);
    return followed_count;
}

static void test_session_waiters_on_one_key_winner_follows_seed(void **state)
{
    (void)state;
    pg_fixture_install("CREATE TABLE race (id int PRIMARY KEY, who text)", NULL, 0);
    assert_int_equal(count_followed(RACE_COUNT), RACE_COUNT);
}

/* The other direction: the test above is about parking, since without it the server decides. */
static void test_session_without_parking_winner_is_anybody(void **state)
{
    (void)state;
    pg_fixture_install("CREATE TABLE race (id int PRIMARY KEY, who text)", NULL, 0);
    pg_lane_set_parking(pg_fixture_lane(), false);
    int followed_count = count_followed(100);
    pg_lane_set_parking(pg_fixture_lane(), true);
    assert_true(followed_count < 100);
}

/* ---- deadlocks ---- */

static const struct rt_sql update_sql = {"update", "UPDATE row SET n = n + 1 WHERE id = $1", 1};

static void deadlock(int victim)
{
    struct pg_lane *lane = pg_fixture_lane();
    struct pg_session *sessions[2] = {pg_session_open(lane), pg_session_open(lane)};
    static const char *const rows[2] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        send_ok(sessions[i], &begin_sql, NULL);
        send_ok(sessions[i], &update_sql, rows[i]);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(send(sessions[i], &update_sql, rows[1 - i]), PG_BLOCKED);
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_true(pg_session_is_deadlocked(sessions[0]));
    assert_true(pg_session_is_deadlocked(sessions[1]));
    assert_int_equal(pg_session_continue(sessions[victim]), PG_DONE);
    assert_string_equal(pg_session_result(sessions[victim])->sqlstate, "40P01");
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_true(pg_session_is_granted(sessions[1 - victim]));
    assert_int_equal(pg_session_continue(sessions[1 - victim]), PG_DONE);
    assert_true(pg_session_result(sessions[1 - victim])->ok);
    send_ok(sessions[1 - victim], &commit_sql, NULL);
    send_ok(sessions[victim], &rollback_sql, NULL);
    pg_session_close(sessions[0]);
    pg_session_close(sessions[1]);
}

static const struct rt_sql fill_pair_sql = {"fill", "INSERT INTO pair VALUES (1, 0), (2, 0)", 0};
static const struct rt_sql pair_sql = {"pair", "UPDATE pair SET v = v + 1 WHERE id = $1::int", 1};

/* One that waits long before it is looked at may find the deadlock by itself, and is answered
 * before anybody has seen it wait. */
static void test_session_unasked_deadlock_spoils_the_run(void **state)
{
    (void)state;
    static const struct rt_sql late_sql = {
        "late", "UPDATE pair SET v = v + 1 WHERE id = $1::int AND pg_sleep(0.06)::text = ''", 1};
    struct pg_lane *lane = pg_fixture_lane();
    pg_fixture_install("CREATE TABLE pair (id integer PRIMARY KEY, v integer NOT NULL)", NULL, 0);
    assert_int_equal(pg_lane_set_deadlock_timeout(lane, 5), ERR_OK);
    for (int i = 0; i < 12; i++) {
        struct strbuf why = STRBUF_INIT;
        assert_int_equal(pg_lane_slate(lane, 1, &why), ERR_OK);
        struct pg_session *a = pg_session_open(lane), *b = pg_session_open(lane);
        send_ok(a, &fill_pair_sql, NULL);
        send_ok(a, &begin_sql, NULL);
        send_ok(b, &begin_sql, NULL);
        send_ok(a, &pair_sql, "1");
        send_ok(b, &pair_sql, "2");
        assert_int_equal(send(a, &pair_sql, "2"), PG_BLOCKED);
        enum pg_answer answer = send(b, &late_sql, "1");
        assert_true(answer == PG_BLOCKED || answer == PG_DONE);
        assert_true(pg_lane_spoilt(lane));
    }
    assert_int_equal(pg_lane_set_deadlock_timeout(lane, 50), ERR_OK);
}

static void test_session_deadlock_victim_follows_seed(void **state)
{
    (void)state;
    pg_fixture_install("CREATE TABLE row (id int PRIMARY KEY, n int)", NULL, 0);
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    static const struct rt_sql fill = {"fill", "INSERT INTO row VALUES (1, 0), (2, 0)", 0};
    send_ok(session, &fill, NULL);
    pg_session_close(session);
    struct choices *choices = choices_new(11);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    for (int i = 0; i < DEADLOCK_COUNT; i++)
        deadlock((int)choice_below(stream, 2));
    choices_free(choices);
    assert_string_equal(pg_fixture_value("SELECT sum(n) FROM row"), "80");
}

static void test_session_three_in_a_ring_only_victim_fails(void **state)
{
    (void)state;
    pg_fixture_install("CREATE TABLE row (id int PRIMARY KEY, n int)", NULL, 0);
    struct pg_lane *lane = pg_fixture_lane();
    struct pg_session *sessions[3];
    static const char *const rows[3] = {"1", "2", "3"};
    static const struct rt_sql fill = {"fill", "INSERT INTO row VALUES (1, 0), (2, 0), (3, 0)", 0};
    for (int i = 0; i < 3; i++)
        sessions[i] = pg_session_open(lane);
    send_ok(sessions[0], &fill, NULL);
    for (int i = 0; i < 3; i++) {
        send_ok(sessions[i], &begin_sql, NULL);
        send_ok(sessions[i], &update_sql, rows[i]);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(send(sessions[i], &update_sql, rows[(i + 1) % 3]), PG_BLOCKED);
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_int_equal(pg_session_continue(sessions[1]), PG_DONE);
    assert_string_equal(pg_session_result(sessions[1])->sqlstate, "40P01");
    assert_int_equal(pg_lane_settle(lane), ERR_OK);
    assert_true(pg_session_is_granted(sessions[0]));
    assert_false(pg_session_is_granted(sessions[2]));
    assert_false(pg_session_is_deadlocked(sessions[2]));
}

/* ---- gates ---- */

static const char instance_locks_sql[] =
    "CREATE TABLE instance_locks ("
    "  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    "  instance_id bigint NOT NULL,"
    "  lock_token uuid UNIQUE NOT NULL DEFAULT gen_random_uuid(),"
    "  locked_at timestamptz NOT NULL DEFAULT now(),"
    "  locked_until timestamptz NOT NULL,"
    "  locked_by varchar(255) NOT NULL)";

/* The statement of document 004; now() is what CURRENT_TIMESTAMP means. */
static const struct rt_sql acquire_sql = {
    "acquire",
    "WITH lock_attempt AS (SELECT pg_try_advisory_xact_lock(42) AS acquired) "
    "INSERT INTO instance_locks (instance_id, locked_until, locked_by) "
    "SELECT 42, now() + interval '5 minutes', $1 FROM lock_attempt "
    "WHERE acquired = TRUE AND NOT EXISTS (SELECT 1 FROM instance_locks "
    "  WHERE instance_id = 42 AND locked_until > now()) "
    "RETURNING lock_token",
    1};

#define LIVE_LOCKS_SQL "SELECT count(*) FROM instance_locks WHERE instance_id = 42"

static void test_session_gate_opens_race_between_snapshot_and_lock(void **state)
{
    (void)state;
    static const char *const gates[] = {"pg_try_advisory_xact_lock"};
    pg_fixture_install(instance_locks_sql, gates, 1);
    struct pg_session *first = pg_session_open(pg_fixture_lane());
    struct pg_session *second = pg_session_open(pg_fixture_lane());
    assert_int_equal(send(first, &acquire_sql, "first"), PG_AT_GATE);
    assert_int_equal(send(second, &acquire_sql, "second"), PG_AT_GATE);
    assert_int_equal(pg_session_continue(first), PG_DONE);
    assert_int_equal(pg_session_result(first)->rows.row_count, 1);
    assert_int_equal(pg_session_continue(second), PG_DONE);
    assert_int_equal(pg_session_result(second)->rows.row_count, 1);
    assert_string_equal(pg_fixture_value(LIVE_LOCKS_SQL), "2");
}

static void test_session_without_gate_statement_looks_safe(void **state)
{
    (void)state;
    pg_fixture_install(instance_locks_sql, NULL, 0);
    struct pg_session *first = pg_session_open(pg_fixture_lane());
    struct pg_session *second = pg_session_open(pg_fixture_lane());
    send_ok(first, &acquire_sql, "first");
    send_ok(second, &acquire_sql, "second");
    assert_int_equal(pg_session_result(second)->rows.row_count, 0);
    assert_string_equal(pg_fixture_value(LIVE_LOCKS_SQL), "1");
}

static void test_session_gate_stops_at_every_call_of_a_statement(void **state)
{
    (void)state;
    static const char *const gates[] = {"pg_try_advisory_xact_lock"};
    static const struct rt_sql twice = {
        "twice", "SELECT pg_try_advisory_xact_lock(n) FROM generate_series(1, 2) AS n", 0};
    pg_fixture_install("", gates, 1);
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    assert_int_equal(send(session, &twice, NULL), PG_AT_GATE);
    assert_int_equal(pg_session_continue(session), PG_AT_GATE);
    assert_int_equal(pg_session_continue(session), PG_DONE);
}

/* ---- virtual time and randomness ---- */

static const struct rt_sql now_sql = {"now", "SELECT now() AT TIME ZONE 'UTC'", 0};
static const struct rt_sql clock_sql = {"clock", "SELECT clock_timestamp() AT TIME ZONE 'UTC'", 0};

static void test_session_now_is_virtual_and_fixed_within_transaction(void **state)
{
    (void)state;
    pg_fixture_install("", NULL, 0);
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    now_ns = VIRTUAL_EPOCH_NS;
    send_ok(session, &begin_sql, NULL);
    now_ns += NS_PER_HOUR;
    send_ok(session, &now_sql, NULL);
    assert_string_equal(cell(session), "2026-01-01 00:00:00");
    send_ok(session, &clock_sql, NULL);
    assert_string_equal(cell(session), "2026-01-01 01:00:00");
    now_ns += NS_PER_HOUR;
    send_ok(session, &now_sql, NULL);
    assert_string_equal(cell(session), "2026-01-01 00:00:00");
    send_ok(session, &commit_sql, NULL);
    send_ok(session, &now_sql, NULL);
    assert_string_equal(cell(session), "2026-01-01 02:00:00");
    now_ns = VIRTUAL_EPOCH_NS;
}

static void test_session_clock_survives_rollback_and_error(void **state)
{
    (void)state;
    static const struct rt_sql wrong = {"wrong", "SELECT 1 / 0", 0};
    pg_fixture_install("", NULL, 0);
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    send_ok(session, &now_sql, NULL);
    now_ns += NS_PER_MIN;
    send_ok(session, &begin_sql, NULL);
    send_ok(session, &clock_sql, NULL);
    assert_int_equal(send(session, &wrong, NULL), PG_DONE);
    assert_string_equal(pg_session_result(session)->sqlstate, "22012");
    send_ok(session, &rollback_sql, NULL);
    send_ok(session, &now_sql, NULL);
    assert_string_equal(cell(session), "2026-01-01 00:01:00");
    /* A statement that failed is prepared all the same, and must not be prepared again. */
    assert_int_equal(send(session, &wrong, NULL), PG_DONE);
    assert_string_equal(pg_session_result(session)->sqlstate, "22012");
    now_ns = VIRTUAL_EPOCH_NS;
}

static void test_session_column_default_now_is_virtual(void **state)
{
    (void)state;
    static const struct rt_sql insert = {
        "insert", "INSERT INTO t DEFAULT VALUES RETURNING at AT TIME ZONE 'UTC'", 0};
    pg_fixture_install("CREATE TABLE t (at timestamptz DEFAULT now())", NULL, 0);
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    send_ok(session, &insert, NULL);
    assert_string_equal(cell(session), "2026-01-01 00:00:00");
}

static void draw_two(char out[2][64], uint64_t seed)
{
    static const struct rt_sql draw = {"draw", "SELECT gen_random_uuid() || ' ' || random()", 0};
    struct strbuf why = STRBUF_INIT;
    assert_int_equal(pg_lane_slate(pg_fixture_lane(), seed, &why), ERR_OK);
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    for (int i = 0; i < 2; i++) {
        send_ok(session, &draw, NULL);
        snprintf(out[i], sizeof out[i], "%s", cell(session));
    }
}

static void test_session_randomness_follows_seed(void **state)
{
    (void)state;
    char first[2][64], again[2][64], other[2][64];
    pg_fixture_install("", NULL, 0);
    draw_two(first, 5);
    draw_two(again, 5);
    draw_two(other, 6);
    assert_string_equal(first[0], again[0]);
    assert_string_equal(first[1], again[1]);
    assert_string_not_equal(first[0], first[1]);
    assert_string_not_equal(first[0], other[0]);
}

/* ---- a session that is used again ---- */

static void test_session_reused_is_as_new(void **state)
{
    (void)state;
    static const struct rt_sql spoil = {"spoil", "SELECT set_config('work_mem', '1MB', false)", 0};
    static const struct rt_sql lock = {"lock", "SELECT pg_advisory_lock(7)", 0};
    static const struct rt_sql look = {
        "look",
        "SELECT current_setting('work_mem') || (SELECT count(*) FROM pg_locks "
        "WHERE locktype = 'advisory') || (SELECT count(*) FROM pg_prepared_statements "
        "WHERE name NOT IN (SELECT name FROM pg_prepared_statements WHERE statement LIKE '%look%' "
        "OR statement LIKE '%fencepost.clock%'))",
        0};
    pg_fixture_install("CREATE TABLE t (id int)", NULL, 0);
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    send_ok(session, &spoil, NULL);
    send_ok(session, &lock, NULL);
    send_ok(session, &begin_sql, NULL);
    pg_session_close(session);
    struct pg_session *next = pg_session_open(pg_fixture_lane());
    assert_ptr_equal(next, session);
    send_ok(next, &look, NULL);
    assert_string_equal(cell(next), "4MB00");
}

static void test_session_cut_releases_its_locks_at_once(void **state)
{
    (void)state;
    static const struct rt_sql lock = {"lock", "SELECT pg_advisory_lock(7)", 0};
    pg_fixture_install("", NULL, 0);
    struct pg_session *first = pg_session_open(pg_fixture_lane());
    struct pg_session *second = pg_session_open(pg_fixture_lane());
    send_ok(first, &lock, NULL);
    assert_int_equal(send(second, &lock, NULL), PG_BLOCKED);
    pg_session_cut(first);
    assert_int_equal(pg_lane_settle(pg_fixture_lane()), ERR_OK);
    assert_true(pg_session_is_granted(second));
    assert_int_equal(pg_session_continue(second), PG_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_waiters_on_one_key_winner_follows_seed),
        cmocka_unit_test(test_session_without_parking_winner_is_anybody),
        cmocka_unit_test(test_session_deadlock_victim_follows_seed),
        cmocka_unit_test(test_session_unasked_deadlock_spoils_the_run),
        cmocka_unit_test(test_session_three_in_a_ring_only_victim_fails),
        cmocka_unit_test(test_session_gate_opens_race_between_snapshot_and_lock),
        cmocka_unit_test(test_session_without_gate_statement_looks_safe),
        cmocka_unit_test(test_session_gate_stops_at_every_call_of_a_statement),
        cmocka_unit_test(test_session_now_is_virtual_and_fixed_within_transaction),
        cmocka_unit_test(test_session_clock_survives_rollback_and_error),
        cmocka_unit_test(test_session_column_default_now_is_virtual),
        cmocka_unit_test(test_session_randomness_follows_seed),
        cmocka_unit_test(test_session_reused_is_as_new),
        cmocka_unit_test(test_session_cut_releases_its_locks_at_once),
    };
    return cmocka_run_group_tests_name("session", tests, pg_fixture_open, pg_fixture_close);
}
