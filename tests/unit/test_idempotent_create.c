#define CHECK_FIXTURE_INVARIANT "idempotent_create"
#include "tests/lib/check_fixture.h"

static void order(const char *op, const char *id, const char *key, const char *content)
{
    next_commit();
    trace_event(fixture.trace, "row", "client-1", "table", "orders", "op", op, "id", id, "key", key,
                "content", content, NULL);
}

static void answered(const char *who, const char *key, const char *content, const char *id)
{
    next_commit();
    trace_event(fixture.trace, "order.answered", who, "key", key, "content", content, "id", id,
                NULL);
}

static void test_idempotent_create_same_answer_twice_passes(void **state)
{
    (void)state;
    order("insert", "r1", "k1", "tea");
    order("insert", "r2", "k2", "tea");
    answered("client-1", "k1", "tea", "r1");
    answered("client-2", "k1", "tea", "r1");
    answered("client-1", "k2", "tea", "r2");
    end_run(true);
    assert_holds();
}

static void test_idempotent_create_two_rows_fail(void **state)
{
    (void)state;
    order("insert", "r1", "k1", "tea");
    order("insert", "r2", "k1", "tea");
    assert_holds(); /* the commit may have more to say */
    next_commit();
    assert_broken("key k1 has made two rows of orders at 0s: r1 and r2");
}

static void test_idempotent_create_row_replaced_in_one_commit_passes(void **state)
{
    (void)state;
    order("insert", "r1", "k1", "tea");
    next_commit();
    trace_event(fixture.trace, "row", "client-1", "table", "orders", "op", "insert", "id", "r2",
                "key", "k1", "content", "tea", NULL);
    trace_event(fixture.trace, "row", "client-1", "table", "orders", "op", "delete", "id", "r1",
                "key", "k1", "content", "tea", NULL);
    end_run(true);
    assert_holds();
}

static void test_idempotent_create_other_answer_fails(void **state)
{
    (void)state;
    order("insert", "r1", "k1", "tea");
    answered("client-1", "k1", "tea", "r1");
    order("delete", "r1", "k1", "tea");
    order("insert", "r2", "k1", "tea");
    later(NS_PER_MIN);
    answered("client-2", "k1", "tea", "r2");
    assert_broken("client-2 was answered r2 for key k1 at 1m, and client-1 was answered r1 at 0s");
}

static void test_idempotent_create_answer_without_row_fails(void **state)
{
    (void)state;
    answered("client-1", "k1", "tea", "r1");
    assert_broken("client-1 was answered r1 for key k1 at 0s, and there is no such row");
}

static void test_idempotent_create_row_of_another_key_fails(void **state)
{
    (void)state;
    order("insert", "r1", "k1", "tea");
    answered("client-1", "k2", "tea", "r1");
    assert_broken("and there is no such row");
}

static void test_idempotent_create_other_content_fails(void **state)
{
    (void)state;
    order("insert", "r1", "k1", "tea");
    answered("client-1", "k1", "tea", "r1");
    answered("client-2", "k1", "milk", "r1");
    assert_broken("client-2 asked for milk with key k1 and was answered r1 at 0s, which was made "
                  "for tea");
}

static void test_idempotent_create_unreadable_answer_is_unknown(void **state)
{
    (void)state;
    trace_event(fixture.trace, "order.answered", "client-1", "key", "k1", NULL);
    assert_int_equal(checks_verdict(fixture.checks), VERDICT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_idempotent_create_same_answer_twice_passes),
        CHECK_TEST(test_idempotent_create_two_rows_fail),
        CHECK_TEST(test_idempotent_create_row_replaced_in_one_commit_passes),
        CHECK_TEST(test_idempotent_create_other_answer_fails),
        CHECK_TEST(test_idempotent_create_answer_without_row_fails),
        CHECK_TEST(test_idempotent_create_row_of_another_key_fails),
        CHECK_TEST(test_idempotent_create_other_content_fails),
        CHECK_TEST(test_idempotent_create_unreadable_answer_is_unknown),
    };
    return cmocka_run_group_tests_name("idempotent_create", tests, NULL, NULL);
}
