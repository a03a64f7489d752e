#include "tests/lib/between.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "sim/core/walltext.h"
#include "sim/pg/helper.h"

const struct rt_sql begin_sql = {"begin", "BEGIN", 0};
const struct rt_sql commit_sql = {"commit", "COMMIT", 0};
const struct rt_sql rollback_sql = {"rollback", "ROLLBACK", 0};

enum pg_answer between_send(struct pg_session *session, const struct rt_sql *sql, const char *param)
{
    return pg_session_send(session, sql, &param, VIRTUAL_EPOCH_NS);
}

const char *between_ask(struct pg_session *session, const struct rt_sql *sql, const char *param)
{
    assert_int_equal(between_send(session, sql, param), PG_DONE);
    const struct pg_result *result = pg_session_result(session);
    if (!result->ok)
        fail_msg("%s: %s", sql->name, result->message);
    return result->rows.row_count > 0 ? rt_cell(&result->rows, 0, 0) : "";
}

void between_signal(int pid, int number)
{
    siginfo_t info;
    assert_true(pid > 0);
    assert_int_equal(kill(pid, number), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT), 0);
}

void between_is_spoilt_and_heals(void)
{
    static const struct rt_sql one_sql = {"one", "SELECT 1", 0};
    assert_true(pg_lane_spoilt(pg_fixture_lane()));
    pg_fixture_slate();
    assert_false(pg_lane_spoilt(pg_fixture_lane()));
    struct pg_session *session = pg_session_open(pg_fixture_lane());
    assert_non_null(session);
    assert_string_equal(between_ask(session, &one_sql, NULL), "1");
    pg_session_close(session);
}

int between_main(const char *const *names, const char *how_to_get_it, int (*run)(void))
{
    char *program = helper_find(NULL, names);
    if (!program) {
        printf("ok - %s # SKIP there is no %s: %s\n", names[0], names[0], how_to_get_it);
        return 77;
    }
    free(program);
    return run();
}
