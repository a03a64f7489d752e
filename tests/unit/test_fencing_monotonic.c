#define CHECK_FIXTURE_INVARIANT "fencing_monotonic"
#include "tests/lib/check_fixture.h"

static void effect(const char *resource, const char *token, const char *accepted)
{
    trace_event(fixture.trace, "effect.start", "worker-1", "resource", resource, "token", token,
                "accepted", accepted, NULL);
}

static void token_of_cluster(const char *token, const char *was)
{
    trace_event(fixture.trace, "row", "worker-1", "table", "clusters", "op", "update", "id", "demo",
                "status", "READY", "token", token, "was.token", was, NULL);
}

static void test_fencing_monotonic_growing_tokens_pass(void **state)
{
    (void)state;
    effect("demo", "1", "yes");
    effect("demo", "1", "yes");
    effect("demo", "2", "yes");
    lock("insert", "demo", "j1", "1", 0);
    lock("delete", "demo", "j1", "1", 0);
    lock("insert", "demo", "j2", "2", 0);
    token_of_cluster("10", "9");
    assert_holds();
}

static void test_fencing_monotonic_lower_effect_accepted_fails(void **state)
{
    (void)state;
    effect("demo", "10", "yes");
    effect("demo", "9", "yes");
    assert_broken("with token 9 was accepted at 0s, after one with token 10");
}

static void test_fencing_monotonic_lower_effect_refused_passes(void **state)
{
    (void)state;
    effect("demo", "2", "yes");
    effect("demo", "1", "no");
    assert_holds();
}

static void test_fencing_monotonic_other_resource_passes(void **state)
{
    (void)state;
    effect("demo", "2", "yes");
    effect("other", "1", "yes");
    lock("insert", "demo", "j1", "2", 0);
    lock("insert", "other", "j2", "1", 0);
    assert_holds();
}

static void test_fencing_monotonic_without_token_passes(void **state)
{
    (void)state;
    effect("demo", "2", "yes");
    effect("demo", "0", "yes");
    lock("insert", "demo", "j1", "0", 0);
    lock("insert", "demo", "j2", "0", 0);
    assert_holds();
}

static void test_fencing_monotonic_lock_with_the_same_token_fails(void **state)
{
    (void)state;
    lock("insert", "demo", "j1", "3", 0);
    lock("delete", "demo", "j1", "3", 0);
    lock("insert", "demo", "j2", "3", 0);
    assert_broken("with token 3, and there had been one with 3");
}

static void test_fencing_monotonic_renewal_passes(void **state)
{
    (void)state;
    lock("insert", "demo", "j1", "3", 0);
    lock("update", "demo", "j1", "3", NS_PER_HOUR);
    assert_holds();
}

static void test_fencing_monotonic_token_set_back_fails(void **state)
{
    (void)state;
    token_of_cluster("9", "10");
    assert_broken("set a token from 10 back to 9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_fencing_monotonic_growing_tokens_pass),
        CHECK_TEST(test_fencing_monotonic_lower_effect_accepted_fails),
        CHECK_TEST(test_fencing_monotonic_lower_effect_refused_passes),
        CHECK_TEST(test_fencing_monotonic_other_resource_passes),
        CHECK_TEST(test_fencing_monotonic_without_token_passes),
        CHECK_TEST(test_fencing_monotonic_lock_with_the_same_token_fails),
        CHECK_TEST(test_fencing_monotonic_renewal_passes),
        CHECK_TEST(test_fencing_monotonic_token_set_back_fails),
    };
    return cmocka_run_group_tests_name("fencing_monotonic", tests, NULL, NULL);
}
