#include "sim/lint/words.h"

#include <string.h>
#include <strings.h>

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcasecmp(*list, text) == 0)
            return true;
    return false;
}

bool word_is_waiting(const char *status)
{
    static const char *const waiting[] = {"pending",  "ready",     "queued",    "new", "waiting",
                                          "enqueued", "scheduled", "submitted", NULL};
    return is_one_of(status, waiting);
}

bool word_is_intermediate(const char *status)
{
    static const char *const others[] = {"in_progress", "inprogress", "in-progress", "started",
                                         "claimed",     "locked",     "active",      NULL};
    size_t size = strlen(status);

    if (word_is_waiting(status))
        return false;
    return is_one_of(status, others) || (size > 3 && strcasecmp(status + size - 3, "ing") == 0);
}

/* Is one of the parts of a_name_like_this in the list? */
static bool has_part(const char *name, const char *const *list)
{
    char part[64];

    while (*name != '\0') {
        size_t size = strcspn(name, "_");
        if (size < sizeof part) {
            memcpy(part, name, size);
            part[size] = '\0';
            if (is_one_of(part, list))
                return true;
        }
        name += size + (name[size] == '_');
    }
    return false;
}

bool word_is_aggregate(const char *column)
{
    static const char *const own[] = {"attempt", "attempts", "retry",    "retries", "version",
                                      "token",   "revision", "sequence", "epoch",   "generation",
                                      "fence",   "claims",   "tries",    "redrive", NULL};
    static const char *const counts[] = {
        "count",  "counter",  "counts", "total",   "totals",    "sum",  "num",   "number",
        "amount", "quantity", "qty",    "balance", "processed", "hits", "views", NULL};
    return has_part(column, counts) && !has_part(column, own);
}

bool word_is_idempotency_key(const char *column)
{
    static const char *const keys[] = {"idempotency_key", "idempotencykey", "idempotent_key",
                                       "request_key", NULL};
    size_t size = strlen(column);

    return is_one_of(column, keys) ||
           (size > 16 && strcasecmp(column + size - 16, "_idempotency_key") == 0);
}
