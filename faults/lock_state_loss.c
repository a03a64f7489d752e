/* Rows of the lock table vanish, as after a crash of the database or a wrong statement by hand,
 * while the holders go on. It happens in one commit that everybody sees from then on. */
#include <stddef.h>

#include "faults/fault.h"

enum lock_state_loss_rows { ROWS_ALL, ROWS_ONE };

struct lock_state_loss_config {
    struct fault_common common;
    int rows; /* enum lock_state_loss_rows */
};

/* In the order of the enum; one is the milder loss, but all is what the documents fear. */
static const char *const rows_words[] = {"all", "one", NULL};

static const struct field lock_state_loss_fields[] = {
    {.key = "rows",
     .type = FIELD_ENUM,
     .offset = offsetof(struct lock_state_loss_config, rows),
     .words = rows_words,
     .fallback = "all",
     .about = "all: the whole table; one: a drawn row of it"},
};

static void lock_state_loss_strike(struct fault_host *host, const void *config,
                                   const struct fault_visit *visit)
{
    const struct lock_state_loss_config *loss = config;

    (void)visit;
    fault_lose_locks(host, loss->rows == ROWS_ONE);
}

const struct fault_kind fault_kind_lock_state_loss = {
    .name = "lock_state_loss",
    .about = "rows of the lock table vanish while their holders go on",
    .example = "lock_state_loss: {rows: all, at: 40m}",
    .fields = lock_state_loss_fields,
    .field_count = FP_COUNT(lock_state_loss_fields),
    .config_size = sizeof(struct lock_state_loss_config),
    .points = POINTS_ALL,
    .points_default = POINTS_AT_WORK,
    .of_environment = true,
    .strike = lock_state_loss_strike,
};
