#include "sim/core/walltext.h"

#include <stdio.h>

#define DAYS_PER_ERA 146097 /* 400 years */

/* Days since 1970 to a civil date and back, in eras of 400 years that begin on 1 March: the leap
 * day is then the last day of a year, which makes the arithmetic uniform. */
static void civil_from_days(int64_t days, int *year, int *month, int *day)
{
    int64_t shifted = days + 719468;
    int64_t era = shifted / DAYS_PER_ERA;
    int64_t of_era = shifted - era * DAYS_PER_ERA;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_index = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * month_index + 2) / 5 + 1);
    *month = (int)(month_index < 10 ? month_index + 3 : month_index - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

static int64_t days_from_civil(int year, int month, int day)
{
    int64_t shifted = year - (month <= 2);
    int64_t era = shifted / 400;
    int64_t year_of_era = shifted - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    return era * DAYS_PER_ERA + of_era - 719468;
}

void walltext_format(int64_t epoch_ns, char out[WALLTEXT_SIZE])
{
    FP_ASSERT(epoch_ns >= 0);
    int64_t us = epoch_ns / NS_PER_US;
    int64_t second = us / 1000000;
    int64_t of_day = second % 86400;
    int year, month, day;
    civil_from_days(second / 86400, &year, &month, &day);
    snprintf(out, WALLTEXT_SIZE, "%04d-%02d-%02d %02d:%02d:%02d.%06d+00", year % 10000, month, day,
             (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60),
             (int)(us % 1000000));
}

static bool read_fraction(const char **at, int64_t *ns)
{
    *ns = 0;
    if (**at != '.')
        return true;
    (*at)++;
    int64_t unit_ns = 100 * NS_PER_MS;
    int digit_count = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++, digit_count++) {
        *ns += (**at - '0') * unit_ns;
        unit_ns /= 10;
    }
    return digit_count >= 1 && digit_count <= 9;
}

bool walltext_parse(const char *text, int64_t *epoch_ns)
{
    int year, month, day, hour, minute, second, used = 0;
    int read = sscanf(text, "%4d-%2d-%2d %2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
                      &second, &used);
    if (read != 6 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
        second > 60 || year < 1970)
        return false;
    const char *at = text + used;
    int64_t fraction_ns;
    if (!read_fraction(&at, &fraction_ns))
        return false;
    if (at[0] != '+' || at[1] != '0' || at[2] != '0' || at[3] != '\0')
        return false;
    int64_t days = days_from_civil(year, month, day);
    *epoch_ns = (days * 86400 + hour * 3600 + minute * 60 + second) * NS_PER_S + fraction_ns;
    return true;
}
