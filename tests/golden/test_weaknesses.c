/* The shipped scenarios break every invariant, and catch every weakness with the invariant that it
 * says it breaks. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/check/check.h"
#include "sim/scenario/scenario.h"

#define SCENARIO_COUNT_MAX 1024

static struct scenario *shipped[SCENARIO_COUNT_MAX];
static size_t shipped_count;

static int is_scenario(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".yaml") == 0;
}

/* Those of scenarios/bad are there to be refused. */
static int is_shipped(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strchr(entry->d_name, '.') == NULL &&
           strcmp(entry->d_name, "bad") != 0;
}

static int load(const char *folder, const char *name)
{
    char *path = fp_format("%s/%s", folder, name);
    struct diags diags;
    diags_init(&diags, path);
    struct scenario *scenario = scenario_load(path, &diags);
    diags_release(&diags);
    if (scenario == NULL)
        print_error("%s cannot be loaded\n", path);
    free(path);
    if (scenario == NULL || shipped_count == SCENARIO_COUNT_MAX) {
        scenario_free(scenario);
        return -1;
    }
    shipped[shipped_count++] = scenario;
    return 0;
}

static int load_folder(const char *folder)
{
    struct dirent **entries;
    int result = 0;
    int count = scandir(folder, &entries, is_scenario, alphasort);
    if (count < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        result |= load(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static int load_all(void **state)
{
    (void)state;
    const char *root = getenv("FENCEPOST_ROOT");
#ifdef FP_SOURCE_DIR
    root = root != NULL ? root : FP_SOURCE_DIR;
#endif
    if (root != NULL && chdir(root) != 0)
        return -1;
    struct dirent **folders;
    int result = 0;
    int count = scandir("scenarios", &folders, is_shipped, alphasort);
    for (int i = 0; i < count; i++) {
        char *folder = fp_format("scenarios/%s", folders[i]->d_name);
        result |= load_folder(folder);
        free(folder);
        free(folders[i]);
    }
    if (count >= 0)
        free(folders);
    return count > 0 ? result : -1;
}

static int free_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < shipped_count; i++)
        scenario_free(shipped[i]);
    return 0;
}

static bool is_expected(const struct invariant *invariant)
{
    for (size_t i = 0; i < shipped_count; i++)
        if (shipped[i]->expect == EXPECT_VIOLATION && shipped[i]->expect_invariant == invariant)
            return true;
    return false;
}

/* By name: a document as written has them all, and says nothing about one. */
static bool is_caught(const struct strategy *strategy, size_t index)
{
    const struct invariant *breaks = invariant_find(strategy->weaknesses[index].breaks);

    for (size_t i = 0; i < shipped_count; i++) {
        const struct scenario *scenario = shipped[i];
        if (scenario->strategy == strategy && (scenario->weaknesses >> index & 1) != 0 &&
            strcmp(scenario->variant, "as_written") != 0 && scenario->expect == EXPECT_VIOLATION &&
            scenario->expect_invariant == breaks)
            return true;
    }
    return false;
}

static void test_weaknesses_each_names_an_invariant(void **state)
{
    (void)state;
    for (size_t i = 0; strategies[i] != NULL; i++)
        for (size_t j = 0; j < strategies[i]->weakness_count; j++)
            if (invariant_find(strategies[i]->weaknesses[j].breaks) == NULL)
                fail_msg("%s breaks no invariant", strategies[i]->weaknesses[j].name);
}

static void test_weaknesses_every_invariant_is_broken_by_a_scenario(void **state)
{
    int missing_count = 0;
    (void)state;
    for (size_t i = 0; invariants[i] != NULL; i++) {
        if (is_expected(invariants[i]))
            continue;
        print_error("no scenario expects a violation of %s\n", invariants[i]->name);
        missing_count++;
    }
    assert_int_equal(missing_count, 0);
}

static void test_weaknesses_every_weakness_is_caught_by_a_scenario(void **state)
{
    int missing_count = 0;
    (void)state;
    for (size_t i = 0; strategies[i] != NULL; i++) {
        for (size_t j = 0; j < strategies[i]->weakness_count; j++) {
            if (is_caught(strategies[i], j))
                continue;
            print_error("%s: no scenario has it by name and expects what it breaks\n",
                        strategies[i]->weaknesses[j].name);
            missing_count++;
        }
    }
    assert_int_equal(missing_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weaknesses_each_names_an_invariant),
        cmocka_unit_test(test_weaknesses_every_invariant_is_broken_by_a_scenario),
        cmocka_unit_test(test_weaknesses_every_weakness_is_caught_by_a_scenario),
    };
    return cmocka_run_group_tests_name("weaknesses", tests, load_all, free_all);
}
