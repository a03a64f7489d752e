#include "sim/hunt/states.h"

#include <stdlib.h>

#define SLOT_COUNT_FIRST 1024

struct slot {
    uint64_t state;
    int left_and_one; /* 0: empty */
};

struct states {
    struct slot *slots;
    size_t slot_count, slot_count_max, count;
};

struct states *states_new(size_t slot_count_max)
{
    struct states *states = fp_alloc(sizeof *states);
    FP_ASSERT(slot_count_max >= SLOT_COUNT_FIRST);
    FP_ASSERT((slot_count_max & (slot_count_max - 1)) == 0);
    states->slot_count_max = slot_count_max;
    states->slot_count = SLOT_COUNT_FIRST;
    states->slots = fp_alloc(SLOT_COUNT_FIRST * sizeof states->slots[0]);
    return states;
}

void states_free(struct states *states)
{
    free(states->slots);
    free(states);
}

/* Its own slot, or the empty one where it would be. */
static struct slot *find(struct slot *slots, size_t slot_count, uint64_t state)
{
    size_t at = (size_t)state & (slot_count - 1);
    while (slots[at].left_and_one != 0 && slots[at].state != state)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static void grow(struct states *states)
{
    size_t slot_count = states->slot_count * 2;
    struct slot *slots = fp_alloc(slot_count * sizeof slots[0]);
    for (size_t i = 0; i < states->slot_count; i++)
        if (states->slots[i].left_and_one != 0)
            *find(slots, slot_count, states->slots[i].state) = states->slots[i];
    free(states->slots);
    states->slots = slots;
    states->slot_count = slot_count;
}

bool states_know(const struct states *states, uint64_t state, int left)
{
    return find(states->slots, states->slot_count, state)->left_and_one > left;
}

void states_add(struct states *states, uint64_t state, int left)
{
    FP_ASSERT(left >= 0);
    struct slot *slot = find(states->slots, states->slot_count, state);
    if (slot->left_and_one > left)
        return;
    if (slot->left_and_one == 0 && states->count >= states->slot_count / 2) {
        if (states->slot_count == states->slot_count_max)
            return;
        grow(states);
        slot = find(states->slots, states->slot_count, state);
    }
    states->count += slot->left_and_one == 0;
    *slot = (struct slot){state, left + 1};
}

size_t states_count(const struct states *states)
{
    return states->count;
}
