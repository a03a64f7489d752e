#include "sim/check/watchers.h"

#include <string.h>

/* A connection that waits for a lock. */
struct wait {
    struct wait *next;
    const char *who;
    bool lasts;
};

struct watcher {
    struct watcher *next;
    const char *name; /* "janitor-1" */
    bool down;
    struct wait *waits;
    int64_t interrupted_ns; /* the latest time; while it is down or waits it goes on */
};

struct watchers {
    struct arena *arena;
    const char *role;
    struct watcher *list;
};

struct watchers *watchers_new(struct arena *arena, const char *role)
{
    struct watchers *watchers = arena_alloc(arena, sizeof *watchers);
    watchers->arena = arena;
    watchers->role = role;
    return watchers;
}

static bool has_role(const struct watchers *watchers, const char *who)
{
    size_t size = strlen(watchers->role);
    return who != NULL && strncmp(who, watchers->role, size) == 0 &&
           (who[size] == '-' || who[size] == '\0');
}

/* "janitor-1" of "janitor-1.2/reap": an actor in all its lives, fibers and connections. */
static bool is_of(const struct watcher *watcher, const char *who)
{
    size_t size = strcspn(who, "./");
    return strlen(watcher->name) == size && strncmp(watcher->name, who, size) == 0;
}

static struct watcher *find(const struct watchers *watchers, const char *who)
{
    struct watcher *at = watchers->list;
    while (at != NULL && !is_of(at, who))
        at = at->next;
    return at;
}

static struct watcher *find_or_add(struct watchers *watchers, const char *who)
{
    struct watcher *watcher = find(watchers, who);
    if (watcher != NULL)
        return watcher;
    watcher = arena_alloc(watchers->arena, sizeof *watcher);
    watcher->interrupted_ns = INT64_MIN;
    watcher->name = arena_printf(watchers->arena, "%.*s", (int)strcspn(who, "./"), who);
    watcher->next = watchers->list;
    watchers->list = watcher;
    return watcher;
}

static struct wait *wait_of(struct watchers *watchers, struct watcher *watcher, const char *who)
{
    for (struct wait *at = watcher->waits; at != NULL; at = at->next)
        if (strcmp(at->who, who) == 0)
            return at;
    struct wait *wait = arena_alloc(watchers->arena, sizeof *wait);
    wait->who = arena_strdup(watchers->arena, who);
    wait->next = watcher->waits;
    watcher->waits = wait;
    return wait;
}

static bool waits(const struct watcher *watcher)
{
    for (const struct wait *at = watcher->waits; at != NULL; at = at->next)
        if (at->lasts)
            return true;
    return false;
}

static bool is_interruption(const struct event *event)
{
    static const char *const kinds[] = {"actor.started", "db.blocked",     "db.lost",    "db.cut",
                                        "db.gate",       "db.unreachable", "db.deadlock"};
    for (size_t i = 0; i < FP_COUNT(kinds); i++)
        if (event_is(event, kinds[i]))
            return true;
    return strncmp(event->kind, "fault.", 6) == 0 || event_text(event, "sqlstate") != NULL;
}

/* A new life waits for nothing that the one before waited for. */
static void begin_life(struct watcher *watcher)
{
    watcher->down = false;
    for (struct wait *at = watcher->waits; at != NULL; at = at->next)
        at->lasts = false;
}

void watchers_event(struct watchers *watchers, const struct event *event)
{
    if (!has_role(watchers, event->who))
        return;
    bool is_new = find(watchers, event->who) == NULL;
    struct watcher *watcher = find_or_add(watchers, event->who);
    bool was_able = !watcher->down && !waits(watcher);

    if (event_is(event, "fault.crash") || event_is(event, "fault.pause"))
        watcher->down = true;
    else if (event_is(event, "actor.started"))
        begin_life(watcher);
    else if (event_is(event, "fault.resumed"))
        watcher->down = false;
    else if (strncmp(event->kind, "db.", 3) == 0)
        wait_of(watchers, watcher, event->who)->lasts = event_is(event, "db.blocked");
    /* Before its first start there was nothing to interrupt. */
    if (!is_new && (!was_able || is_interruption(event)))
        watcher->interrupted_ns = event->t_ns;
}

bool watchers_able(const struct watchers *watchers, int64_t since_ns, int64_t t_ns)
{
    FP_ASSERT(since_ns <= t_ns);
    for (const struct watcher *at = watchers->list; at != NULL; at = at->next)
        if (!at->down && !waits(at) && at->interrupted_ns <= since_ns)
            return true;
    return false;
}

bool watchers_interrupted(const struct watchers *watchers, const char *who, int64_t since_ns)
{
    const struct watcher *watcher = has_role(watchers, who) ? find(watchers, who) : NULL;
    return watcher != NULL &&
           (watcher->down || waits(watcher) || watcher->interrupted_ns >= since_ns);
}
