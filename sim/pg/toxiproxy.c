#include "sim/pg/toxiproxy.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pg/docker_session.h"
#include "sim/pg/helper.h"
#include "sim/pg/loopback.h"
#include "sim/pg/spawn.h"

#define CALL_TIMEOUT_MS 5000
#define START_TIMEOUT_MS 30000
#define START_PAUSE_MS 5
#define ANSWER_SIZE_MAX 65536
#define CONTAINER_WORD "docker"
#define IMAGE_DEFAULT "ghcr.io/shopify/toxiproxy:2.12.0"

/* Of the containers, when there are any. Lanes have it from the fork. */
static char *prepared_image;

struct toxiproxy {
    struct helper helper;
    CURL *curl;
    char *host;
    int port;
    int64_t added_count;
};

/* ---- its API ---- */

static size_t take_bytes(char *bytes, size_t size, size_t count, void *self)
{
    struct strbuf *answer = self;
    if (answer->size + size * count > ANSWER_SIZE_MAX)
        return 0;
    strbuf_add(answer, bytes, size * count);
    return size * count;
}

/* Proxies of the environment are for the world outside. */
static void prepare(struct toxiproxy *toxiproxy, const char *method, const char *path,
                    const char *body, struct strbuf *answer)
{
    CURL *curl = toxiproxy->curl;
    char *url = fp_format("http://%s:%d%s", toxiproxy->host, toxiproxy->port, path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    if (body)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)CALL_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    free(url);
}

static enum err call(struct toxiproxy *toxiproxy, const char *method, const char *path,
                     const char *body, struct strbuf *answer, struct strbuf *why)
{
    long status = 0;
    prepare(toxiproxy, method, path, body, answer);
    CURLcode code = curl_easy_perform(toxiproxy->curl);
    if (code == CURLE_OK)
        curl_easy_getinfo(toxiproxy->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status >= 200 && status < 300)
        return ERR_OK;
    strbuf_printf(why, "toxiproxy does not do %s %s: ", method, path);
    if (code != CURLE_OK)
        strbuf_puts(why, curl_easy_strerror(code));
    else
        strbuf_printf(why, "%ld %s", status, strbuf_str(answer));
    return ERR_INFRASTRUCTURE;
}

bool toxiproxy_lives(struct toxiproxy *toxiproxy)
{
    return helper_lives(&toxiproxy->helper);
}

/* On a new connection: a process that is just being killed may still answer on an old one. */
bool toxiproxy_is_well(struct toxiproxy *toxiproxy)
{
    struct strbuf answer = STRBUF_INIT;
    if (!toxiproxy_lives(toxiproxy))
        return false;
    prepare(toxiproxy, "GET", "/version", NULL, &answer);
    curl_easy_setopt(toxiproxy->curl, CURLOPT_FRESH_CONNECT, 1L);
    bool well = curl_easy_perform(toxiproxy->curl) == CURLE_OK && answer.size > 0;
    strbuf_release(&answer);
    return well && toxiproxy_lives(toxiproxy);
}

/* ---- beginning and end ---- */

static enum err check_program(const char *program, struct strbuf *why)
{
    static const char banner[] = "toxiproxy-server version ";
    const char *const argv[] = {program, "-version", NULL};
    struct spawn spawn = {
        .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .cpu = -1};
    struct strbuf output = STRBUF_INIT, ignored = STRBUF_INIT;
    bool right = spawn_capture(&spawn, &output, &ignored) == ERR_OK &&
                 strncmp(strbuf_str(&output), banner, strlen(banner)) == 0;
    if (!right)
        strbuf_printf(why, "%s is not a toxiproxy server", program);
    strbuf_release(&output);
    strbuf_release(&ignored);
    return right ? ERR_OK : ERR_INFRASTRUCTURE;
}

static char *find_program(const char *wanted, struct strbuf *why)
{
    static const char *const names[] = {"toxiproxy-server", "server", NULL};
    char *program = helper_find(wanted, names);
    if (program && check_program(program, why) == ERR_OK)
        return program;
    if (!program && wanted)
        strbuf_printf(why, "%s is not a program that can be run", wanted);
    if (!program && !wanted)
        strbuf_puts(why, "no toxiproxy-server found in PATH: get one with ./fencepost setup "
                         "toxiproxy, or name it with --toxiproxy");
    free(program);
    return NULL;
}

static enum err wait_until_well(struct toxiproxy *toxiproxy, struct strbuf *why)
{
    for (int waited_ms = 0; waited_ms < START_TIMEOUT_MS; waited_ms += START_PAUSE_MS) {
        if (toxiproxy_is_well(toxiproxy))
            return ERR_OK;
        if (!toxiproxy_lives(toxiproxy)) {
            strbuf_puts(why, "toxiproxy ended while it started");
            return ERR_INFRASTRUCTURE;
        }
        spawn_pause_ms(START_PAUSE_MS);
    }
    strbuf_puts(why, "the API of toxiproxy does not answer");
    return ERR_INFRASTRUCTURE;
}

/* ---- in a container ---- */

/* NULL: it is a program. */
static const char *image_of(const char *wanted)
{
    size_t size = strlen(CONTAINER_WORD);
    if (wanted == NULL || strncmp(wanted, CONTAINER_WORD, size) != 0)
        return NULL;
    if (wanted[size] == '\0')
        return IMAGE_DEFAULT;
    return wanted[size] == ':' && wanted[size + 1] != '\0' ? wanted + size + 1 : NULL;
}

bool toxiproxy_is_container(const struct pg_server_options *options)
{
    return image_of(options->toxiproxy) != NULL;
}

