/* The registry of strategies. */
#include <string.h>

#include "sim/strategy.h"

#define STRATEGY(name) extern const struct strategy strategy_##name;
#include "reference_impl/strategies.def"
#undef STRATEGY

const struct strategy *const strategies[] = {
#define STRATEGY(name) &strategy_##name,
#include "reference_impl/strategies.def"
#undef STRATEGY
    NULL,
};

const struct strategy *strategy_find(const char *name)
{
    FP_ASSERT(name != NULL);
    for (size_t i = 0; strategies[i] != NULL; i++)
        if (strcmp(strategies[i]->name, name) == 0)
            return strategies[i];
    return NULL;
}
