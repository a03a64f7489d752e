#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/world/store.h"

static int set_up(void **state)
{
    *state = store_new();
    return 0;
}

static int tear_down(void **state)
{
    store_free(*state);
    return 0;
}

static struct rt_claim claim(int64_t token)
{
    return (struct rt_claim){.cluster_id = "c1", .job_id = "j1", .run = 3, .token = token};
}

static enum err put(struct store *store, const char *key, const char *content, int64_t token)
{
    struct rt_claim by = claim(token);

    return store_put(store, 0, key, content, &by, "worker-1.1", NULL);
}

static enum err drop(struct store *store, const char *key, int64_t token)
{
    struct rt_claim by = claim(token);

    return store_delete(store, 0, key, &by, "worker-1.1");
}

static void assert_content(struct store *store, const char *key, int64_t number,
                           const char *content)
{
    const struct store_version *version;

    assert_int_equal(store_get(store, key, number, &version), ERR_OK);
    assert_string_equal(version->content, content);
}

static void assert_absent(struct store *store, const char *key, int64_t number)
{
    const struct store_version *version;

    assert_int_equal(store_get(store, key, number, &version), ERR_STORE_ABSENT);
    assert_null(version);
}

static void test_store_put_numbers_versions_per_object(void **state)
{
    struct rt_claim by = claim(0);
    int64_t number;

    assert_int_equal(store_put(*state, 0, "a", "1", &by, "w", &number), ERR_OK);
    assert_int_equal(number, 1);
    assert_int_equal(store_put(*state, 0, "a", "2", &by, "w", &number), ERR_OK);
    assert_int_equal(number, 2);
    assert_int_equal(store_put(*state, 0, "b", "3", &by, "w", &number), ERR_OK);
    assert_int_equal(number, 1);
}

static void test_store_get_gives_latest_or_the_version_asked_for(void **state)
{
    assert_int_equal(put(*state, "a", "old", 0), ERR_OK);
    assert_int_equal(put(*state, "b", "other", 0), ERR_OK);
    assert_int_equal(put(*state, "a", "new", 0), ERR_OK);
    assert_content(*state, "a", STORE_LATEST, "new");
    assert_content(*state, "a", 1, "old");
    assert_content(*state, "a", 2, "new");
    assert_content(*state, "b", 1, "other");
    assert_absent(*state, "a", 3);
    assert_absent(*state, "none", STORE_LATEST);
}

static void test_store_version_remembers_who_and_when(void **state)
{
    struct rt_claim by = claim(9);
    const struct store_version *version;

    assert_int_equal(store_put(*state, 42, "a", "x", &by, "worker-2.3", NULL), ERR_OK);
    version = store_version(*state, 0);
    assert_int_equal(version->written_ns, 42);
    assert_string_equal(version->by.cluster_id, "c1");
    assert_string_equal(version->by.job_id, "j1");
    assert_string_equal(version->by.instance, "worker-2.3");
    assert_int_equal(version->by.run, 3);
    assert_int_equal(version->by.token, 9);
}

static void test_store_delete_hides_object_and_keeps_versions(void **state)
{
    assert_int_equal(put(*state, "a", "1", 0), ERR_OK);
    assert_int_equal(drop(*state, "a", 0), ERR_OK);
    assert_absent(*state, "a", STORE_LATEST);
    assert_absent(*state, "a", 2);
    assert_content(*state, "a", 1, "1");
    assert_int_equal(store_object_version_count(*state, 0), 2);
    assert_true(store_version(*state, 1)->deleted);
}

static void test_store_put_after_delete_brings_object_back(void **state)
{
    assert_int_equal(put(*state, "a", "1", 0), ERR_OK);
    assert_int_equal(drop(*state, "a", 0), ERR_OK);
    assert_int_equal(put(*state, "a", "2", 0), ERR_OK);
    assert_content(*state, "a", STORE_LATEST, "2");
    assert_content(*state, "a", 3, "2");
}

static void test_store_delete_of_absent_object_is_absent(void **state)
{
    assert_int_equal(drop(*state, "a", 0), ERR_STORE_ABSENT);
    assert_int_equal(put(*state, "a", "1", 0), ERR_OK);
    assert_int_equal(drop(*state, "a", 0), ERR_OK);
    assert_int_equal(drop(*state, "a", 0), ERR_STORE_ABSENT);
    assert_int_equal(store_version_count(*state), 2);
}

static void test_store_lower_token_is_fenced(void **state)
{
    assert_int_equal(put(*state, "a", "new owner", 6), ERR_OK);
    assert_int_equal(put(*state, "a", "old owner", 5), ERR_FENCED);
    assert_int_equal(drop(*state, "a", 5), ERR_FENCED);
    assert_content(*state, "a", STORE_LATEST, "new owner");
    assert_int_equal(put(*state, "a", "again", 6), ERR_OK);
    assert_int_equal(put(*state, "a", "next", 7), ERR_OK);
    assert_int_equal(store_object_token(*state, 0), 7);
    assert_int_equal(store_version_count(*state), 3);
}

static void test_store_delete_raises_token(void **state)
{
    assert_int_equal(put(*state, "a", "1", 1), ERR_OK);
    assert_int_equal(drop(*state, "a", 4), ERR_OK);
    assert_int_equal(put(*state, "a", "2", 3), ERR_FENCED);
    assert_absent(*state, "a", STORE_LATEST);
}

