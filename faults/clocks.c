#include "faults/clocks.h"

const char *const clock_direction_words[] = {"any", "forwards", "backwards", NULL};

int64_t clock_sign(struct fault_host *host, int direction)
{
    if (direction == CLOCK_ANY)
        return fault_draw(host, 2) == 0 ? 1 : -1;
    return direction == CLOCK_FORWARDS ? 1 : -1;
}
