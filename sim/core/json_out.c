#include "sim/core/json_out.h"

#include <inttypes.h>
#include <math.h>

#define DECIMAL_COUNT_MAX 9

void json_out_init(struct json_out *out, struct strbuf *buf)
{
    FP_ASSERT(buf != NULL);
    *out = (struct json_out){.buf = buf};
}

void json_out_finish(const struct json_out *out)
{
    FP_ASSERT(out->depth == 0);
    FP_ASSERT(out->is_complete);
}

static void put_comma(struct json_out *out)
{
    if (out->has_items[out->depth - 1])
        strbuf_putc(out->buf, ',');
    out->has_items[out->depth - 1] = true;
}

/* Before any value: is it allowed here, and does a comma go first? In an object the key had it. */
static void before_value(struct json_out *out)
{
    if (out->depth == 0) {
        FP_ASSERT(!out->is_complete);
        out->is_complete = true;
        return;
    }
    if (!out->in_object[out->depth - 1]) {
        put_comma(out);
        return;
    }
    FP_ASSERT(out->key_pending);
    out->key_pending = false;
}

static void open_level(struct json_out *out, bool is_object)
{
    before_value(out);
    FP_ASSERT(out->depth < JSON_OUT_DEPTH_MAX);
    out->in_object[out->depth] = is_object;
    out->has_items[out->depth] = false;
    out->depth++;
    strbuf_putc(out->buf, is_object ? '{' : '[');
}

static void close_level(struct json_out *out, bool is_object)
{
    FP_ASSERT(out->depth > 0);
    FP_ASSERT(out->in_object[out->depth - 1] == is_object);
    FP_ASSERT(!out->key_pending);
    out->depth--;
    strbuf_putc(out->buf, is_object ? '}' : ']');
}

void json_object_begin(struct json_out *out)
{
    open_level(out, true);
}

void json_object_end(struct json_out *out)
{
    close_level(out, true);
}

void json_array_begin(struct json_out *out)
{
    open_level(out, false);
}

void json_array_end(struct json_out *out)
{
    close_level(out, false);
}

void json_key(struct json_out *out, const char *key)
{
    FP_ASSERT(key != NULL);
    FP_ASSERT(out->depth > 0);
    FP_ASSERT(out->in_object[out->depth - 1]);
    FP_ASSERT(!out->key_pending);
    put_comma(out);
    strbuf_json_string(out->buf, key);
    strbuf_putc(out->buf, ':');
    out->key_pending = true;
}

void json_string(struct json_out *out, const char *text)
{
    before_value(out);
    strbuf_json_string(out->buf, text);
}

void json_int(struct json_out *out, int64_t value)
{
    before_value(out);
    strbuf_int(out->buf, value);
}

void json_uint(struct json_out *out, uint64_t value)
{
    before_value(out);
    strbuf_printf(out->buf, "%" PRIu64, value);
}

void json_double(struct json_out *out, double value, int decimals)
{
    FP_ASSERT(decimals >= 0);
    FP_ASSERT(decimals <= DECIMAL_COUNT_MAX);
    if (!isfinite(value)) {
        json_null(out);
        return;
    }
    before_value(out);
    strbuf_printf(out->buf, "%.*f", decimals, value);
}

void json_bool(struct json_out *out, bool value)
{
    before_value(out);
    strbuf_puts(out->buf, value ? "true" : "false");
}

void json_null(struct json_out *out)
{
    before_value(out);
    strbuf_puts(out->buf, "null");
}

void json_put_int(struct json_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    json_int(out, value);
}

void json_put_string(struct json_out *out, const char *key, const char *text)
{
    json_key(out, key);
    json_string(out, text);
}
