#include "sim/cli/gather.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".yaml"

/* ---- finding ---- */

static bool is_same_file(const char *left, const char *right)
{
    struct stat left_status, right_status;
    if (strcmp(left, right) == 0)
        return true;
    return stat(left, &left_status) == 0 && stat(right, &right_status) == 0 &&
           left_status.st_dev == right_status.st_dev && left_status.st_ino == right_status.st_ino;
}

static bool add_file(struct gathered *gathered, const char *path)
{
    for (size_t i = 0; i < gathered->count; i++)
        if (is_same_file(gathered->files[i], path))
            return true;
    if (gathered->count == CAMPAIGN_SCENARIO_COUNT_MAX) {
        fprintf(stderr, "fencepost: more than %d scenarios\n", CAMPAIGN_SCENARIO_COUNT_MAX);
        return false;
    }
    gathered->files[gathered->count++] = fp_strdup(path);
    return true;
}

static bool is_skipped_folder(const FTSENT *entry)
{
    if (entry->fts_level == FTS_ROOTLEVEL)
        return false;
    return entry->fts_name[0] == '.' || strcmp(entry->fts_name, "bad") == 0 ||
           strcmp(entry->fts_name, "corpus") == 0;
}

static bool is_scenario_name(const char *name)
{
    size_t size = strlen(name), suffix_size = strlen(SUFFIX);
    return name[0] != '.' && size > suffix_size && strcmp(name + size - suffix_size, SUFFIX) == 0;
}

static bool take_entry(struct gathered *gathered, FTS *tree, FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_D:
        if (is_skipped_folder(entry))
            fts_set(tree, entry, FTS_SKIP);
        return true;
    case FTS_DNR:
    case FTS_ERR:
        fprintf(stderr, "%s: cannot be read: %s\n", entry->fts_path, strerror(entry->fts_errno));
        return false;
    case FTS_F:
    case FTS_DEFAULT:
    case FTS_SLNONE:
    case FTS_NS:
        return !is_scenario_name(entry->fts_name) || add_file(gathered, entry->fts_path);
    default:
        return true;
    }
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

static bool search_folder(struct gathered *gathered, const char *path)
{
    char *start = fp_strdup(path);
    size_t size = strlen(start);
    while (size > 1 && start[size - 1] == '/')
        start[--size] = '\0';
    char *roots[] = {start, NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    bool good = tree != NULL;
    for (FTSENT *entry; tree && (entry = fts_read(tree)) != NULL;)
        good = take_entry(gathered, tree, entry) && good;
    if (tree)
        fts_close(tree);
    free(start);
    return good;
}

static bool find_files(struct gathered *gathered, const char *const *paths, size_t path_count)
{
    bool good = true;
    for (size_t i = 0; i < path_count; i++) {
        struct stat status;
        bool is_folder = stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode);
        good =
            (is_folder ? search_folder(gathered, paths[i]) : add_file(gathered, paths[i])) && good;
    }
    return good;
}

/* ---- loading ---- */

static bool load_file(struct gathered *gathered, size_t index, const struct args_list *overrides)
{
    struct diags *diags = fp_alloc(sizeof *diags);
    struct strbuf text = STRBUF_INIT;
    diags_init(diags, gathered->files[index]);
    gathered->scenarios[index] =
        scenario_load_with(gathered->files[index], overrides ? overrides->values : NULL,
                           overrides ? overrides->count : 0, diags);
    diags_print(diags, &text);
    fputs(strbuf_str(&text), stderr);
    strbuf_release(&text);
    diags_release(diags);
    free(diags);
    return gathered->scenarios[index] != NULL;
}

/* Reports and failure files go by the name. */
static bool name_is_free(const struct gathered *gathered, size_t index)
{
    const char *name = gathered->scenarios[index]->name;
    for (size_t i = 0; i < index; i++) {
        if (!gathered->scenarios[i] || strcmp(gathered->scenarios[i]->name, name) != 0)
            continue;
        fprintf(stderr, "%s: the name `%s` is also that of %s\n", gathered->files[index], name,
                gathered->files[i]);
        return false;
    }
    return true;
}

int gather(struct gathered *gathered, const char *const *paths, size_t path_count,
           const struct args_list *overrides)
{
    memset(gathered, 0, sizeof *gathered);
    bool good = find_files(gathered, paths, path_count);
    if (good && gathered->count == 0) {
        fprintf(stderr, "fencepost: nothing to do: no *%s below %s\n", SUFFIX, paths[0]);
        return EXIT_NOTHING_RAN;
    }
    for (size_t i = 0; i < gathered->count; i++)
        good = load_file(gathered, i, overrides) && name_is_free(gathered, i) && good;
    return good ? EXIT_PASS : EXIT_USAGE;
}

void gather_release(struct gathered *gathered)
{
    for (size_t i = 0; i < gathered->count; i++) {
        scenario_free(gathered->scenarios[i]);
        free(gathered->files[i]);
    }
    gathered->count = 0;
}

void gather_remove(struct gathered *gathered, size_t index)
{
    FP_ASSERT(index < gathered->count);
    scenario_free(gathered->scenarios[index]);
    free(gathered->files[index]);
    gathered->count--;
    for (size_t i = index; i < gathered->count; i++) {
        gathered->scenarios[i] = gathered->scenarios[i + 1];
        gathered->files[i] = gathered->files[i + 1];
    }
}

char *gather_shipped_folder(const char *given)
{
    const char *root = getenv("FENCEPOST_ROOT");
    if (given)
        return fp_strdup(given);
    if (root && root[0] != '\0')
        return fp_format("%s/scenarios", root);
    return fp_strdup("scenarios");
}
