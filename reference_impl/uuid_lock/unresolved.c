/* The alert about an execution of which nobody knows whether it has published. Its subject is the
 * deviation and the version: a version that has ended does not come back, so a late clear cannot
 * take away another one's alert. */
#include "reference_impl/uuid_lock/uuid_lock.h"

static const char *subject_of(struct rt *rt, const char *id, const char *version)
{
    return rt_printf(rt, "%s:%s", id, version);
}

void unresolved_tell(struct rt *rt, const char *id, const char *version)
{
    if (!rt_weak(rt, UUID_LOCK_WEAK_UNRESOLVED_WITHOUT_ALERT))
        rt_alert(rt, ALERT_UNRESOLVED, "critical", subject_of(rt, id, version));
}

void unresolved_clear(struct rt *rt, const char *id, const char *version)
{
    rt_alert_clear(rt, ALERT_UNRESOLVED, subject_of(rt, id, version));
}
