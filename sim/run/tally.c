#include "sim/run/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 64

struct entry {
    char *key;
    int64_t count;
};

struct tally {
    struct entry *entries; /* ordered by key */
    size_t count, capacity;
};

struct tally *tally_new(void)
{
    return fp_alloc(sizeof(struct tally));
}

void tally_clear(struct tally *tally)
{
    for (size_t i = 0; i < tally->count; i++)
        free(tally->entries[i].key);
    tally->count = 0;
}

void tally_free(struct tally *tally)
{
    if (!tally)
        return;
    tally_clear(tally);
    free(tally->entries);
    free(tally);
}

/* The place of the key, or where it would go. */
static size_t place_of(const struct tally *tally, const char *key)
{
    size_t low = 0, high = tally->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(tally->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct tally *tally, size_t place, const char *key)
{
    return place < tally->count && strcmp(tally->entries[place].key, key) == 0;
}

static void insert(struct tally *tally, size_t place, const char *key)
{
    if (tally->count == tally->capacity) {
        tally->capacity = tally->capacity ? 2 * tally->capacity : CAPACITY_FIRST;
        tally->entries = fp_realloc(tally->entries, tally->capacity * sizeof tally->entries[0]);
    }
    memmove(&tally->entries[place + 1], &tally->entries[place],
            (tally->count - place) * sizeof tally->entries[0]);
    tally->entries[place] = (struct entry){.key = fp_strdup(key)};
    tally->count++;
}

void tally_add(struct tally *tally, const char *key, int64_t count)
{
    size_t place = place_of(tally, key);
    FP_ASSERT(strlen(key) < TALLY_KEY_SIZE_MAX);
    if (!is_at(tally, place, key))
        insert(tally, place, key);
    tally->entries[place].count += count;
}

void tally_add_all(struct tally *tally, const struct tally *other)
{
    for (size_t i = 0; i < other->count; i++)
        tally_add(tally, other->entries[i].key, other->entries[i].count);
}

size_t tally_size(const struct tally *tally)
{
    return tally->count;
}

const char *tally_key(const struct tally *tally, size_t index)
{
    FP_ASSERT(index < tally->count);
    return tally->entries[index].key;
}

int64_t tally_count(const struct tally *tally, size_t index)
{
    FP_ASSERT(index < tally->count);
    return tally->entries[index].count;
}

int64_t tally_find(const struct tally *tally, const char *key)
{
    size_t place = place_of(tally, key);
    return is_at(tally, place, key) ? tally->entries[place].count : 0;
}

/* ---- events ---- */

/* Which field of which kinds tells classes apart. A prefix that ends with a dot stands for all
 * kinds below it. */
static const struct {
    const char *prefix, *field;
} tellers[] = {
    {"job.", "type"},  {"job.", "code"},   {"job.", "error"},      {"fault.", "kind"},
    {"fault.", "how"}, {"alert", "alert"}, {"request.", "status"}, {"request.", "round_trips"},
};

static void tally_field(struct tally *tally, const struct event *event, const char *field)
{
    char key[TALLY_KEY_SIZE_MAX];
    const char *text = event_text(event, field);
    if (!text)
        return;
    snprintf(key, sizeof key, "%s %s=%s", event->kind, field, text);
    tally_add(tally, key, 1);
}

/* A job that has just ended. */
static void tally_job(struct tally *tally, const struct job_view *view, const struct event *event)
{
    char key[TALLY_KEY_SIZE_MAX];
    const char *table = event_text(event, "table");
    const char *status = event_text(event, view->status_column);
    const char *type = event_text(event, view->type_column);
    if (!table || strcmp(table, view->table) != 0 || !status || !type)
        return;
    if (strcmp(status, view->succeeded) != 0 && strcmp(status, view->failed) != 0)
        return;
    const char *code = view->code_column ? event_text(event, view->code_column) : NULL;
    snprintf(key, sizeof key, "%s %s %s%s%s", table, type, status, code ? " " : "",
             code ? code : "");
    tally_add(tally, key, 1);
}

void tally_event(struct tally *tally, const struct strategy *strategy, const struct event *event)
{
    const struct job_view *jobs = &strategy->jobs;
    if (jobs->table && jobs->status_column && jobs->type_column && event_is(event, "row")) {
        tally_job(tally, jobs, event);
        return;
    }
    for (size_t i = 0; i < FP_COUNT(tellers); i++)
        if (strncmp(event->kind, tellers[i].prefix, strlen(tellers[i].prefix)) == 0)
            tally_field(tally, event, tellers[i].field);
}

void tally_kinds(struct tally *tally, const struct trace *trace)
{
    for (size_t i = 0; i < trace_kind_count(trace); i++)
        tally_add(tally, trace_kind_name(trace, i), trace_kind_events(trace, i));
}
