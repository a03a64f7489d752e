/* Where the usage comes from: an object a day, to which a meter adds while the day goes on. Its
 * text is "17 open", or "23 closed" when there will be no more. */
#include <inttypes.h>
#include <string.h>

#include "reference_impl/cache_lock/cache_lock.h"

const char *source_key(struct rt *rt, const char *date)
{
    return rt_printf(rt, "usage/%s", date);
}

const char *source_text(struct rt *rt, int64_t record_count, bool is_closed)
{
    return rt_printf(rt, "%" PRId64 " %s", record_count, is_closed ? "closed" : "open");
}

bool source_is_closed(const char *data)
{
    return strstr(data, " closed") != NULL;
}
