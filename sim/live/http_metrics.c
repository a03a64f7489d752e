#include "sim/live/http_metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/core/json_out.h"

#define BEARER "Bearer "
#define RATE_DECIMALS 4
#define CONNECTION_COUNT_MAX 16U
#define CONNECTION_TIMEOUT_S 10U
/* From the first count to the last, whatever the time is. */
#define ALL_TIME_NS INT64_MAX

struct http_metrics {
    const struct metrics *metrics;
    const struct http_metrics_user *users;
    size_t user_count;
    struct MHD_Daemon *daemon;
};

/* ---- the body ---- */

static int64_t total(const struct metrics *metrics, const char *name)
{
    return metrics_sum(metrics, ALL_TIME_NS - 1, name, ALL_TIME_NS);
}

static void put_total(struct json_out *out, const struct metrics *metrics, const char *name)
{
    json_put_int(out, name, total(metrics, name));
}

static void put_rate(struct json_out *out, const char *name, int64_t part, int64_t rest)
{
    json_key(out, name);
    json_double(out, part + rest > 0 ? (double)part / (double)(part + rest) : 0, RATE_DECIMALS);
}

void http_metrics_write(const struct metrics *metrics, struct strbuf *out)
{
    struct json_out json;

    json_out_init(&json, out);
    json_object_begin(&json);
    put_total(&json, metrics, "cacheHits");
    put_total(&json, metrics, "cacheMisses");
    put_total(&json, metrics, "cacheRebuilds");
    put_total(&json, metrics, "lockAcquisitionSuccesses");
    put_total(&json, metrics, "lockAcquisitionFailures");
    put_total(&json, metrics, "gracePeriodApplications");
    put_rate(&json, "cacheHitRate", total(metrics, "cacheHits"), total(metrics, "cacheMisses"));
    put_rate(&json, "lockContentionRate", total(metrics, "lockAcquisitionFailures"),
             total(metrics, "lockAcquisitionSuccesses"));
    json_object_end(&json);
    json_out_finish(&json);
}

/* ---- who asks ---- */

/* Takes as long for a wrong token as for the right one of the same length. */
static bool is_token(const char *token, const char *given)
{
    size_t size = strlen(token);
    unsigned char difference = 0;

    if (strlen(given) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)(token[i] ^ given[i]);
    return difference == 0;
}

/* NULL: nobody that is known. */
static const struct http_metrics_user *find_user(const struct http_metrics *server,
                                                 const char *authorization)
{
    if (!authorization || strncasecmp(authorization, BEARER, strlen(BEARER)) != 0)
        return NULL;
    const char *given = authorization + strlen(BEARER);
    for (size_t i = 0; i < server->user_count; i++)
        if (is_token(server->users[i].token, given))
            return &server->users[i];
    return NULL;
}

static bool is_permitted(const struct http_metrics_user *user)
{
    for (const char *const *permission = user->permissions; *permission; permission++)
        if (strcmp(*permission, HTTP_METRICS_PERMISSION) == 0)
            return true;
    return false;
}

/* ---- answers ---- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
                              const char *body, const char *header, const char *value)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(body), (void *)body, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    enum MHD_Result added = MHD_add_response_header(response, "Content-Type", "application/json");
    if (added == MHD_YES && header)
        added = MHD_add_response_header(response, header, value);
    enum MHD_Result queued =
        added == MHD_YES ? MHD_queue_response(connection, status, response) : MHD_NO;
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result answer_metrics(const struct http_metrics *server,
                                      struct MHD_Connection *connection)
{
    struct strbuf body = STRBUF_INIT;
    http_metrics_write(server->metrics, &body);
    enum MHD_Result result =
        answer(connection, MHD_HTTP_OK, strbuf_str(&body), "Cache-Control", "no-store");
    strbuf_release(&body);
    return result;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request)
{
    const struct http_metrics *server = self;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)request;
    if (strcmp(url, HTTP_METRICS_PATH) != 0)
        return answer(connection, MHD_HTTP_NOT_FOUND, "{\"error\":\"not found\"}", NULL, NULL);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "{\"error\":\"method not allowed\"}",
                      "Allow", MHD_HTTP_METHOD_GET);
    const struct http_metrics_user *user = find_user(
        server, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"));
    if (!user)
        return answer(connection, MHD_HTTP_UNAUTHORIZED, "{\"error\":\"unauthorized\"}",
                      "WWW-Authenticate", "Bearer");
    if (!is_permitted(user))
        return answer(connection, MHD_HTTP_FORBIDDEN, "{\"error\":\"forbidden\"}", NULL, NULL);
    return answer_metrics(server, connection);
}

/* ---- the server ---- */

struct http_metrics *http_metrics_start(const struct metrics *metrics,
                                        const struct http_metrics_user *users, size_t user_count,
                                        struct strbuf *why)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    struct http_metrics *server = fp_alloc(sizeof *server);
    *server = (struct http_metrics){.metrics = metrics, .users = users, .user_count = user_count};
    server->daemon = MHD_start_daemon(
        MHD_NO_FLAG, 0, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, CONNECTION_COUNT_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_TIMEOUT_S, MHD_OPTION_END);
    if (server->daemon)
        return server;
    strbuf_printf(why, "the metrics endpoint cannot listen on 127.0.0.1: %s", strerror(errno));
    free(server);
    return NULL;
}

int http_metrics_port(const struct http_metrics *server)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    FP_ASSERT(info != NULL);
    return info->port;
}

bool http_metrics_serve(struct http_metrics *server, int wait_ms)
{
    FP_ASSERT(wait_ms >= 0);
    return MHD_run_wait(server->daemon, wait_ms) == MHD_YES;
}

void http_metrics_stop(struct http_metrics *server)
{
    if (!server)
        return;
    MHD_stop_daemon(server->daemon);
    free(server);
}
