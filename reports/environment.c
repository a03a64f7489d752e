#include "reports/environment.h"

#include <string.h>

void report_environment(const struct pg_environment *environment, int lane_count,
                        struct strbuf *out)
{
    bool is_guest = strcmp(environment->kind, "dsn") == 0;
    strbuf_printf(out, "%d %s%s ", lane_count, is_guest ? "database" : "server",
                  lane_count == 1 ? "" : "s");
    if (is_guest)
        strbuf_puts(out, "on the given server, ");
    else
        strbuf_puts(out, "of ");
    strbuf_printf(out, "PostgreSQL %s", environment->version);
    if (environment->image[0] != '\0')
        strbuf_printf(out, " in %s (%s)", environment->kind, environment->image);
}

static void put_text(struct json_out *out, const char *key, const char *text)
{
    json_key(out, key);
    json_string(out, text[0] != '\0' ? text : NULL);
}

void report_environment_json(const struct pg_environment *environment, struct json_out *out)
{
    json_key(out, "environment");
    json_object_begin(out);
    put_text(out, "pg", environment->kind);
    put_text(out, "server", environment->version);
    put_text(out, "image", environment->image);
    json_key(out, "parking");
    json_bool(out, environment->parking);
    put_text(out, "off", environment->off);
    json_object_end(out);
}
