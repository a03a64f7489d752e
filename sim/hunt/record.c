#include "sim/hunt/record.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_SIZE offsetof(struct record, sentence)

static bool send_all(int socket, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool record_send(int socket, struct record *record)
{
    record->text_size = (uint32_t)strlen(record->sentence);
    return send_all(socket, (const char *)record, HEAD_SIZE + record->text_size);
}

bool record_fill(struct record_reader *reader, int socket)
{
    char chunk[65536];
    ssize_t got;
    do {
        got = read(socket, chunk, sizeof chunk);
    } while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    if (reader->at == reader->bytes.size) {
        strbuf_clear(&reader->bytes);
        reader->at = 0;
    }
    strbuf_add(&reader->bytes, chunk, (size_t)got);
    return true;
}

bool record_next(struct record_reader *reader, struct record *record)
{
    size_t left = reader->bytes.size - reader->at;
    if (left < HEAD_SIZE)
        return false;
    memcpy(record, reader->bytes.text + reader->at, HEAD_SIZE);
    FP_ASSERT(record->text_size < RECORD_TEXT_SIZE_MAX);
    if (left < HEAD_SIZE + record->text_size)
        return false;
    memcpy(record->sentence, reader->bytes.text + reader->at + HEAD_SIZE, record->text_size);
    record->sentence[record->text_size] = '\0';
    reader->at += HEAD_SIZE + record->text_size;
    return true;
}

bool record_reader_is_empty(const struct record_reader *reader)
{
    return reader->at == reader->bytes.size;
}

void record_reader_release(struct record_reader *reader)
{
    strbuf_release(&reader->bytes);
    reader->at = 0;
}

/* One line each; the last may be empty. */
void record_put_environment(const struct pg_environment *environment, struct strbuf *text)
{
    strbuf_printf(text, "%s\n%s\n%s\n%d\n%s", environment->kind, environment->version,
                  environment->image, environment->parking, environment->off);
}

static const char *take_line(const char *at, char *out, size_t out_size)
{
    size_t size = strcspn(at, "\n");
    snprintf(out, out_size, "%.*s", (int)size, at);
    return at[size] == '\0' ? at + size : at + size + 1;
}

void record_take_environment(const char *text, struct pg_environment *environment)
{
    char parking[4];
    text = take_line(text, environment->kind, sizeof environment->kind);
    text = take_line(text, environment->version, sizeof environment->version);
    text = take_line(text, environment->image, sizeof environment->image);
    text = take_line(text, parking, sizeof parking);
    environment->parking = parking[0] == '1';
    (void)take_line(text, environment->off, sizeof environment->off);
}
