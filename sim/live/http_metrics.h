/* The metrics endpoint of the analytics cache, for real: GET /api/v1/admin/usage/cache/metrics on
 * the loopback interface, with a bearer token that has the permission admin:usage.
 *
 * It has no thread of its own. Whoever runs it calls http_metrics_serve from its loop, as often as
 * there may be something to do; the counters are read there, from memory alone. */
#ifndef FENCEPOST_HTTP_METRICS_H
#define FENCEPOST_HTTP_METRICS_H

#include "sim/core/strbuf.h"
#include "sim/world/metrics.h"

#define HTTP_METRICS_PATH "/api/v1/admin/usage/cache/metrics"
#define HTTP_METRICS_PERMISSION "admin:usage"

/* Who may ask for what. */
struct http_metrics_user {
    const char *token;
    const char *const *permissions; /* ended by NULL */
};

struct http_metrics;

/* Listen on 127.0.0.1, on a port that the system picks. `metrics` and `users` stay the caller's and
 * outlive the server. NULL: it cannot; `why` says why. */
struct http_metrics *http_metrics_start(const struct metrics *metrics,
                                        const struct http_metrics_user *users, size_t user_count,
                                        struct strbuf *why);
int http_metrics_port(const struct http_metrics *server);
/* Answer what has come. Waits up to `wait_ms` for something to come. False: it cannot go on. */
bool http_metrics_serve(struct http_metrics *server, int wait_ms);
/* Connections that are open are closed. NULL is allowed. */
void http_metrics_stop(struct http_metrics *server);

/* The answer's body: the document's six counters and two rates. A rate of nothing is 0. */
void http_metrics_write(const struct metrics *metrics, struct strbuf *out);

#endif
