/* The metrics endpoint, asked over HTTP by libcurl. Server and client share one thread and one
 * loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <curl/curl.h>
#include <jansson.h>

#include "sim/live/http_metrics.h"

#define ROUND_COUNT_MAX 20000
#define ROUND_WAIT_MS 5

static const char *const reader_permissions[] = {"admin:users", "usage", NULL};
static const char *const admin_permissions[] = {"admin:users", "admin:usage", NULL};
static const struct http_metrics_user users[] = {
    {"reader-token", reader_permissions},
    {"admin-token", admin_permissions},
};

struct world {
    struct metrics *metrics;
    struct http_metrics *server;
};

/* The numbers of the document's sample. */
static void count_sample(struct metrics *metrics)
{
    metrics_count(metrics, 0, "cacheHits", NULL, NULL, 100);
    metrics_count(metrics, 1, "cacheHits", NULL, NULL, 50);
    metrics_count(metrics, 2, "cacheMisses", NULL, NULL, 10);
    metrics_count(metrics, 3, "cacheRebuilds", NULL, NULL, 9);
    metrics_count(metrics, 4, "lockAcquisitionSuccesses", NULL, NULL, 9);
    metrics_count(metrics, 5, "lockAcquisitionFailures", NULL, NULL, 1);
    metrics_count(metrics, 6, "gracePeriodApplications", NULL, NULL, 2);
}

static int set_up(void **state)
{
    static struct world world;
    struct strbuf why = STRBUF_INIT;
    world.metrics = metrics_new();
    world.server = http_metrics_start(world.metrics, users, FP_COUNT(users), &why);
    strbuf_release(&why);
    *state = &world;
    return world.server != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    http_metrics_stop(world->server);
    metrics_free(world->metrics);
    return 0;
}

/* ---- asking ---- */

static size_t take_bytes(char *bytes, size_t size, size_t count, void *self)
{
    strbuf_add(self, bytes, size * count);
    return size * count;
}

/* Both sides go on in turns, until the client has its answer. */
static void exchange(struct world *world, CURL *curl)
{
    CURLM *multi = curl_multi_init();
    int running = 1;
    curl_multi_add_handle(multi, curl);
    for (int i = 0; i < ROUND_COUNT_MAX && running > 0; i++) {
        assert_int_equal(curl_multi_perform(multi, &running), CURLM_OK);
        assert_true(http_metrics_serve(world->server, running > 0 ? ROUND_WAIT_MS : 0));
    }
    assert_int_equal(running, 0);
    curl_multi_remove_handle(multi, curl);
    curl_multi_cleanup(multi);
}

