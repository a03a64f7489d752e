#include "sim/core/realtime.h"

#include <time.h>

int64_t realtime_ns(void)
{
    struct timespec now;
    int got = clock_gettime(CLOCK_MONOTONIC, &now);
    FP_ASSERT(got == 0);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void realtime_sleep_ns(int64_t duration_ns)
{
    FP_ASSERT(duration_ns >= 0);
    struct timespec pause = {.tv_sec = duration_ns / NS_PER_S, .tv_nsec = duration_ns % NS_PER_S};
    nanosleep(&pause, NULL);
}
