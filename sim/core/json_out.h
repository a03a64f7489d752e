/* A streaming writer of one JSON value, compact, onto a strbuf. Commas are its business. Wrong
 * nesting (a value without a key in an object, an end of another kind) is a programmer's error. */
#ifndef FENCEPOST_JSON_OUT_H
#define FENCEPOST_JSON_OUT_H

#include "sim/core/base.h"
#include "sim/core/strbuf.h"

#define JSON_OUT_DEPTH_MAX 32

struct json_out {
    struct strbuf *buf;
    int depth; /* open objects and arrays */
    bool in_object[JSON_OUT_DEPTH_MAX];
    bool has_items[JSON_OUT_DEPTH_MAX];
    bool key_pending; /* a key was written, its value was not */
    bool is_complete; /* the one value at the top is written */
};

/* Appends to `buf`, which stays the caller's and outlives the writer. Nothing is to be freed. */
void json_out_init(struct json_out *out, struct strbuf *buf);
/* The value at the top must be complete. */
void json_out_finish(const struct json_out *out);

void json_object_begin(struct json_out *out);
void json_object_end(struct json_out *out);
void json_array_begin(struct json_out *out);
void json_array_end(struct json_out *out);
/* Inside an object, before each value. */
void json_key(struct json_out *out, const char *key);

/* NULL is written as null; invalid UTF-8 as U+FFFD. */
void json_string(struct json_out *out, const char *text);
void json_int(struct json_out *out, int64_t value);
void json_uint(struct json_out *out, uint64_t value);
/* With exactly `decimals` (0 to 9) decimals. What is not finite is written as null: JSON has no
 * word for it. */
void json_double(struct json_out *out, double value, int decimals);
void json_bool(struct json_out *out, bool value);
void json_null(struct json_out *out);

/* A key with its value. */
void json_put_int(struct json_out *out, const char *key, int64_t value);
void json_put_string(struct json_out *out, const char *key, const char *text);

#endif
