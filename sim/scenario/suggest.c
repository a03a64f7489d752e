#include <ctype.h>
#include <string.h>

#include "sim/scenario/diag.h"

/* Longer words are not compared: nobody mistypes them by a letter or two, and the rows stay small.
 */
#define SUGGEST_SIZE_MAX 64

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Insertions, deletions, replacements and swaps of neighbours; each costs one. */
static int edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    int rows[3][SUGGEST_SIZE_MAX + 1];
    int *before_last = rows[0], *last = rows[1], *row = rows[2];

    FP_ASSERT(a_size <= SUGGEST_SIZE_MAX && b_size <= SUGGEST_SIZE_MAX);
    for (size_t j = 0; j <= b_size; j++) {
        last[j] = (int)j;
        before_last[j] = (int)j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= b_size; j++) {
            int replaced = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = smallest(last[j] + 1, row[j - 1] + 1, replaced);
            bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                           same_letter(a[i - 2], b[j - 1]);
            if (swapped && before_last[j - 2] + 1 < row[j])
                row[j] = before_last[j - 2] + 1;
        }
        int *spare = before_last;
        before_last = last;
        last = row;
        row = spare;
    }
    return last[b_size];
}

/* A third of the letters may be wrong, three at most: further away a suggestion is a guess. */
static int distance_limit(size_t size)
{
    int third = (int)(size + 2) / 3;
    return third > 3 ? 3 : third;
}

const char *suggest(const char *word, const char *const *names, size_t name_count)
{
    size_t word_size = strlen(word);
    const char *nearest = NULL;
    int nearest_distance = distance_limit(word_size) + 1;

    if (word_size == 0 || word_size > SUGGEST_SIZE_MAX)
        return NULL;
    for (size_t i = 0; i < name_count; i++) {
        size_t name_size = names[i] != NULL ? strlen(names[i]) : 0;
        if (name_size == 0 || name_size > SUGGEST_SIZE_MAX)
            continue;
        int distance = edit_distance(word, word_size, names[i], name_size);
        /* As many edits as letters would turn any word into any other. */
        if (distance < nearest_distance && distance < (int)name_size) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}
