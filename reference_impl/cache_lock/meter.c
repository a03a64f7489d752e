/* The meter: adds to each day's usage while the day goes on, and closes it some time after. The
 * last records come late. */
#include "reference_impl/cache_lock/cache_lock.h"

#define PUT_RETRY_NS NS_PER_S

struct day {
    int index; /* in the workload */
    const char *date;
    int64_t record_count;
    mono_time start;
};

static void add(struct rt *rt, struct day *day, bool is_closed)
{
    struct rt_claim claim = {.cluster_id = day->date, .job_id = "meter", .run = 1};
    const char *text = source_text(rt, ++day->record_count, is_closed);

    while (rt_store_put(rt, source_key(rt, day->date), text, &claim) != ERR_OK)
        rt_sleep(rt, PUT_RETRY_NS);
}

static void sleep_until(struct rt *rt, const struct day *day, int64_t at_ns)
{
    int64_t wait_ns = at_ns - mono_since_ns(rt_mono_now(rt), day->start);
    if (wait_ns > 0)
        rt_sleep(rt, wait_ns);
}

static int64_t number_of(struct rt *rt, const struct day *day, const char *key)
{
    return rt_workload_number(rt, "usage", day->index, key);
}

static void day_body(struct rt *rt, void *arg)
{
    struct day *day = arg;
    int64_t every_ns = number_of(rt, day, "every");
    int64_t until_ns = number_of(rt, day, "until");
    int64_t closes_ns = number_of(rt, day, "closes");

    for (int64_t at_ns = number_of(rt, day, "from"); every_ns > 0 && at_ns <= until_ns;
         at_ns += every_ns) {
        sleep_until(rt, day, at_ns);
        add(rt, day, false);
    }
    if (closes_ns == 0)
        return;
    sleep_until(rt, day, closes_ns);
    add(rt, day, true);
}

static struct day *day_of(struct rt *rt, int index)
{
    struct day *day = rt_alloc(rt, sizeof *day);
    day->index = index;
    day->date = rt_workload_text(rt, "usage", index, "date");
    day->start = rt_mono_now(rt);
    return day;
}

void cache_lock_meter(struct rt *rt)
{
    int count = rt_workload_count(rt, "usage");

    for (int i = 0; i < count; i++) {
        struct day *day = day_of(rt, i);
        day->record_count = number_of(rt, day, "records");
        rt_spawn(rt, "day", day_body, day);
    }
}

/* What was there before the run. A day that is not said to be closed later is closed already. */
void cache_lock_setup(struct rt *rt)
{
    int count = rt_workload_count(rt, "usage");

    for (int i = 0; i < count; i++) {
        struct day *day = day_of(rt, i);
        int64_t record_count = number_of(rt, day, "records");
        bool is_closed = number_of(rt, day, "closes") == 0;
        while (day->record_count < record_count)
            add(rt, day, is_closed && day->record_count == record_count - 1);
    }
}