/* The status; `body` is what came with it. `authorization` may be NULL. */
static long ask(struct world *world, const char *method, const char *path,
                const char *authorization, struct strbuf *body)
{
    CURL *curl = curl_easy_init();
    char *url = fp_format("http://127.0.0.1:%d%s", http_metrics_port(world->server), path);
    char *header = fp_format("Authorization: %s", authorization ? authorization : "");
    struct curl_slist *headers = authorization ? curl_slist_append(NULL, header) : NULL;
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    exchange(world, curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    free(header);
    free(url);
    return status;
}

static void assert_status(struct world *world, const char *method, const char *path,
                          const char *authorization, long expected)
{
    struct strbuf body = STRBUF_INIT;
    assert_int_equal(ask(world, method, path, authorization, &body), expected);
    assert_null(strstr(strbuf_str(&body), "cacheHits"));
    strbuf_release(&body);
}

static json_t *ask_metrics(struct world *world)
{
    struct strbuf body = STRBUF_INIT;
    assert_int_equal(ask(world, "GET", HTTP_METRICS_PATH, "Bearer admin-token", &body), 200);
    json_t *answer = json_loads(strbuf_str(&body), 0, NULL);
    strbuf_release(&body);
    assert_non_null(answer);
    return answer;
}

static void assert_number(const json_t *answer, const char *key, double expected)
{
    const json_t *value = json_object_get(answer, key);
    assert_true(json_is_number(value));
    assert_true(json_number_value(value) > expected - 1e-9);
    assert_true(json_number_value(value) < expected + 1e-9);
}

/* ---- tests ---- */

static void test_http_metrics_without_token_is_401(void **state)
{
    assert_status(*state, "GET", HTTP_METRICS_PATH, NULL, 401);
    assert_status(*state, "GET", HTTP_METRICS_PATH, "Bearer ", 401);
    assert_status(*state, "GET", HTTP_METRICS_PATH, "Bearer admin-toke", 401);
    assert_status(*state, "GET", HTTP_METRICS_PATH, "Bearer admin-tokens", 401);
    assert_status(*state, "GET", HTTP_METRICS_PATH, "Bearer admin-tokem", 401);
    assert_status(*state, "GET", HTTP_METRICS_PATH, "Basic admin-token", 401);
    assert_status(*state, "GET", HTTP_METRICS_PATH, "admin-token", 401);
}

static void test_http_metrics_without_permission_is_403(void **state)
{
    assert_status(*state, "GET", HTTP_METRICS_PATH, "Bearer reader-token", 403);
}

static void test_http_metrics_gives_counters_and_rates(void **state)
{
    struct world *world = *state;
    count_sample(world->metrics);
    json_t *answer = ask_metrics(world);
    assert_int_equal(json_object_size(answer), 8);
    assert_number(answer, "cacheHits", 150);
    assert_number(answer, "cacheMisses", 10);
    assert_number(answer, "cacheRebuilds", 9);
    assert_number(answer, "lockAcquisitionSuccesses", 9);
    assert_number(answer, "lockAcquisitionFailures", 1);
    assert_number(answer, "gracePeriodApplications", 2);
    assert_number(answer, "cacheHitRate", 0.9375);
    assert_number(answer, "lockContentionRate", 0.1);
    json_decref(answer);
}

static void test_http_metrics_of_nothing_are_zero(void **state)
{
    json_t *answer = ask_metrics(*state);
    assert_number(answer, "cacheHits", 0);
    assert_number(answer, "cacheHitRate", 0);
    assert_number(answer, "lockContentionRate", 0);
    json_decref(answer);
}

static void test_http_metrics_are_those_of_the_moment(void **state)
{
    struct world *world = *state;
    json_decref(ask_metrics(world));
    count_sample(world->metrics);
    json_t *answer = ask_metrics(world);
    assert_number(answer, "cacheHits", 150);
    json_decref(answer);
}

static void test_http_metrics_other_path_is_404(void **state)
{
    assert_status(*state, "GET", "/", "Bearer admin-token", 404);
    assert_status(*state, "GET", HTTP_METRICS_PATH "/", "Bearer admin-token", 404);
    assert_status(*state, "GET", "/api/v1/admin/usage/cache", NULL, 404);
}

static void test_http_metrics_other_method_is_405(void **state)
{
    assert_status(*state, "POST", HTTP_METRICS_PATH, "Bearer admin-token", 405);
    assert_status(*state, "DELETE", HTTP_METRICS_PATH, "Bearer admin-token", 405);
}

/* With a connection of a client that is still open. */
static void test_http_metrics_stops_and_starts_again(void **state)
{
    struct world *world = *state;
    struct strbuf why = STRBUF_INIT, body = STRBUF_INIT;
    CURL *curl = curl_easy_init();
    CURLM *multi = curl_multi_init();
    char *url = fp_format("http://127.0.0.1:%d/", http_metrics_port(world->server));
    int running;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    curl_multi_add_handle(multi, curl);
    assert_int_equal(curl_multi_perform(multi, &running), CURLM_OK);
    assert_true(http_metrics_serve(world->server, ROUND_WAIT_MS));
    http_metrics_stop(world->server);
    world->server = http_metrics_start(world->metrics, users, FP_COUNT(users), &why);
    assert_non_null(world->server);
    json_decref(ask_metrics(world));
    curl_multi_remove_handle(multi, curl);
    curl_multi_cleanup(multi);
    curl_easy_cleanup(curl);
    free(url);
    strbuf_release(&body);
    strbuf_release(&why);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_http_metrics_without_token_is_401),
        TEST(test_http_metrics_without_permission_is_403),
        TEST(test_http_metrics_gives_counters_and_rates),
        TEST(test_http_metrics_of_nothing_are_zero),
        TEST(test_http_metrics_are_those_of_the_moment),
        TEST(test_http_metrics_other_path_is_404),
        TEST(test_http_metrics_other_method_is_405),
        TEST(test_http_metrics_stops_and_starts_again),
    };
    return cmocka_run_group_tests_name("http_metrics", tests, NULL, NULL);
}
