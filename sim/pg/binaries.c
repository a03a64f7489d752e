/* Where the server's programs are. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/rundir.h"
#include "sim/pg/server.h"
#include "sim/pg/spawn.h"

#define PATH_PART_COUNT_MAX 256

static const char *const programs[] = {"initdb", "postgres"};

static bool has_program(const char *dir, size_t dir_size, const char *program)
{
    char *path = fp_format("%.*s/%s", (int)dir_size, dir, program);
    bool found = access(path, X_OK) == 0;
    free(path);
    return found;
}

static bool has_server(const char *dir, size_t dir_size, const char *ignored)
{
    (void)ignored;
    for (size_t i = 0; i < FP_COUNT(programs); i++)
        if (!has_program(dir, dir_size, programs[i]))
            return false;
    return true;
}

/* Calls `test` for the directories of PATH; gives the first that passes, NULL otherwise. */
typedef bool dir_test(const char *dir, size_t dir_size, const char *program);
static const char *find_in_path(dir_test *test, const char *program, size_t *dir_size)
{
    const char *part = rundir_environment("PATH");
    if (part == NULL)
        return NULL;
    for (int i = 0; i < PATH_PART_COUNT_MAX; i++) {
        *dir_size = strcspn(part, ":");
        if (part[0] == '/' && test(part, *dir_size, program))
            return part;
        if (part[*dir_size] == '\0')
            return NULL;
        part += *dir_size + 1;
    }
    return NULL;
}

char *pg_find_program(const char *name)
{
    size_t size;
    const char *dir = find_in_path(has_program, name, &size);
    return dir != NULL ? fp_format("%.*s/%s", (int)size, dir, name) : NULL;
}

static bool ask_pg_config(struct strbuf *dir)
{
    struct strbuf output = STRBUF_INIT, ignored = STRBUF_INIT;

    char *program = pg_find_program("pg_config");
    if (program == NULL)
        return false;
    const char *const argv[] = {program, "--bindir", NULL};
    struct spawn spawn = {
        .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .cpu = -1};
    bool found = spawn_capture(&spawn, &output, &ignored) == ERR_OK;
    size_t line_size = strcspn(strbuf_str(&output), "\n");
    found = found && line_size > 0 && has_server(strbuf_str(&output), line_size, NULL);
    if (found)
        strbuf_add(dir, strbuf_str(&output), line_size);
    strbuf_release(&output);
    strbuf_release(&ignored);
    free(program);
    return found;
}

static bool look_in_path(struct strbuf *dir)
{
    size_t size;
    const char *found = find_in_path(has_server, NULL, &size);
    if (found == NULL)
        return false;
    strbuf_add(dir, found, size);
    return true;
}

/* The version in a path such as /usr/lib/postgresql/15/bin. */
static double version_of(const char *path)
{
    return strtod(path + strcspn(path, "0123456789"), NULL);
}

static bool look_in_pattern(const char *pattern, struct strbuf *dir)
{
    glob_t found;
    const char *best = NULL;

    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (!has_server(path, strlen(path), NULL))
            continue;
        if (best == NULL || version_of(path) > version_of(best))
            best = path;
    }
    if (best != NULL)
        strbuf_puts(dir, best);
    globfree(&found);
    return best != NULL;
}

/* As a real path: the programs are started in another directory than ours. */
static enum err take_wanted(const char *wanted_dir, struct strbuf *dir, struct strbuf *why)
{
    char real[PATH_MAX];
    if (realpath(wanted_dir, real) != NULL && has_server(real, strlen(real), NULL)) {
        strbuf_puts(dir, real);
        return ERR_OK;
    }
    strbuf_printf(why, "%s does not hold the PostgreSQL programs initdb and postgres", wanted_dir);
    return ERR_INFRASTRUCTURE;
}

enum err pg_find_binaries(const char *wanted_dir, struct strbuf *dir, struct strbuf *why)
{
    static const char *const patterns[] = {
        "/usr/lib/postgresql/*/bin",
        "/usr/pgsql-*/bin",
        "/usr/local/pgsql/bin",
    };

    strbuf_clear(dir);
    if (wanted_dir != NULL)
        return take_wanted(wanted_dir, dir, why);
    if (ask_pg_config(dir) || look_in_path(dir))
        return ERR_OK;
    for (size_t i = 0; i < FP_COUNT(patterns); i++)
        if (look_in_pattern(patterns[i], dir))
            return ERR_OK;
    strbuf_puts(why, "no PostgreSQL server (initdb, postgres) found; looked in the answer of "
                     "pg_config --bindir, in PATH");
    for (size_t i = 0; i < FP_COUNT(patterns); i++)
        strbuf_printf(why, ", in %s", patterns[i]);
    strbuf_puts(why, ". Install one (apt-get install postgresql), or name its directory with "
                     "--pg-bin");
    return ERR_INFRASTRUCTURE;
}