enum err toxiproxy_prepare(const struct pg_server_options *options, struct strbuf *why)
{
    if (!toxiproxy_is_container(options))
        return ERR_OK;
    enum err err = docker_session_hold(why);
    if (err != ERR_OK)
        return err;
    prepared_image = docker_session_image(image_of(options->toxiproxy));
    err = docker_session_get_image(prepared_image, options, why);
    if (err != ERR_OK)
        toxiproxy_release();
    return err;
}

void toxiproxy_release(void)
{
    if (prepared_image == NULL)
        return;
    free(prepared_image);
    prepared_image = NULL;
    docker_session_let_go();
}

/* ---- the process ---- */

static enum err start_process(struct toxiproxy *toxiproxy, const struct pg_beside *server,
                              const char *program, struct strbuf *why)
{
    toxiproxy->host = loopback_address();
    toxiproxy->port = loopback_free_port(toxiproxy->host);
    char *port = fp_format("%d", toxiproxy->port);
    const char *const arguments[] = {"-host", toxiproxy->host, "-port", port, NULL};
    enum err err =
        program ? helper_start(&toxiproxy->helper, server, "toxiproxy", program, arguments, why)
                : helper_start_image(&toxiproxy->helper, server, "toxiproxy", prepared_image,
                                     arguments, toxiproxy->host, why);
    free(port);
    return err == ERR_OK ? wait_until_well(toxiproxy, why) : err;
}

enum err toxiproxy_start(const struct pg_beside *server, struct toxiproxy **out, struct strbuf *why)
{
    char *program = prepared_image ? NULL : find_program(server->toxiproxy, why);
    if (!program && !prepared_image)
        return ERR_INFRASTRUCTURE;
    struct toxiproxy *toxiproxy = fp_alloc(sizeof *toxiproxy);
    toxiproxy->curl = curl_easy_init();
    FP_ASSERT(toxiproxy->curl);
    enum err err = start_process(toxiproxy, server, program, why);
    free(program);
    if (err != ERR_OK) {
        toxiproxy_stop(toxiproxy);
        return err;
    }
    *out = toxiproxy;
    return ERR_OK;
}

void toxiproxy_stop(struct toxiproxy *toxiproxy)
{
    if (!toxiproxy)
        return;
    helper_stop(&toxiproxy->helper);
    curl_easy_cleanup(toxiproxy->curl);
    free(toxiproxy->host);
    free(toxiproxy);
}

int toxiproxy_pid(const struct toxiproxy *toxiproxy)
{
    return (int)toxiproxy->helper.pid;
}

/* ---- proxies ---- */

/* The port behind the last colon of "listen". */
static int listen_port(const char *answer)
{
    json_t *root = json_loads(answer, 0, NULL);
    const char *listen = json_string_value(json_object_get(root, "listen"));
    const char *colon = listen ? strrchr(listen, ':') : NULL;
    int port = colon ? atoi(colon + 1) : 0;
    json_decref(root);
    return port;
}

enum err toxiproxy_add(struct toxiproxy *toxiproxy, int upstream_port,
                       char name[static TOXIPROXY_NAME_SIZE], const char **host, int *port,
                       struct strbuf *why)
{
    struct strbuf answer = STRBUF_INIT;
    snprintf(name, TOXIPROXY_NAME_SIZE, "c%lld", (long long)++toxiproxy->added_count);
    char *body = fp_format("{\"name\":\"%s\",\"listen\":\"%s:0\",\"upstream\":\"127.0.0.1:%d\"}",
                           name, toxiproxy->host, upstream_port);
    enum err err = call(toxiproxy, "POST", "/proxies", body, &answer, why);
    free(body);
    *host = toxiproxy->host;
    *port = err == ERR_OK ? listen_port(strbuf_str(&answer)) : 0;
    if (err == ERR_OK && *port == 0) {
        strbuf_printf(why, "toxiproxy does not say where it listens: %s", strbuf_str(&answer));
        err = ERR_INFRASTRUCTURE;
    }
    strbuf_release(&answer);
    return err;
}

/* It ignores what it does not know, so what it says it has done is looked at. */
static bool is_limit(const char *answer)
{
    json_t *root = json_loads(answer, 0, NULL);
    const char *type = json_string_value(json_object_get(root, "type"));
    const json_t *bytes = json_object_get(json_object_get(root, "attributes"), "bytes");
    bool right = type && strcmp(type, "limit_data") == 0 && json_is_integer(bytes) &&
                 json_integer_value(bytes) == 0;
    json_decref(root);
    return right;
}

enum err toxiproxy_limit(struct toxiproxy *toxiproxy, const char *name, bool upstream,
                         struct strbuf *why)
{
    struct strbuf answer = STRBUF_INIT;
    char *path = fp_format("/proxies/%s/toxics", name);
    char *body = fp_format("{\"name\":\"cut\",\"type\":\"limit_data\",\"stream\":\"%s\","
                           "\"toxicity\":1,\"attributes\":{\"bytes\":0}}",
                           upstream ? "upstream" : "downstream");
    enum err err = call(toxiproxy, "POST", path, body, &answer, why);
    if (err == ERR_OK && !is_limit(strbuf_str(&answer))) {
        strbuf_printf(why, "toxiproxy has made something else: %s", strbuf_str(&answer));
        err = ERR_INFRASTRUCTURE;
    }
    strbuf_release(&answer);
    free(body);
    free(path);
    return err;
}

enum err toxiproxy_remove(struct toxiproxy *toxiproxy, const char *name, struct strbuf *why)
{
    struct strbuf answer = STRBUF_INIT;
    char *path = fp_format("/proxies/%s", name);
    enum err err = call(toxiproxy, "DELETE", path, NULL, &answer, why);
    strbuf_release(&answer);
    free(path);
    return err;
}
