#include "sim/scenario/scalar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDENTIFIER_SIZE_MAX 63
#define DECIMAL_COUNT_MAX 6

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

bool scalar_integer(const char *text, int64_t *value)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    size_t digit_count = strspn(digits, "0123456789");
    if (digit_count == 0 || digits[digit_count] != '\0')
        return false;
    bool leading_zero = digits[0] == '0' && (digit_count > 1 || text[0] == '-');
    if (leading_zero)
        return false;
    errno = 0;
    long long parsed = strtoll(text, NULL, 10);
    if (errno != 0)
        return false;
    *value = parsed;
    return true;
}

bool scalar_bool(const char *text, bool *value)
{
    bool is_true = strcmp(text, "true") == 0;
    if (!is_true && strcmp(text, "false") != 0)
        return false;
    *value = is_true;
    return true;
}

bool scalar_probability(const char *text, uint32_t *per_million)
{
    if ((text[0] != '0' && text[0] != '1') || (text[1] != '\0' && text[1] != '.'))
        return false;
    uint32_t parts = text[0] == '1' ? PROBABILITY_ONE : 0;
    if (text[1] == '.') {
        const char *decimals = text + 2;
        size_t decimal_count = strspn(decimals, "0123456789");
        bool fits = decimal_count >= 1 && decimal_count <= DECIMAL_COUNT_MAX;
        if (!fits || decimals[decimal_count] != '\0')
            return false;
        uint32_t weight = PROBABILITY_ONE;
        for (size_t i = 0; i < decimal_count; i++) {
            weight /= 10;
            parts += weight * (uint32_t)(decimals[i] - '0');
        }
    }
    if (parts > PROBABILITY_ONE)
        return false;
    *per_million = parts;
    return true;
}

bool scalar_is_label(const char *text, const char *extra, size_t size_max)
{
    size_t size = strlen(text);
    if (size == 0 || size > size_max)
        return false;
    for (size_t i = 0; i < size; i++)
        if (!is_letter(text[i]) && !is_digit(text[i]) && strchr(extra, text[i]) == NULL)
            return false;
    return true;
}

bool scalar_is_identifier(const char *text)
{
    size_t size = strlen(text);
    if (size == 0 || size > IDENTIFIER_SIZE_MAX || is_digit(text[0]))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!is_lower(text[i]) && !is_digit(text[i]) && text[i] != '_')
            return false;
    return true;
}
