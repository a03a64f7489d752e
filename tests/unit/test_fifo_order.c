#define CHECK_FIXTURE_INVARIANT "fifo_order"
#include "tests/lib/check_fixture.h"

static void submit(const char *id, const char *group)
{
    job("insert", id, group, "CREATE", "PENDING", NULL, NULL);
}

static void start(const char *id, const char *group)
{
    job("update", id, group, "CREATE", "RUNNING", NULL, "PENDING");
}

/* A retry of j1. */
static void retry(const char *op, const char *id, const char *status, const char *was)
{
    trace_event(fixture.trace, "row", "janitor-1", "table", "jobs", "op", op, "id", id,
                "cluster_id", "demo", "type", "CREATE", "status", status, "error_code", NULL,
                "group", "demo", "root", "j1", was ? "was.status" : NULL, was, NULL);
}

static void test_fifo_order_in_order_passes(void **state)
{
    (void)state;
    submit("j1", "demo");
    submit("j2", "demo");
    start("j1", "demo");
    start("j2", "demo");
    assert_holds();
}

static void test_fifo_order_overtaking_fails(void **state)
{
    (void)state;
    submit("j1", "demo");
    submit("j2", "demo");
    start("j2", "demo");
    assert_broken("job j2 of group demo started at 0s before job j1");
}

static void test_fifo_order_after_the_first_has_ended_passes(void **state)
{
    (void)state;
    submit("j1", "demo");
    submit("j2", "demo");
    job("update", "j1", "demo", "CREATE", "FAILED", "X", "PENDING");
    start("j2", "demo");
    assert_holds();
}

static void test_fifo_order_of_other_group_passes(void **state)
{
    (void)state;
    submit("j1", "demo");
    submit("j2", "other");
    start("j2", "other");
    assert_holds();
}

static void test_fifo_order_retries_are_left_alone(void **state)
{
    (void)state;
    submit("j1", "demo");
    start("j1", "demo");
    submit("j2", "demo");
    retry("insert", "j1r", "PENDING", NULL);
    submit("j3", "demo");
    retry("update", "j1r", "RUNNING", "PENDING");
    start("j2", "demo");
    retry("insert", "j1s", "PENDING", NULL);
    submit("j4", "demo");
    start("j3", "demo");
    start("j4", "demo");
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_fifo_order_in_order_passes),
        CHECK_TEST(test_fifo_order_overtaking_fails),
        CHECK_TEST(test_fifo_order_after_the_first_has_ended_passes),
        CHECK_TEST(test_fifo_order_of_other_group_passes),
        CHECK_TEST(test_fifo_order_retries_are_left_alone),
    };
    return cmocka_run_group_tests_name("fifo_order", tests, NULL, NULL);
}