static void test_store_token_zero_is_not_fenced(void **state)
{
    assert_int_equal(put(*state, "a", "1", 6), ERR_OK);
    assert_int_equal(put(*state, "a", "2", 0), ERR_OK);
    assert_content(*state, "a", STORE_LATEST, "2");
    assert_int_equal(put(*state, "a", "3", 5), ERR_FENCED);
}

static void test_store_reader_shows_its_token(void **state)
{
    assert_int_equal(put(*state, "a", "1", 0), ERR_OK);
    assert_int_equal(store_show_token(*state, "a", 6), ERR_OK);
    assert_int_equal(store_show_token(*state, "a", 5), ERR_FENCED);
    assert_int_equal(put(*state, "a", "2", 5), ERR_FENCED);
    assert_int_equal(store_show_token(*state, "a", 0), ERR_OK);
    assert_int_equal(store_show_token(*state, "a", 6), ERR_OK);
}

static void test_store_token_is_kept_for_an_absent_object(void **state)
{
    assert_int_equal(store_show_token(*state, "a", 6), ERR_OK);
    assert_absent(*state, "a", STORE_LATEST);
    assert_int_equal(store_list(*state, "", NULL, 0), 0);
    assert_int_equal(store_show_token(*state, "a", 5), ERR_FENCED);
    assert_int_equal(put(*state, "a", "1", 5), ERR_FENCED);
    assert_int_equal(put(*state, "a", "1", 7), ERR_OK);
    assert_content(*state, "a", STORE_LATEST, "1");
}

static void test_store_tokens_of_objects_are_apart(void **state)
{
    assert_int_equal(put(*state, "a", "1", 6), ERR_OK);
    assert_int_equal(put(*state, "b", "1", 2), ERR_OK);
}

static void test_store_list_is_sorted_and_skips_deleted(void **state)
{
    const char *keys[4] = {NULL};

    assert_int_equal(put(*state, "demo/state", "1", 0), ERR_OK);
    assert_int_equal(put(*state, "demo/auth", "1", 0), ERR_OK);
    assert_int_equal(put(*state, "other/auth", "1", 0), ERR_OK);
    assert_int_equal(put(*state, "demo/gone", "1", 0), ERR_OK);
    assert_int_equal(drop(*state, "demo/gone", 0), ERR_OK);
    assert_int_equal(store_list(*state, "demo/", keys, 4), 2);
    assert_string_equal(keys[0], "demo/auth");
    assert_string_equal(keys[1], "demo/state");
    assert_int_equal(store_list(*state, "", keys, 4), 3);
    assert_string_equal(keys[2], "other/auth");
}

static void test_store_list_fills_no_more_than_asked(void **state)
{
    const char *keys[2] = {NULL, "untouched"};

    assert_int_equal(put(*state, "a", "1", 0), ERR_OK);
    assert_int_equal(put(*state, "b", "1", 0), ERR_OK);
    assert_int_equal(store_list(*state, "", keys, 1), 2);
    assert_string_equal(keys[0], "a");
    assert_string_equal(keys[1], "untouched");
}

static void test_store_reports_objects_in_order_of_first_put(void **state)
{
    assert_int_equal(put(*state, "z", "1", 0), ERR_OK);
    assert_int_equal(put(*state, "a", "1", 0), ERR_OK);
    assert_int_equal(put(*state, "z", "2", 0), ERR_OK);
    assert_int_equal(store_object_count(*state), 2);
    assert_string_equal(store_object_key(*state, 0), "z");
    assert_string_equal(store_object_key(*state, 1), "a");
    assert_int_equal(store_version(*state, 2)->object, 0);
    assert_int_equal(store_version(*state, 2)->number, 2);
}

static void test_store_full_refuses_to_put(void **state)
{
    for (int i = 0; i < STORE_OBJECT_COUNT_MAX; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%d", i);
        assert_int_equal(put(*state, key, "1", 0), ERR_OK);
    }
    assert_int_equal(put(*state, "one more", "1", 0), ERR_INFRASTRUCTURE);
    assert_int_equal(put(*state, "7", "2", 0), ERR_OK);
}

static void test_store_reset_forgets_everything(void **state)
{
    assert_int_equal(put(*state, "a", "1", 6), ERR_OK);
    store_reset(*state);
    assert_absent(*state, "a", STORE_LATEST);
    assert_int_equal(store_version_count(*state), 0);
    assert_int_equal(put(*state, "a", "2", 1), ERR_OK);
    assert_content(*state, "a", 1, "2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_store_put_numbers_versions_per_object),
        TEST(test_store_get_gives_latest_or_the_version_asked_for),
        TEST(test_store_version_remembers_who_and_when),
        TEST(test_store_delete_hides_object_and_keeps_versions),
        TEST(test_store_put_after_delete_brings_object_back),
        TEST(test_store_delete_of_absent_object_is_absent),
        TEST(test_store_lower_token_is_fenced),
        TEST(test_store_delete_raises_token),
        TEST(test_store_token_zero_is_not_fenced),
        TEST(test_store_reader_shows_its_token),
        TEST(test_store_token_is_kept_for_an_absent_object),
        TEST(test_store_tokens_of_objects_are_apart),
        TEST(test_store_list_is_sorted_and_skips_deleted),
        TEST(test_store_list_fills_no_more_than_asked),
        TEST(test_store_reports_objects_in_order_of_first_put),
        TEST(test_store_full_refuses_to_put),
        TEST(test_store_reset_forgets_everything),
    };

    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
