#include "sim/core/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRBUF_CAPACITY_MIN 64
#define STRBUF_SIZE_MAX (SIZE_MAX / 4) /* doubling can't overflow below it */
#define INT64_DIGIT_COUNT_MAX 20       /* of the magnitude, with room to spare */

#define BYTES_01 UINT64_C(0x0101010101010101)
#define BYTES_80 UINT64_C(0x8080808080808080)

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

void strbuf_init(struct strbuf *buf)
{
    *buf = (struct strbuf)STRBUF_INIT;
}

void strbuf_release(struct strbuf *buf)
{
    free(buf->text);
    strbuf_init(buf);
}

void strbuf_clear(struct strbuf *buf)
{
    buf->size = 0;
    if (buf->text != NULL)
        buf->text[0] = '\0';
}

static void grow(struct strbuf *buf, size_t needed)
{
    FP_ASSERT(needed < STRBUF_SIZE_MAX);
    size_t capacity = buf->capacity * 2;
    if (capacity < STRBUF_CAPACITY_MIN)
        capacity = STRBUF_CAPACITY_MIN;
    if (capacity < needed)
        capacity = needed;
    buf->text = fp_realloc(buf->text, capacity);
    buf->capacity = capacity;
    buf->text[buf->size] = '\0';
}

/* The terminator is always counted in, so that callers may write exactly `more_size` bytes. */
void strbuf_reserve(struct strbuf *buf, size_t more_size)
{
    FP_ASSERT(more_size < STRBUF_SIZE_MAX);
    size_t needed = buf->size + more_size + 1;
    if (needed > buf->capacity)
        grow(buf, needed);
}

void strbuf_add(struct strbuf *buf, const char *bytes, size_t size)
{
    strbuf_reserve(buf, size);
    if (size > 0)
        memcpy(buf->text + buf->size, bytes, size);
    buf->size += size;
    buf->text[buf->size] = '\0';
}

void strbuf_puts(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_putc(struct strbuf *buf, char c)
{
    strbuf_reserve(buf, 1);
    buf->text[buf->size++] = c;
    buf->text[buf->size] = '\0';
}

void strbuf_int(struct strbuf *buf, int64_t value)
{
    char digits[INT64_DIGIT_COUNT_MAX + 1];
    char *end = digits + sizeof(digits);
    char *start = end;
    uint64_t rest = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;

    do {
        *--start = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        *--start = '-';
    FP_ASSERT(start >= digits);
    strbuf_add(buf, start, (size_t)(end - start));
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    FP_ASSERT(length >= 0);

    strbuf_reserve(buf, (size_t)length);
    va_start(args, format);
    vsnprintf(buf->text + buf->size, (size_t)length + 1, format, args);
    va_end(args);
    buf->size += (size_t)length;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* High bit set in some byte of the result: that byte of the word is zero (or follows one). */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - BYTES_01) & ~word;
}

/* Nearly all text is plain, so eight bytes are looked at together. */
static bool is_plain_word(uint64_t word)
{
    uint64_t control = (word - BYTES_01 * 0x20) & ~word;
    uint64_t quote = zero_bytes(word ^ (BYTES_01 * '"'));
    uint64_t backslash = zero_bytes(word ^ (BYTES_01 * '\\'));
    return ((word | control | quote | backslash) & BYTES_80) == 0;
}

/* How many bytes from the start go into JSON as they are. */
static size_t plain_size(const char *text, size_t size)
{
    size_t index = 0;
    uint64_t word;

    for (; index + sizeof(word) <= size; index += sizeof(word)) {
        memcpy(&word, text + index, sizeof(word));
        if (!is_plain_word(word))
            break;
    }
    while (index < size && is_plain((unsigned char)text[index]))
        index++;
    return index;
}

static bool in_range(unsigned char byte, unsigned char low, unsigned char high)
{
    return byte >= low && byte <= high;
}

/* The size of the UTF-8 sequence at the start of a terminated text, 0 when it is not valid. Table
 * 3-7 of the Unicode standard: overlong forms, surrogates and what lies past U+10FFFF are not
 * valid. The terminator is no continuation byte, so nothing past it is read. */
static size_t utf8_size(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (in_range(byte[0], 0xC2, 0xDF))
        return in_range(byte[1], 0x80, 0xBF) ? 2 : 0;

    if (in_range(byte[0], 0xE0, 0xEF)) {
        unsigned char low = byte[0] == 0xE0 ? 0xA0 : 0x80;
        unsigned char high = byte[0] == 0xED ? 0x9F : 0xBF;
        return in_range(byte[1], low, high) && in_range(byte[2], 0x80, 0xBF) ? 3 : 0;
    }
    if (in_range(byte[0], 0xF0, 0xF4)) {
        unsigned char low = byte[0] == 0xF0 ? 0x90 : 0x80;
        unsigned char high = byte[0] == 0xF4 ? 0x8F : 0xBF;
        return in_range(byte[1], low, high) && in_range(byte[2], 0x80, 0xBF) &&
                       in_range(byte[3], 0x80, 0xBF)
                   ? 4
                   : 0;
    }
    return 0;
}

static void put_escape(struct strbuf *buf, unsigned char byte)
{
    switch (byte) {
    case '"':
        strbuf_puts(buf, "\\\"");
        return;
    case '\\':
        strbuf_puts(buf, "\\\\");
        return;
    case '\b':
        strbuf_puts(buf, "\\b");
        return;
    case '\f':
        strbuf_puts(buf, "\\f");
        return;
    case '\n':
        strbuf_puts(buf, "\\n");
        return;
    case '\r':
        strbuf_puts(buf, "\\r");
        return;
    case '\t':
        strbuf_puts(buf, "\\t");
        return;
    default:
        strbuf_printf(buf, "\\u%04x", byte);
        return;
    }
}

/* One character that is not plain; returns how many bytes of the text it took. */
static size_t put_special(struct strbuf *buf, const char *text)
{
    unsigned char byte = (unsigned char)text[0];
    if (byte < 0x80) {
        put_escape(buf, byte);
        return 1;
    }
    size_t size = utf8_size(text);
    if (size > 0) {
        strbuf_add(buf, text, size);
        return size;
    }
    strbuf_puts(buf, replacement);
    return 1;
}

void strbuf_json_string(struct strbuf *buf, const char *text)
{
    if (text == NULL) {
        strbuf_add(buf, "null", 4);
        return;
    }
    size_t size = strlen(text);
    strbuf_reserve(buf, size + 2);
    strbuf_putc(buf, '"');
    for (size_t index = 0; index < size;) {
        size_t plain = plain_size(text + index, size - index);
        strbuf_add(buf, text + index, plain);
        index += plain;
        if (index < size)
            index += put_special(buf, text + index);
    }
    strbuf_putc(buf, '"');
}

const char *strbuf_str(const struct strbuf *buf)
{
    return buf->text == NULL ? "" : buf->text;
}

char *strbuf_detach(struct strbuf *buf)
{
    char *text = buf->text == NULL ? fp_strdup("") : buf->text;
    strbuf_init(buf);
    return text;
}
