#include "sim/core/duration.h"

#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t ns;
};

/* From large to small: the order in which they may be written. */
static const struct unit units[] = {
    {"d", NS_PER_DAY}, {"h", NS_PER_HOUR}, {"m", NS_PER_MIN}, {"s", NS_PER_S},
    {"ms", NS_PER_MS}, {"us", NS_PER_US},  {"ns", 1},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* At least one digit, at *text below `end`; moves *text behind them. */
static bool parse_count(const char **text, const char *end, int64_t *count)
{
    const char *start = *text;
    *count = 0;
    for (; *text < end && is_digit(**text); (*text)++) {
        if (__builtin_mul_overflow(*count, 10, count))
            return false;
        if (__builtin_add_overflow(*count, **text - '0', count))
            return false;
    }
    return *text > start;
}

/* The letters at *text must be a unit from `unit_first` on: those before it may not come back. */
static bool parse_unit(const char **text, const char *end, size_t unit_first, size_t *unit)
{
    const char *start = *text;
    while (*text < end && !is_digit(**text))
        (*text)++;
    size_t size = (size_t)(*text - start);
    for (*unit = unit_first; *unit < FP_COUNT(units); (*unit)++)
        if (strlen(units[*unit].name) == size && memcmp(units[*unit].name, start, size) == 0)
            return true;
    return false;
}

static bool parse_between(const char *text, const char *end, int64_t *ns)
{
    int64_t sum_ns = 0;
    size_t unit_first = 0;
    if (text == end)
        return false;
    while (text < end) {
        int64_t count, part_ns;
        size_t unit;
        if (!parse_count(&text, end, &count) || !parse_unit(&text, end, unit_first, &unit))
            return false;
        if (__builtin_mul_overflow(count, units[unit].ns, &part_ns))
            return false;
        if (__builtin_add_overflow(sum_ns, part_ns, &sum_ns))
            return false;
        unit_first = unit + 1;
    }
    *ns = sum_ns;
    return true;
}

bool duration_parse(const char *text, int64_t *ns)
{
    FP_ASSERT(text != NULL);
    FP_ASSERT(ns != NULL);
    return parse_between(text, text + strlen(text), ns);
}

bool duration_parse_range(const char *text, int64_t *low_ns, int64_t *high_ns)
{
    FP_ASSERT(text != NULL);
    FP_ASSERT(low_ns != NULL);
    FP_ASSERT(high_ns != NULL);
    const char *dots = strstr(text, "..");
    const char *end = text + strlen(text);
    const char *low_end = dots == NULL ? end : dots;
    const char *high_start = dots == NULL ? text : dots + 2;
    int64_t low, high;

    if (!parse_between(text, low_end, &low) || !parse_between(high_start, end, &high))
        return false;
    if (low > high)
        return false;
    *low_ns = low;
    *high_ns = high;
    return true;
}

static void append(char out[DURATION_TEXT_SIZE], const char *sign, uint64_t count, const char *unit)
{
    size_t used = strlen(out);
    int added = snprintf(out + used, DURATION_TEXT_SIZE - used, "%s%llu%s", sign,
                         (unsigned long long)count, unit);
    FP_ASSERT(added > 0);
    FP_ASSERT(used + (size_t)added < DURATION_TEXT_SIZE);
}

const char *duration_text(int64_t ns, char out[DURATION_TEXT_SIZE])
{
    FP_ASSERT(out != NULL);
    const char *sign = ns < 0 ? "-" : "";
    uint64_t rest = ns < 0 ? UINT64_C(0) - (uint64_t)ns : (uint64_t)ns;

    out[0] = '\0';
    for (size_t i = 0; i < FP_COUNT(units); i++) {
        uint64_t unit_ns = (uint64_t)units[i].ns;
        if (rest < unit_ns)
            continue;
        append(out, out[0] == '\0' ? sign : "", rest / unit_ns, units[i].name);
        rest %= unit_ns;
    }
    if (out[0] == '\0')
        append(out, "", 0, "s");
    return out;
}
