#include "sim/run/history.h"

#include <string.h>

#include "sim/core/hash.h"

void history_clear(struct history *history)
{
    history->process_count = 0;
    history->world = 0;
}

/* "worker-1" of "worker-1/job": fibers and connections of one process share what they know. */
static uint64_t *observed_by(struct history *history, const char *who)
{
    uint64_t name = hash_bytes(0, who, strcspn(who, "/"));
    for (size_t i = 0; i < history->process_count; i++)
        if (history->processes[i].name == name)
            return &history->processes[i].observed;
    FP_ASSERT(history->process_count < HISTORY_PROCESS_COUNT_MAX);
    history->processes[history->process_count].name = name;
    history->processes[history->process_count].observed = 0;
    return &history->processes[history->process_count++].observed;
}

/* What only its own process can know of: statements under way, and what an actor says of itself. */
static bool is_private(const char *kind)
{
    static const char *const public[] = {"row",    "effect.", "queue.", "dead.",
                                         "store.", "service", "fault.", "alert",
                                         "actor",  "world.",  "metric"};
    for (size_t i = 0; i < FP_COUNT(public); i++)
        if (strncmp(kind, public[i], strlen(public[i])) == 0)
            return false;
    return true;
}

void history_event(void *self, const struct event *event)
{
    struct history *history = self;
    /* Without the number of the step, which says how many steps others have made. */
    const char *line = strstr(event->line, "\"t\":");
    FP_ASSERT(line != NULL);
    if (event->who != NULL) {
        uint64_t *observed = observed_by(history, event->who);
        *observed = hash_text(*observed, line);
    }
    if (!is_private(event->kind))
        history->world = hash_text(history->world, line);
}

void history_cell(struct history *history, const char *who, const char *text)
{
    uint64_t *observed = observed_by(history, who);
    *observed = text != NULL ? hash_text(*observed, text) : hash_number(*observed, -1);
}

uint64_t history_hash(const struct history *history)
{
    uint64_t sum = history->world;
    /* A sum, so that it does not matter who was seen first. */
    for (size_t i = 0; i < history->process_count; i++)
        sum += hash_number(history->processes[i].name, (int64_t)history->processes[i].observed);
    return sum;
}
