/* The state before the run: the instances. */
#include <stdlib.h>
#include <string.h>

#include "reference_impl/instance_lock/instance_lock.h"

static const char *id_at(struct rt *rt, int index)
{
    return rt_printf(rt, "%d", index + 1);
}

const char *instance_id_of(struct rt *rt, const char *name)
{
    int count = rt_workload_count(rt, "instances");

    for (int i = 0; i < count; i++)
        if (strcmp(rt_workload_text(rt, "instances", i, "name"), name) == 0)
            return id_at(rt, i);
    FP_ASSERT(!"the workload refers to an instance that it has");
    return NULL;
}

int instance_index(const char *id)
{
    return (int)strtol(id, NULL, 10) - 1;
}

void instance_lock_setup(struct rt *rt)
{
    struct link link = {.label = "setup"};
    int count = rt_workload_count(rt, "instances");

    enum err err = link_ready(rt, &link);
    for (int i = 0; err == ERR_OK && i < count; i++)
        err = link_exec(rt, &link, &instance_lock_insert_instance, PARAMS(id_at(rt, i)), NULL);
    FP_ASSERT(err == ERR_OK); /* nothing else runs yet, and nothing fails yet */
    link_close(rt, &link);
}
