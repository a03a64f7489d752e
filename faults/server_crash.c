/* The database server stops at once and recovers: a crash, a kill for lack of memory, power that
 * fails. Every connection is gone and every open transaction with it; nothing committed is lost. */
#include <stddef.h>

#include "faults/fault.h"

struct server_crash_config {
    struct fault_common common;
};

static const struct field server_crash_fields[] = {
    HEAL_AFTER_FIELD("5s..1m"),
};

static void server_crash_strike(struct fault_host *host, const void *config,
                                const struct fault_visit *visit)
{
    (void)config;
    (void)visit;
    fault_crash_server(host);
}

const struct fault_kind fault_kind_server_crash = {
    .name = "server_crash",
    .about = "the database server is stopped at once and recovers; all connections drop",
    .example = "server_crash: {points: db.committed, probability: 0.1, heal_after: 10s..2m}",
    .fields = server_crash_fields,
    .field_count = FP_COUNT(server_crash_fields),
    .config_size = sizeof(struct server_crash_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .of_environment = true,
    .kills_server = true,
    .strike = server_crash_strike,
};
