/* What a lane tells its parent, over a socket: a fixed struct and a text behind it. */
#ifndef FENCEPOST_RECORD_H
#define FENCEPOST_RECORD_H

#include "sim/run/run.h"

#define RECORD_TEXT_SIZE_MAX 4096

/* RECORD_READY: what the lane's server runs on, as record_put_environment writes it.
 * RECORD_REACHED, RECORD_MEASURED: a tally of one scenario, in lines of a count, a space and a key.
 */
enum record_kind { RECORD_RUN, RECORD_READY, RECORD_TROUBLE, RECORD_REACHED, RECORD_MEASURED };

struct record {
    enum record_kind kind;
    uint32_t scenario_index;
    uint64_t seed;
    uint64_t hash;
    enum run_outcome outcome;
    uint32_t invariant_index;
    int64_t step;
    bool checked;
    struct run_counts counts;
    uint32_t text_size;
    char sentence[RECORD_TEXT_SIZE_MAX]; /* terminated */
};

void record_put_environment(const struct pg_environment *environment, struct strbuf *text);
void record_take_environment(const char *text, struct pg_environment *environment);

/* False: the parent is gone. */
bool record_send(int socket, struct record *record);

struct record_reader {
    struct strbuf bytes;
    size_t at;
};
/* Read what is there. False: the other side has closed. */
bool record_fill(struct record_reader *reader, int socket);
bool record_next(struct record_reader *reader, struct record *record);
bool record_reader_is_empty(const struct record_reader *reader);
void record_reader_release(struct record_reader *reader);

#endif
