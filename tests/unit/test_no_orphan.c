#define CHECK_FIXTURE_INVARIANT "no_orphan"
#include "tests/lib/check_fixture.h"

static void part(const char *maker)
{
    trace_event(fixture.trace, "world.resource", "cloud", "resource", "demo.aws.example.com", "dns",
                maker, NULL);
}

static void create(const char *result, const char *for_cluster, const char *maker)
{
    trace_event(fixture.trace, "effect.start", "worker-1", "resource", "demo.aws.example.com",
                "part", "dns", "op", "create", "cluster", for_cluster, "result", result,
                maker ? "made_by" : NULL, maker, NULL);
}

static void test_no_orphan_part_of_ready_passes(void **state)
{
    (void)state;
    cluster("insert", "demo", "READY", NULL);
    part("demo");
    end_run(true);
    assert_holds();
}

static void test_no_orphan_part_of_destroyed_fails(void **state)
{
    (void)state;
    cluster("insert", "demo", "DESTROYED", NULL);
    part("demo");
    assert_holds();
    end_run(true);
    assert_broken("dns of demo.aws.example.com is an orphan: it was made for demo, which is "
                  "DESTROYED at the end");
}

static void test_no_orphan_part_of_nobody_fails(void **state)
{
    (void)state;
    part("demo");
    end_run(true);
    assert_broken("which does not exist");
}

static void test_no_orphan_without_rest_says_nothing(void **state)
{
    (void)state;
    cluster("insert", "demo", "DESTROYED", NULL);
    part("demo");
    end_run(false);
    assert_holds();
}

static void test_no_orphan_create_meets_leftover_of_another_fails(void **state)
{
    (void)state;
    create("ERR_CLOUD_EXISTS", "again", "demo");
    assert_broken(
        "wanted to create dns of demo.aws.example.com for again at 0s and found what demo "
        "had left");
}

static void test_no_orphan_create_meets_its_own_passes(void **state)
{
    (void)state;
    create("ERR_CLOUD_EXISTS", "demo", "demo");
    create("ERR_CLOUD_EXISTS", "demo", NULL);
    create("ERR_OK", "demo", NULL);
    assert_holds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_no_orphan_part_of_ready_passes),
        CHECK_TEST(test_no_orphan_part_of_destroyed_fails),
        CHECK_TEST(test_no_orphan_part_of_nobody_fails),
        CHECK_TEST(test_no_orphan_without_rest_says_nothing),
        CHECK_TEST(test_no_orphan_create_meets_leftover_of_another_fails),
        CHECK_TEST(test_no_orphan_create_meets_its_own_passes),
    };
    return cmocka_run_group_tests_name("no_orphan", tests, NULL, NULL);
}
