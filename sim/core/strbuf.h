/* A growing string. `text` is always terminated once anything was added; use strbuf_str for "". */
#ifndef FENCEPOST_STRBUF_H
#define FENCEPOST_STRBUF_H

#include "sim/core/base.h"

struct strbuf {
    char *text;
    size_t size; /* bytes used, without the terminator */
    size_t capacity;
};

#define STRBUF_INIT                                                                                \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void strbuf_init(struct strbuf *buf);
void strbuf_release(struct strbuf *buf); /* frees, and leaves it empty and usable */
void strbuf_clear(struct strbuf *buf);   /* empty, keeps the memory */
void strbuf_reserve(struct strbuf *buf, size_t more_size);
void strbuf_add(struct strbuf *buf, const char *bytes, size_t size);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_putc(struct strbuf *buf, char c);
void strbuf_int(struct strbuf *buf, int64_t value);
void strbuf_printf(struct strbuf *buf, const char *format, ...) FP_PRINTF(2, 3);
/* A JSON string literal with its quotes; invalid UTF-8 becomes U+FFFD. NULL becomes null. */
void strbuf_json_string(struct strbuf *buf, const char *text);
const char *strbuf_str(const struct strbuf *buf);
/* Gives the text to the caller, who frees it; the buffer is empty afterwards. */
char *strbuf_detach(struct strbuf *buf);

#endif
