/* Every file of scenarios/bad is refused with exactly the messages kept next to it. */
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

#include "sim/scenario/scenario.h"

#define FOLDER "scenarios/bad"
#define FILE_COUNT_LEAST 25
#define EXPECTED_SIZE_MAX 65536

static bool ends_with(const char *text, const char *ending)
{
    size_t size = strlen(text), ending_size = strlen(ending);
    return size > ending_size && strcmp(text + size - ending_size, ending) == 0;
}

static int is_scenario(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".yaml");
}

static int is_expectation(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".expected");
}

/* "scenarios/bad/NAME" with its ending replaced. Caller frees. */
static char *sibling(const char *name, const char *ending)
{
    const char *dot = strrchr(name, '.');
    return fp_format(FOLDER "/%.*s%s", (int)(dot - name), name, ending);
}

/* False when there is no such file. */
static bool read_expected(const char *path, char text[EXPECTED_SIZE_MAX])
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    size_t size = fread(text, 1, EXPECTED_SIZE_MAX - 1, file);
    text[size] = '\0';
    fclose(file);
    return true;
}

static bool matches(const char *name)
{
    static char expected[EXPECTED_SIZE_MAX];
    char *path = sibling(name, ".yaml");
    char *expected_path = sibling(name, ".expected");
    struct diags diags;
    struct strbuf found = STRBUF_INIT;
    diags_init(&diags, path);
    struct scenario *scenario = scenario_load(path, &diags);
    diags_print(&diags, &found);
    bool good = scenario == NULL && read_expected(expected_path, expected) &&
                strcmp(expected, strbuf_str(&found)) == 0;
    if (!good) {
        print_error("%s is not what is reported for %s:\n%s", expected_path, path,
                    scenario != NULL ? "nothing, it was accepted\n" : strbuf_str(&found));
    }
    scenario_free(scenario);
    strbuf_release(&found);
    diags_release(&diags);
    free(expected_path);
    free(path);
    return good;
}

static void test_bad_scenarios_each_gives_its_messages(void **state)
{
    (void)state;
    struct dirent **entries;
    int mismatch_count = 0;
    int count = scandir(FOLDER, &entries, is_scenario, alphasort);
    assert_true(count >= FILE_COUNT_LEAST);
    for (int i = 0; i < count; i++) {
        mismatch_count += matches(entries[i]->d_name) ? 0 : 1;
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(mismatch_count, 0);
}

static void test_bad_scenarios_each_expectation_has_its_file(void **state)
{
    (void)state;
    struct dirent **entries;
    int orphan_count = 0;
    int count = scandir(FOLDER, &entries, is_expectation, alphasort);
    assert_true(count >= FILE_COUNT_LEAST);
    for (int i = 0; i < count; i++) {
        char *path = sibling(entries[i]->d_name, ".yaml");
        if (access(path, R_OK) != 0) {
            print_error("%s is missing\n", path);
            orphan_count++;
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(orphan_count, 0);
}

/* Messages name the file as given, so the test must stand at the root of the repository. */
static int go_to_root(void **state)
{
    (void)state;
    const char *root = getenv("FENCEPOST_ROOT");
#ifdef FP_SOURCE_DIR
    root = root != NULL ? root : FP_SOURCE_DIR;
#endif
    return root != NULL ? chdir(root) : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_scenarios_each_gives_its_messages),
        cmocka_unit_test(test_bad_scenarios_each_expectation_has_its_file),
    };
    return cmocka_run_group_tests_name("bad_scenarios", tests, go_to_root, NULL);
}
