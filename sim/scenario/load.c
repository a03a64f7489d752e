/* A scenario from a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/scenario/scenario.h"
#include "sim/scenario/yaml.h"

static void refuse_size(struct diags *diags)
{
    diags_add(diags, 0, 0, "larger than %zu KiB, which is the most a scenario file may have",
              YAML_SIZE_MAX / 1024);
}

/* Refuse what need not be read to be refused. */
static bool is_readable_kind(int fd, struct diags *diags)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        diags_add(diags, 0, 0, "cannot be read: %s", strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode)) {
        diags_add(diags, 0, 0, "is a directory, expected a scenario file");
        return false;
    }
    if (S_ISREG(status.st_mode) && (uintmax_t)status.st_size > YAML_SIZE_MAX) {
        refuse_size(diags);
        return false;
    }
    return true;
}

/* Pipes and devices have no size beforehand: one byte past the most is enough to know. */
static bool read_all(int fd, struct strbuf *text, struct diags *diags)
{
    char chunk[16384];
    while (text->size <= YAML_SIZE_MAX) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            diags_add(diags, 0, 0, "cannot be read: %s", strerror(errno));
            return false;
        }
        if (got == 0)
            break;
        strbuf_add(text, chunk, (size_t)got);
    }
    if (text->size > YAML_SIZE_MAX) {
        refuse_size(diags);
        return false;
    }
    if (text->size == 0) {
        diags_add(diags, 0, 0, "the file is empty");
        return false;
    }
    return true;
}

static bool read_file(const char *path, struct strbuf *text, struct diags *diags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        diags_add(diags, 0, 0, "there is no such file");
        return false;
    }
    if (fd < 0) {
        diags_add(diags, 0, 0, "cannot be opened: %s", strerror(errno));
        return false;
    }
    bool good = is_readable_kind(fd, diags) && read_all(fd, text, diags);
    close(fd);
    return good;
}

struct scenario *scenario_load_with(const char *path, const char *const *overrides,
                                    size_t override_count, struct diags *diags)
{
    struct strbuf text = STRBUF_INIT;
    struct scenario *scenario = NULL;
    if (read_file(path, &text, diags)) {
        scenario =
            scenario_parse_with(path, text.text, text.size, overrides, override_count, diags);
    }
    strbuf_release(&text);
    return scenario;
}

struct scenario *scenario_load(const char *path, struct diags *diags)
{
    return scenario_load_with(path, NULL, 0, diags);
}
