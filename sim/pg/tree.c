#include "sim/pg/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE_DEPTH_MAX 32
/* A process that is about to die may still make a file while we remove. */
#define TREE_ATTEMPT_COUNT_MAX 3

/* Directories that are open, from the topmost down, and the name of each in the one above. */
struct descent {
    DIR *dirs[TREE_DEPTH_MAX];
    char names[TREE_DEPTH_MAX][NAME_MAX + 1];
    int depth;
};

static bool descent_enter(struct descent *descent, int parent_fd, const char *name)
{
    if (descent->depth >= TREE_DEPTH_MAX || strlen(name) > NAME_MAX)
        return false;
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return false;
    }
    descent->dirs[descent->depth] = dir;
    strcpy(descent->names[descent->depth], name);
    descent->depth++;
    return true;
}

/* Done with the lowest directory: close it, and remove it from the one above. */
static void descent_leave(struct descent *descent)
{
    FP_ASSERT(descent->depth > 0);
    descent->depth--;
    closedir(descent->dirs[descent->depth]);
    if (descent->depth > 0)
        (void)unlinkat(dirfd(descent->dirs[descent->depth - 1]), descent->names[descent->depth],
                       AT_REMOVEDIR);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* What can't be removed is left; the final rmdir of the topmost directory notices. */
static void remove_below(int top_fd, const char *last)
{
    struct descent descent = {.depth = 0};

    if (!descent_enter(&descent, top_fd, "."))
        return;
    while (descent.depth > 0) {
        DIR *dir = descent.dirs[descent.depth - 1];
        const struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            descent_leave(&descent);
            continue;
        }
        if (is_dots(entry->d_name))
            continue;
        if (descent.depth == 1 && last != NULL && strcmp(entry->d_name, last) == 0)
            continue;
        if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
            continue;
        if (errno == EISDIR || errno == EPERM)
            (void)descent_enter(&descent, dirfd(dir), entry->d_name);
    }
}

/* True when nothing but `last` is left, so that it may go. */
static bool holds_only(int top_fd, const char *last)
{
    struct descent descent = {.depth = 0};
    bool only = true;

    if (!descent_enter(&descent, top_fd, "."))
        return false;
    const struct dirent *entry;
    while ((entry = readdir(descent.dirs[0])) != NULL)
        only = only && (is_dots(entry->d_name) || strcmp(entry->d_name, last) == 0);
    descent_leave(&descent);
    return only;
}

bool tree_remove(const char *path, const char *last)
{
    FP_ASSERT(path[0] == '/' && path[1] != '\0');
    for (int attempt = 0; attempt < TREE_ATTEMPT_COUNT_MAX; attempt++) {
        int top_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (top_fd < 0)
            return errno == ENOENT;
        remove_below(top_fd, last);
        if (last != NULL && holds_only(top_fd, last))
            (void)unlinkat(top_fd, last, 0);
        close(top_fd);
        if (rmdir(path) == 0)
            return true;
    }
    return false;
}
