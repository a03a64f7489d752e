/* The process dies where it stands: nothing unwinds, its connections are cut, its memory is
 * gone. It comes back as a new life of the same actor, or never. */
#include <stddef.h>

#include "faults/fault.h"

struct crash_config {
    struct fault_common common;
    int64_t restart_after_ns; /* < 0: never */
};

static const char *const restart_words[] = {"never", NULL};

static const struct field crash_fields[] = {
    {.key = "restart_after",
     .type = FIELD_DURATION,
     .offset = offsetof(struct crash_config, restart_after_ns),
     .words = restart_words,
     .fallback = "10m",
     .about = "how long until the process is started again; never: it stays dead"},
};

static void crash_strike(struct fault_host *host, const void *config,
                         const struct fault_visit *visit)
{
    const struct crash_config *crash = config;

    (void)visit;
    fault_crash(host, crash->restart_after_ns);
}

const struct fault_kind fault_kind_crash = {
    .name = "crash",
    .about = "the process is killed, and started again later or never",
    .example = "crash: {target: any-worker, points: [db.commit, cloud.call], restart_after: 10m}",
    .fields = crash_fields,
    .field_count = FP_COUNT(crash_fields),
    .config_size = sizeof(struct crash_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .strike = crash_strike,
};
