/* Somebody does something to the container that the server runs in. Killed or restarted: every
 * connection is gone and every open transaction with it, nobody can connect until it is back, and
 * nothing committed is lost. Paused: nothing is answered; when it goes on in time, whoever waits is
 * answered as if nothing had been. */
#include <stddef.h>

#include "faults/fault.h"

struct container_config {
    struct fault_common common;
    int how; /* enum container_how, then any */
};

static const char *const how_words[] = {"pause", "restart", "kill", "any", NULL};

static const struct field container_fields[] = {
    {.key = "how",
     .type = FIELD_ENUM,
     .offset = offsetof(struct container_config, how),
     .words = how_words,
     .fallback = "any",
     .about = "pause: it stands still; restart: it is stopped and started; kill: it is killed and "
              "started; any: one of them, drawn"},
    HEAL_AFTER_FIELD("5s..5m"),
};

static void container_strike(struct fault_host *host, const void *config,
                             const struct fault_visit *visit)
{
    const struct container_config *container = config;

    (void)visit;
    int how = container->how;
    if (how == CONTAINER_HOW_COUNT)
        how = (int)fault_draw(host, CONTAINER_HOW_COUNT);
    fault_hit_container(host, (enum container_how)how);
}

const struct fault_kind fault_kind_container = {
    .name = "container",
    .about = "the container of the server is paused, restarted or killed; needs --pg docker",
    .example = "container: {how: kill, points: db.committed, heal_after: 10s..2m}",
    .fields = container_fields,
    .field_count = FP_COUNT(container_fields),
    .config_size = sizeof(struct container_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .of_environment = true,
    .kills_server = true,
    .needs_container = true,
    .strike = container_strike,
};
