/* Events: what happened, in a canonical form. One event is one line of JSON and some typed fields.
 *
 * The rolling hash is over the lines, so two runs with the same hash did the same things in the
 * same order. No pid, xid, oid, lsn, pointer, port or wall time may ever be put into an event. */
#ifndef FENCEPOST_TRACE_H
#define FENCEPOST_TRACE_H

#include "sim/core/base.h"
#include "sim/core/strbuf.h"

#define EVENT_FIELD_COUNT_MAX 24
#define TRACE_OBSERVER_COUNT_MAX 64
#define TRACE_KIND_COUNT_MAX 256
#define TRACE_KIND_SIZE_MAX 48 /* of a kind's name, with its terminator */

struct event_field {
    const char *key;
    const char *text; /* NULL for a number or an SQL null */
    int64_t number;
    bool is_number;
};

struct event {
    int64_t step;
    int64_t t_ns;     /* virtual, since the start of the run */
    const char *kind; /* "db.exec", "lock.acquired", "fault.crash", "row", ... */
    const char *who;  /* "worker-1", "worker-1/heartbeat", "harness" */
    struct event_field fields[EVENT_FIELD_COUNT_MAX];
    int field_count;
    const char *line; /* the JSON line, without newline */
};

/* NULL / fallback when there is no such field. event_number also reads a text that is a whole
 * decimal number: what comes from the database or from an actor is text. */
const char *event_text(const struct event *event, const char *key);
int64_t event_number(const struct event *event, const char *key, int64_t fallback);
bool event_is(const struct event *event, const char *kind);

struct trace;

/* Called once per event, after it was hashed. Must not emit. Pointers are valid during the call. */
typedef void trace_observer(void *self, const struct event *event);

struct trace *trace_new(void);
void trace_free(struct trace *trace);
void trace_reset(struct trace *trace); /* for the next run; observers go, memory stays */
void trace_observe(struct trace *trace, trace_observer *observer, void *self);

/* Step and time that the next events carry. */
void trace_set_now(struct trace *trace, int64_t step, int64_t t_ns);

/* Build one event: begin, any number of fields, end. Text is copied; keys and `who` must live until
 * trace_end returns. Not nestable. */
void trace_begin(struct trace *trace, const char *kind, const char *who);
void trace_text(struct trace *trace, const char *key, const char *text);
void trace_number(struct trace *trace, const char *key, int64_t number);
void trace_end(struct trace *trace);
/* Shorthand: pairs of key and text, ended by NULL; a NULL text is written as null.
 * trace_event(t, "x", "who", "k1", v1, "k2", v2, NULL) */
void trace_event(struct trace *trace, const char *kind, const char *who, ...);

uint64_t trace_hash(const struct trace *trace);
int64_t trace_event_count(const struct trace *trace);
/* How many events of each kind, for the summary; index below trace_kind_count, in the order in
 * which the kinds first happened. Names are valid until trace_reset. */
size_t trace_kind_count(const struct trace *trace);
const char *trace_kind_name(const struct trace *trace, size_t index);
int64_t trace_kind_events(const struct trace *trace, size_t index);
/* All lines so far, each ended by a newline; the newest has none yet while it is observed. */
const struct strbuf *trace_lines(const struct trace *trace);

/* Compare every event with recorded lines (as from trace_lines, owned by the caller, outliving the
 * run). At the first difference the trace remembers it and trace_diverged says so. */
struct trace_difference {
    bool found;
    int64_t step;   /* the run's own step when it was noticed */
    char *recorded; /* NULL: the recording had ended; owned by the trace */
    char *happened; /* NULL: the run ended earlier */
};
/* Before the first event. */
void trace_expect(struct trace *trace, const char *recorded_lines);
const struct trace_difference *trace_diverged(const struct trace *trace);
/* At the end of the run: lines that were recorded but did not happen are a difference too. Does
 * nothing when nothing is expected. */
void trace_expect_end(struct trace *trace);

#endif
